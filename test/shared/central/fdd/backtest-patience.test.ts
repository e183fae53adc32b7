/** A backtest shares its process with the runs, and says which of the two took too long. */
import test from 'ava'
import { openBacktests } from '#shared/central/fdd/backtests.ts'
import type { FddHandlers } from '#shared/central/fdd/worker.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { baselineStore } from '#shared/node/store/baselines.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { paramSettingStore } from '#shared/node/store/param-settings.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

/** Answers nothing, and fails as it is aborted. */
const endless = {
  request: (_method, _input, { signal } = {}) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  pid: () => undefined,
  stop: async () => undefined,
} as Worker<FddHandlers>

for (const [what, runs, code, says] of [
  ['takes too long by itself', [undefined], 'query_failed', /ask for fewer days/],
  ['takes too long after a run that was ahead', ['run-1', undefined], 'query_failed', /ask for fewer days/],
  ['takes too long while another run waits for it', ['run-1', 'run-2'], 'query_failed', /ask for fewer days/],
  ['waits for a run all the time', ['run-1'], 'run_in_progress', /A run of the rules has kept the backtest waiting/],
] as const) {
  test(`a backtest that ${what} is answered with ${code}`, async t => {
    const db = openDatabase(`${temporaryFolder(t)}/plenum.db`)
    t.teardown(() => db.close())
    const model = modelStore(db)
    model.put({ building: { building_id: 'b1', name: 'B', site_id: 's', timezone: 'UTC', unit_system: 'si' } })
    const left: (string | undefined)[] = [...runs]
    const backtests = openBacktests({
      worker: endless,
      ruleDirs: () => [],
      running: () => (left.length > 1 ? left.shift() : left[0]),
      patienceMs: 1,
      model,
      ruleStates: ruleStateStore(db),
      paramSettings: paramSettingStore(db),
      baselines: baselineStore(db),
      historian: { lastAt: () => undefined },
      clock: wallClock,
    })
    const asked = { building_id: 'b1', rule_id: 'R', params: { a: 1 }, scope: 'site', days: 1 } as const
    await t.throwsAsync(backtests.run(asked), { code, message: says })
    await t.throwsAsync(backtests.run({ ...asked, building_id: 'b9' }), { code: 'unknown_building' }, 'the next one has its turn')
  })
}
