import test from 'ava'
import { noteStore } from '#shared/node/store/notes.ts'
import { listSql, resultStores } from '#shared/node/store/results.ts'
import { findingsConformance, resultsConformance, runRecorderConformance } from '../../../conformance/results.ts'
import { finding } from '../../../conformance/run-cases.ts'
import { notesConformance } from '../../../conformance/notes.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'

findingsConformance(test, 'sqlite', t => resultStores(temporaryDatabase(t)).findings)
runRecorderConformance(test, 'sqlite', t => resultStores(temporaryDatabase(t)))
resultsConformance(test, 'sqlite', t => resultStores(temporaryDatabase(t)))
notesConformance(test, 'sqlite', t => noteStore(temporaryDatabase(t)))

test('a note survives a run that removes its finding, and applies again when the finding is back', t => {
  const db = temporaryDatabase(t)
  const { findings, runRecorder } = resultStores(db)
  const notes = noteStore(db)
  const episode = finding('f', 1, 2)
  findings.put([episode])
  notes.set({ finding_id: 'f', ack: 'acked', note: 'seen' })
  const judged = { rule_id: 'r', equipment_id: 'e', status: 'pass', coverage: 1, fault_secs: 0, episodes: 0 } as const
  const span = { from: episode.from, to: episode.from + 1, started_at: 1, finished_at: 2 }
  runRecorder.replace(
    { run_id: '1', building_id: 'b', ...span, trigger: 'request', rule_ids: ['r'], results: [judged], failed: [] },
    [],
  )
  t.is(findings.get('f'), undefined)
  findings.put([episode])
  t.is(notes.get('f').note, 'seen')
})

test('a list of findings goes through the whole table only where nothing is asked for', t => {
  const db = temporaryDatabase(t)
  const planOf = (given: object) => {
    const values = {
      building_id: 'b',
      equipment_id: 'e',
      rule_id: 'r',
      state: 'cleared',
      active: 1,
      from: 0,
      to: 1,
      start: 0,
      after: '',
      limit: 1,
    }
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${listSql(given)}`).all(values) as { detail: string }[]
    return steps.map(({ detail }) => detail).join('; ')
  }
  t.regex(planOf({ building_id: 'b', state: 'cleared' }), /^SEARCH findings USING INDEX findings_by_equipment \(building_id=\?\)/)
  t.is(
    planOf({ building_id: 'b', active: 1 }),
    'SEARCH findings USING INDEX findings_active (building_id=?)',
    'nothing is sorted',
  )
  t.regex(planOf({ active: 1 }), /^SCAN findings USING INDEX findings_active_by_start$/)
  t.regex(planOf({ building_id: 'b', equipment_id: 'e', from: 0 }), /\(building_id=\? AND equipment_id=\?\)/)
  t.regex(planOf({ to: 1, start: 0 }), /^SEARCH findings USING INDEX findings_by_start/)
  t.is(planOf({}), 'SCAN findings USING INDEX findings_by_start', 'nothing is sorted')
})
