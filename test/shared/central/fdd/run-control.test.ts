/** The queue of runs over a real database and a real worker process, whose runs wait, hang, grow or die as they are told. */
import type { ResultReader } from '#shared/core/ports.ts'
import test, { type ExecutionContext } from 'ava'
import { RunQueue } from '#shared/central/fdd/run-control.ts'
import type { FddHandlers } from '#shared/central/fdd/worker.ts'
import type { RunControl } from '#shared/central/context.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Problem } from '#shared/core/problem.ts'
import { isOver, type RunState } from '#shared/core/runs/run-state.ts'
import { HOUR } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { runStore } from '#shared/node/store/runs.ts'
import { openWorker, type Worker } from '#shared/node/worker/worker.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const BUILDINGS = ['b1', 'b2', 'b3']
const WHOLE = { from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 2, 2) }

type Place = {
  runs: RunControl
  worker: Worker<FddHandlers>
  results: ResultReader
  told: Finding[][]
  /** Opens the same database once more, as the next process does. */
  again: () => RunControl
}

function open(t: ExecutionContext, memoryMb = 256, notBefore?: number): Place {
  const path = `${temporaryFolder(t)}/plenum.db`
  const db = openDatabase(path)
  const model = modelStore(db)
  for (const building_id of BUILDINGS) {
    const building = { building_id, name: building_id, site_id: 's', timezone: 'UTC', unit_system: 'si' } as const
    const airHandler = { building_id, equipment_type: 'ahu', name: '' } as const
    const equipment = ['AHU-1', 'AHU-2'].map(equipment_id => ({ ...airHandler, equipment_id }))
    model.put({ building, equipment })
  }
  const { results } = resultStores(db)
  const told: Finding[][] = []
  const module = new URL('./run-worker.ts', import.meta.url)
  const worker = openWorker<FddHandlers>({ name: 'FDD', module, init: {}, memoryMb, idleMs: 20_000 })
  const historian = { lastAt: () => undefined }
  const config = { read: () => ({ rules_dir: '', rule_interval_hours: 3, lookback_days: 3 }), write: async () => undefined }
  const control = (on = db) =>
    new RunQueue({
      worker,
      store: runStore(on),
      edges: edgeStore(on),
      config,
      ruleDirs: () => [],
      model,
      ...resultStores(on),
      ruleStates: ruleStateStore(on),
      paramSettings: paramSettingStore(on),
      baselines: baselineStore(on),
      historian,
      changes: openHistoryChanges(on),
      notBefore: () => notBefore,
      clock: wallClock,
      onFindings: findings => void told.push(findings),
    })
  t.teardown(async () => {
    await worker.stop()
    db.close()
  })
  const again = () => {
    const other = openDatabase(path)
    t.teardown(() => other.close())
    return control(other)
  }
  return { runs: control(), worker, results, told, again }
}

const ask = (runs: RunControl, building_id: string, what: string) =>
  runs.start({ building_id, rule_ids: [what], ...WHOLE }, 'request')
const stateOf = (runs: RunControl, run_id: string) => runs.get(run_id)?.run.state

/** Resolves with every state that the run is in, from the one in which it is now to its end. */
function follow(runs: RunControl, run_id: string): Promise<RunState['state'][]> {
  const seen = [stateOf(runs, run_id)!]
  return new Promise(resolve => {
    const watching = runs.watch(run_id, ({ run }) => {
      if (run.state !== seen.at(-1)) seen.push(run.state)
      if (isOver(run)) resolve(seen)
    })
    if (!watching) resolve(seen)
  })
}

/** Resolves when the run has been told to have done so much of its equipment. */
const untilDone = (runs: RunControl, run_id: string, equipment: number) =>
  new Promise<void>(resolve => {
    runs.watch(run_id, ({ progress }) => progress?.equipment_done === equipment && resolve())
  })

