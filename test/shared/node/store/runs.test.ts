import test from 'ava'
import type { RunRecord } from '#shared/core/ports.ts'
import { summaryOf } from '#shared/core/runs/run-summary.ts'
import type { RunState } from '#shared/core/runs/run-state.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { runsSql, runStore } from '#shared/node/store/runs.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'

const T = Date.UTC(2026, 2, 1)
const asked = (run_id: string, hour: number, more: Partial<RunState> = {}): RunState => {
  const waits = { state: 'queued', asked_at: T + hour * HOUR, started_at: null, finished_at: null } as const
  return { run_id, building_id: 'b', trigger: 'request', ...waits, ...more }
}
const running = (run_id: string, hour: number) => asked(run_id, hour, { state: 'running', started_at: T + hour * HOUR + MINUTE })
const record = (run_id: string, hour: number): RunRecord => {
  const span = { started_at: T + hour * HOUR + MINUTE, finished_at: T + hour * HOUR + 2 * MINUTE, from: T, to: T + hour * HOUR }
  return { run_id, building_id: 'b', ...span, trigger: 'request', rule_ids: ['r'], results: [], failed: [] }
}

test('a run is there from the moment it is asked for, and in the results only when it is done', t => {
  const db = temporaryDatabase(t)
  const book = runStore(db)
  const { results, runRecorder } = resultStores(db)
  book.put(asked('1', 1))
  t.deepEqual(book.get('1'), { run: asked('1', 1) })
  book.put(running('1', 1))
  t.deepEqual(book.get('1'), { run: running('1', 1) })
  t.deepEqual(results.runs({ limit: 9 }), [])
  const done = record('1', 1)
  runRecorder.replace(done, [])
  t.deepEqual(results.runs({ limit: 9 }), [summaryOf(done)])
  t.deepEqual(book.get('1'), {
    run: { ...running('1', 1), state: 'done', finished_at: done.finished_at },
    record: summaryOf(done),
  })
  t.is(book.get('nothing'), undefined)
})

test('what stored its results is done, whatever is said of it afterwards', t => {
  const db = temporaryDatabase(t)
  const book = runStore(db)
  const { runRecorder } = resultStores(db)
  book.put(running('1', 1))
  runRecorder.replace(record('1', 1), [])
  book.put({ ...running('1', 1), state: 'cancelled', finished_at: T, reason: 'too late' })
  t.is(book.get('1')?.run.state, 'done')
})

test('what an earlier process left queued or running has failed, and nothing else has', t => {
  const db = temporaryDatabase(t)
  const book = runStore(db)
  const { runRecorder } = resultStores(db)
  book.put(running('stored', 1))
  runRecorder.replace(record('stored', 1), [])
  const ended = [
    asked('failed', 2, { state: 'failed', finished_at: T + 3 * HOUR, reason: 'memory' }),
    asked('cancelled', 3, { state: 'cancelled', finished_at: T + 4 * HOUR, reason: 'cancelled by kim' }),
  ]
  for (const run of [...ended, running('ran', 4), asked('waited', 5)]) book.put(run)
  t.is(book.interrupt(T + 9 * HOUR), 2)
  t.is(book.interrupt(T + 10 * HOUR), 0)
  const over = { state: 'failed', finished_at: T + 9 * HOUR, reason: 'interrupted: the process ended while it ran' } as const
  t.deepEqual(book.get('ran')?.run, { ...running('ran', 4), ...over })
  t.deepEqual(book.get('waited')?.run, asked('waited', 5, over))
  for (const run of ended) t.deepEqual(book.get(run.run_id)?.run, run)
  t.is(book.get('stored')?.run.state, 'done')
})

test('a run that is interrupted while the clock is behind does not end before it began', t => {
  const book = runStore(temporaryDatabase(t))
  for (const run of [running('ran', 4), asked('waited', 5)]) book.put(run)
  book.interrupt(0)
  const ran = running('ran', 4)
  t.is(book.get('ran')?.run.finished_at, ran.started_at)
  t.is(book.get('waited')?.run.finished_at, asked('waited', 5).asked_at)
})

test('a list has every run, newest first, goes on after one, and knows buildings apart', t => {
  const db = temporaryDatabase(t)
  const book = runStore(db)
  const { runRecorder } = resultStores(db)
  runRecorder.replace(record('1', 1), [])
  book.put(asked('2', 2, { state: 'failed', finished_at: T, reason: 'x' }))
  book.put(asked('3', 3, { building_id: 'c' }))
  book.put(running('4', 4))
  const ids = (query: Parameters<typeof book.list>[0]) => book.list(query).map(({ run }) => run.run_id)
  t.deepEqual(ids({ limit: 9 }), ['4', '3', '2', '1'])
  t.deepEqual(ids({ limit: 2, building_id: 'b' }), ['4', '2'])
  t.deepEqual(ids({ limit: 9, after: '3' }), ['2', '1'])
  t.throws(() => book.list({ limit: 9, after: 'gone' }), { code: 'bad_cursor' })
  t.deepEqual(book.list({ limit: 1, after: '2' })[0]?.record, summaryOf(record('1', 1)))
})

test('runs that came to nothing do not push out those with results, and are bounded themselves', t => {
  const db = temporaryDatabase(t)
  const book = runStore(db)
  const { results, runRecorder } = resultStores(db)
  runRecorder.replace(record('first', 1), [])
  db.transaction(() => {
    for (let i = 0; i < 510; i++) book.put(asked(`f${i}`, 2 + i, { state: 'failed', finished_at: T, reason: 'x' }))
  })()
  t.is(results.runs({ limit: 9 }).length, 1)
  t.is(book.list({ limit: 1000 }).length, 501)
  t.is(book.get('f9'), undefined)
  t.truthy(book.get('f10'))
})

test('the newest runs of a building, and those of all, are found without going through the others', t => {
  const db = temporaryDatabase(t)
  const planOf = (sql: string, values: object) =>
    (db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(values) as { detail: string }[]).map(({ detail }) => detail).join('; ')
  for (const done of [true, false]) {
    const ofOne = planOf(runsSql('body', { done, building_id: true }), { building_id: 'b', limit: 1 })
    t.is(ofOne, 'SEARCH runs USING INDEX runs_by_building (building_id=?)', 'nothing is sorted')
    t.is(planOf(runsSql('body', { done }), { limit: 1 }), 'SCAN runs USING INDEX runs_by_start', 'nothing is sorted')
    const next = planOf(runsSql('body', { done, building_id: true, start: true }), {
      building_id: 'b',
      limit: 1,
      start: 1,
      after: '',
    })
    t.regex(next, /^SEARCH runs USING INDEX runs_by_building \(building_id=\?( AND started_at<\?)?\)$/)
  }
})
