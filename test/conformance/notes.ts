import type { ExecutionContext, TestFn } from 'ava'
import type { Notes } from '#shared/core/ports.ts'

/** What every store of notes must do. */
export function notesConformance(test: TestFn, name: string, open: (t: ExecutionContext) => Notes) {
  test(`${name}: a finding without a note is unacked`, t => {
    t.deepEqual(open(t).get('f'), { finding_id: 'f', ack: 'unacked' })
  })

  test(`${name}: what was set last is kept, whole`, t => {
    const notes = open(t)
    notes.set({ finding_id: 'f', ack: 'acked', note: 'belt ordered' })
    notes.set({ finding_id: 'f', ack: 'acked', assignee: 'Kim' })
    notes.set({ finding_id: 'g', ack: 'unacked', not_a_fault: 'testing' })
    t.deepEqual(notes.get('f'), { finding_id: 'f', ack: 'acked', assignee: 'Kim' })
    t.deepEqual(notes.get('g'), { finding_id: 'g', ack: 'unacked', not_a_fault: 'testing' })
  })
}
