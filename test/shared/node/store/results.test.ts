import test from 'ava'
import { noteStore } from '#shared/node/store/notes.ts'
import { resultStore } from '#shared/node/store/results.ts'
import { resultsConformance } from '../../../conformance/results.ts'
import { finding } from '../../../conformance/result-stories.ts'
import { notesConformance } from '../../../conformance/notes.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'

resultsConformance(test, 'sqlite', t => resultStore(temporaryDatabase(t)))
notesConformance(test, 'sqlite', t => noteStore(temporaryDatabase(t)))

test('a note outlives a run that does not find its episode, and comes back with it', t => {
  const db = temporaryDatabase(t)
  const [results, notes] = [resultStore(db), noteStore(db)]
  const episode = finding('f', 1, 2)
  results.put([episode])
  notes.set({ finding_id: 'f', ack: 'acked', note: 'seen' })
  const judged = { rule_id: 'r', equipment_id: 'e', status: 'pass', coverage: 1, fault_secs: 0, episodes: 0 } as const
  const span = { from: episode.from, to: episode.from + 1, started_at: 1, finished_at: 2 }
  results.replace(
    { run_id: '1', building_id: 'b', ...span, trigger: 'request', rule_ids: ['r'], results: [judged], failed: [] },
    [],
  )
  t.is(results.get('f'), undefined)
  results.put([episode])
  t.is(notes.get('f').note, 'seen')
})