test('a run is queued, runs, says how far it is, and is done with its results under the id that it had from the start', async t => {
  const { runs, results, told } = open(t)
  const { run_id, report } = ask(runs, 'b1', 'ok')
  t.is(stateOf(runs, run_id), 'queued')
  const steps: string[] = []
  const states = follow(runs, run_id)
  runs.watch(run_id, ({ progress: p }) => p && steps.push(`${p.step} ${p.equipment_done}/${p.equipment_total} of ${p.rules}`))
  t.is((await report).run_id, run_id)
  t.deepEqual(await states, ['queued', 'running', 'done'])
  t.deepEqual([...new Set(steps)], ['evaluation 0/2 of 1', 'evaluation 1/2 of 1', 'evaluation 2/2 of 1'])
  t.deepEqual(
    results.runs({ limit: 9 }).map(run => run.run_id),
    [run_id],
  )
  t.is(told.length, 1)
  t.is(stateOf(runs, run_id), 'done')
  t.is(
    runs.watch(run_id, () => undefined),
    undefined,
  )
})

test('no run is stored while the clock shows a time before the version was made', async t => {
  const madeAt = Date.now() + 3600_000
  const { runs, results } = open(t, 256, madeAt)
  t.throws(() => ask(runs, 'b1', 'ok'), { message: /^Runs cannot start yet: the clock of this machine is not set, it shows 20/ })
  t.deepEqual([runs.list({ limit: 9 }), results.runs({ limit: 9 })], [[], []])
  const { runs: later } = open(t, 256, Date.now())
  t.like(await ask(later, 'b1', 'ok').report, { rules_failed: 0 })
})

test('buildings run one at a time, in the order in which they were asked for', async t => {
  const { runs } = open(t)
  const order: string[] = []
  const asked = BUILDINGS.map(building_id => ask(runs, building_id, 'ok'))
  for (const { run_id } of asked) {
    runs.watch(run_id, ({ run }) => {
      order.push(`${run.building_id} ${run.state}`)
      t.true(runs.live().filter(one => one.run.state === 'running').length <= 1)
    })
  }
  await Promise.all(asked.map(({ report }) => report))
  t.deepEqual(
    [...new Set(order)],
    BUILDINGS.flatMap(b => [`${b} running`, `${b} done`]),
  )
})

test('a run looks no further than now, however far it is asked to', async t => {
  const { runs, results } = open(t)
  const now = Date.now()
  const { report } = runs.start({ building_id: 'b1', rule_ids: ['ok'], from: now - HOUR, to: now + 400 * 24 * HOUR }, 'request')
  const { to } = await report
  t.true(to >= now && to <= Date.now(), `${to - now} ms after it was asked for`)
  t.is(results.runs({ limit: 1 })[0]?.to, to)
  const later = runs.start({ building_id: 'b1', from: now + 24 * HOUR }, 'request')
  const refused = await t.throwsAsync<Problem>(later.report, { code: 'invalid' })
  t.is(refused?.errors[0]?.pointer, '/from')
})

test('a second run of a building that waits or runs is refused, and one of a building that is not there', t => {
  const { runs } = open(t)
  ask(runs, 'b1', 'ok')
  t.throws(() => ask(runs, 'b1', 'ok'), { code: 'run_in_progress' })
  t.throws(() => ask(runs, 'nowhere', 'ok'), { code: 'unknown_building' })
  t.is(runs.list({ limit: 9 }).length, 1, 'what was refused leaves no run')
})

for (const what of ['wait', 'hang']) {
  test(`a run that would ${what} for ever is cancelled at once, stores nothing, and the next one runs`, async t => {
    const { runs, results, told } = open(t)
    const { run_id, report } = ask(runs, 'b1', what)
    await untilDone(runs, run_id, 2)
    const states = follow(runs, run_id)
    runs.cancel(run_id, 'kim')
    t.is(stateOf(runs, run_id), 'cancelled', 'there is nothing to wait for')
    await t.throwsAsync(report, { code: 'run_cancelled', message: 'cancelled by kim' })
    t.deepEqual(await states, ['running', 'cancelled'])
    const next = await ask(runs, 'b1', 'ok').report
    t.deepEqual(
      results.runs({ limit: 9 }).map(run => run.run_id),
      [next.run_id],
    )
    t.is(told.length, 1)
    t.is(runs.status().last_error, null, 'what a person wanted is no fault')
    t.throws(() => runs.cancel(run_id, 'kim'), { code: 'conflict', message: 'The run is over: cancelled' })
  })
}

