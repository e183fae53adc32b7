import type { ExecutionContext, TestFn } from 'ava'
import type { Accepted, EdgeMessage, Inbox } from '#shared/core/ports.ts'
import { finding } from './run-cases.ts'

type InboxSubject = {
  inbox: Inbox
  /** Opens the same folder again, as after a restart. */
  reopen: () => Inbox
  /** What is stored: samples as `point t value`, finding ids, both sorted, and the titles of the findings. */
  stored: () => { samples: string[]; findings: string[]; titles: string[] }
}

const message = (seq: number, more: Partial<EdgeMessage> = {}): EdgeMessage => ({
  site_id: 's',
  edge_id: 'edge-1',
  building_id: 'b',
  stream: 'stream-a',
  seq,
  readings: [{ id: 'p', t: 1000 * seq, v: seq, q: 'good' }],
  findings: [],
  withdrawn: [],
  ...more,
})

/** One message as most come. */
const accept = (inbox: Inbox, message: EdgeMessage): Accepted => inbox.accept([message])[0]!

/** The answer of an inbox without limits. */
function accepted(answer: Accepted) {
  if (answer.status === 'over_budget' || answer.status === 'over_bounds') throw new Error(answer.reason)
  return answer
}

/** What every inbox must do. */
export function inboxConformance(test: TestFn, name: string, open: (t: ExecutionContext) => InboxSubject) {
  test(`${name}: messages are stored in order, once; what is repeated is a duplicate, what is early is a gap`, t => {
    const { inbox, stored } = open(t)
    const said = [1, 2, 2, 1, 4, 3, 4].map(seq => accepted(accept(inbox, message(seq))))
    t.deepEqual(
      said.map(({ status, through_seq }) => `${status} ${through_seq}`),
      ['stored 1', 'stored 2', 'duplicate 2', 'duplicate 2', 'gap 2', 'stored 3', 'stored 4'],
    )
    t.deepEqual(stored().samples, ['p 1000 1', 'p 2000 2', 'p 3000 3', 'p 4000 4'])
  })

  test(`${name}: the mark names its message, where that has a name`, t => {
    const { inbox, reopen } = open(t)
    const named = (seq: number) => message(seq, { message_id: `m${seq}` })
    t.deepEqual(accept(inbox, named(1)), { status: 'stored', through_seq: 1, through_id: 'm1' })
    t.deepEqual(accept(inbox, named(2)), { status: 'stored', through_seq: 2, through_id: 'm2' })
    t.deepEqual(accept(reopen(), message(1, { message_id: 'other' })), { status: 'duplicate', through_seq: 2, through_id: 'm2' })
    t.deepEqual(accept(inbox, named(9)), { status: 'gap', through_seq: 2, through_id: 'm2' })
    t.deepEqual(accept(inbox, message(3)), { status: 'stored', through_seq: 3 })
    t.deepEqual(accept(inbox, named(3)), { status: 'duplicate', through_seq: 3 })
  })

  test(`${name}: each stream of each edge has its own mark`, t => {
    const { inbox } = open(t)
    accept(inbox, message(1))
    t.is(accept(inbox, message(1, { stream: 'stream-b' })).status, 'stored')
    t.is(accept(inbox, message(1, { edge_id: 'edge-2' })).status, 'stored')
    t.is(accept(inbox, message(1, { site_id: 'other site' })).status, 'stored')
    t.deepEqual(accept(inbox, message(5, { edge_id: 'edge-3' })), { status: 'gap', through_seq: 0 })
  })

  test(`${name}: the mark is there after a restart`, t => {
    const { inbox, reopen } = open(t)
    accept(inbox, message(1))
    t.deepEqual(accept(reopen(), message(1)), { status: 'duplicate', through_seq: 1 })
    t.is(accept(reopen(), message(2)).status, 'stored')
  })

  test(`${name}: samples, findings and mark go in together or not at all`, t => {
    const { inbox, stored } = open(t)
    const broken = message(1, {
      readings: [
        { id: 'p', t: 1000, v: 1, q: 'good' },
        { id: 'p', t: Number.NaN, v: 1, q: 'good' },
      ],
      findings: [finding('f', 1, 2)],
    })
    t.throws(() => accept(inbox, broken))
    t.deepEqual(stored(), { samples: [], findings: [], titles: [] })
    t.is(accept(inbox, message(1, { findings: [finding('f', 1, 2)] })).status, 'stored')
    t.like(stored(), { samples: ['p 1000 1'], findings: ['f'] })
  })

  test(`${name}: messages that come together are decided in their order, and go in together or not at all`, t => {
    const { inbox, stored } = open(t)
    const other = { edge_id: 'edge-2', building_id: 'other' }
    const [first, early, again, second, theirs] = [message(1), message(3), message(1), message(2), message(1, other)]
    const broken = message(3, { readings: [{ id: 'p', t: Number.NaN, v: 1, q: 'good' }] })
    t.throws(() => inbox.accept([first, second, theirs, broken]))
    t.deepEqual(stored().samples, [])
    t.deepEqual(
      inbox.accept([first, early, again, second, theirs]).map(answer => `${answer.status} ${accepted(answer).through_seq}`),
      ['stored 1', 'gap 1', 'duplicate 1', 'stored 2', 'stored 1'],
    )
    t.deepEqual(stored().samples, ['p 1000 1', 'p 1000 1', 'p 2000 2'])
    t.is(accept(inbox, message(3)).status, 'stored')
  })

  test(`${name}: a message is asked for once the one before it is stored; where one cannot be had, none is`, t => {
    const { inbox, stored } = open(t)
    const held: number[] = []
    function* messages(last: number) {
      for (let seq = 1; seq <= last; seq++) {
        held.push(stored().samples.length)
        yield message(seq)
      }
      if (last < 3) throw new Error('it cannot be read')
    }
    t.throws(() => inbox.accept(messages(2)), { message: 'it cannot be read' })
    t.deepEqual([held, stored().samples], [[0, 1], []])
    t.deepEqual(
      inbox.accept(messages(3)).map(answer => answer.status),
      ['stored', 'stored', 'stored'],
    )
    t.is(stored().samples.length, 3)
  })

  test(`${name}: a finding that is withdrawn goes, and only from its own building`, t => {
    const { inbox, stored } = open(t)
    accept(inbox, message(1, { findings: [finding('f', 1, 2), finding('g', 1, 2)] }))
    accept(inbox, message(2, { building_id: 'other', withdrawn: ['g'] }))
    t.deepEqual(stored().findings, ['f', 'g'])
    accept(inbox, message(3, { withdrawn: ['f', 'never there'] }))
    t.deepEqual(stored().findings, ['g'])
  })

  test(`${name}: a finding never takes the id of another building’s, and its message says so`, t => {
    const { inbox, stored } = open(t)
    accept(inbox, message(1, { findings: [finding('f', 1, 2)] }))
    const forged = [{ ...finding('f', 1, 3), building_id: 'other', title: 'forged' }, finding('own', 1, 2)]
    const answer = accept(inbox, message(1, { site_id: 'other', building_id: 'other', findings: forged }))
    t.deepEqual(answer, { status: 'stored', through_seq: 1, foreign: ['f'] })
    t.deepEqual(stored().findings, ['f', 'own'])
    t.deepEqual(stored().titles, [finding('f', 1, 2).title, finding('own', 1, 2).title])
    t.is(accepted(accept(inbox, message(2, { findings: [finding('f', 1, 3)] }))).foreign, undefined)
  })

  test(`${name}: booleans are 0 and 1, state texts their index, and what is no number is no data`, t => {
    const { inbox, stored } = open(t)
    const values = [true, false, 'auto', 'never heard of', null]
    const readings = values.map((v, i) => ({ id: 'mode', t: i, v, q: 'good' as const }))
    accept(inbox, message(1, { readings }))
    t.deepEqual(stored().samples, ['mode 0 1', 'mode 1 0', 'mode 2 2', 'mode 3 null', 'mode 4 null'])
  })
}