test('a run that waits for its turn is cancelled without touching the one under way', async t => {
  const { runs } = open(t)
  const first = ask(runs, 'b1', 'wait')
  await untilDone(runs, first.run_id, 2)
  const second = ask(runs, 'b2', 'ok')
  runs.cancel(second.run_id, 'kim')
  await t.throwsAsync(second.report, { code: 'run_cancelled' })
  t.deepEqual([stateOf(runs, first.run_id), stateOf(runs, second.run_id)], ['running', 'cancelled'])
  t.is(runs.get(second.run_id)?.run.started_at, null)
  runs.cancel(first.run_id, 'kim')
  t.throws(() => runs.cancel('nothing', 'kim'), { code: 'unknown_run' })
})

test('a run whose process is killed fails alone, with the reason', async t => {
  const { runs, worker } = open(t)
  const dying = ask(runs, 'b1', 'hang')
  const next = ask(runs, 'b2', 'ok')
  await untilDone(runs, dying.run_id, 2)
  process.kill(worker.pid()!, 'SIGKILL')
  await t.throwsAsync(dying.report, { code: 'query_failed' })
  t.like(runs.get(dying.run_id)?.run, { state: 'failed', reason: 'the FDD process was ended by SIGKILL' })
  t.is(runs.status().last_error, 'the FDD process was ended by SIGKILL')
  await next.report
  t.is(runs.status().last_error, null)
})

test('a run that needs more memory than it may have fails alone, and says how much it was', async t => {
  const { runs } = open(t, 200)
  const greedy = ask(runs, 'b1', 'grow')
  const next = ask(runs, 'b2', 'ok')
  await t.throwsAsync(greedy.report, { code: 'query_failed' })
  const reason = runs.get(greedy.run_id)?.run.reason
  t.regex(reason ?? '', /^the FDD process needed \d+ MB where 200 MB are allowed$/)
  t.is((await next.report).run_id, next.run_id)
})

test('a run that throws has failed, with what it said', async t => {
  const { runs, results } = open(t)
  const { run_id, report } = ask(runs, 'b1', 'throw')
  await t.throwsAsync(report, { message: 'the engine is broken' })
  t.like(runs.get(run_id)?.run, { state: 'failed', reason: 'the engine is broken' })
  t.deepEqual(results.runs({ limit: 9 }), [])
})

test('a process that ends in the middle leaves runs that say so', async t => {
  const { runs, again } = open(t)
  const running = ask(runs, 'b1', 'hang')
  const waiting = ask(runs, 'b2', 'ok')
  await untilDone(runs, running.run_id, 2)
  const next = again()
  for (const { run_id } of [running, waiting]) {
    t.like(next.get(run_id)?.run, { state: 'failed', reason: 'interrupted: the process ended while it ran' })
  }
  t.deepEqual(next.live(), [])
})

test('a stop lets the run under way finish, ends those that wait, and takes no more', async t => {
  const { runs } = open(t)
  const first = ask(runs, 'b1', 'ok')
  const second = ask(runs, 'b2', 'ok')
  await untilDone(runs, first.run_id, 0)
  const stopped = runs.stop(HOUR)
  t.throws(() => ask(runs, 'b3', 'ok'), { code: 'not_ready' })
  await t.throwsAsync(second.report, { code: 'not_ready' })
  await stopped
  t.deepEqual([stateOf(runs, first.run_id), stateOf(runs, second.run_id)], ['done', 'failed'])
})

test('a stop ends a run that would not end', async t => {
  const { runs } = open(t)
  const { run_id } = ask(runs, 'b1', 'hang')
  await untilDone(runs, run_id, 2)
  await runs.stop(50)
  t.like(runs.get(run_id)?.run, { state: 'failed', reason: 'interrupted: the process ended while it ran' })
})
