import { errorText } from '#shared/core/error-text.ts'
import { Problem } from '#shared/core/problem.ts'
import type { RunRecord } from '#shared/core/ports.ts'
import { DAY } from '#shared/core/time.ts'
import { scheduleFdd } from '#shared/flow/fdd/fdd-schedule.ts'
import type { RunReport } from '#shared/flow/fdd/run-fdd.ts'
import type { Service } from '#shared/node/service.ts'
import type { CentralContext } from '../context.ts'
import { buildingsEvaluatedHere } from './rule-owner.ts'
import type { Trigger } from './trigger.ts'

/** Runs rules on schedule and when the trigger file asks. */
export function fddService(context: CentralContext, trigger: Trigger): Service {
  const { clock, config, results, log } = context
  const ending = new AbortController()
  let loop: Promise<void> = Promise.resolve()
  return {
    name: 'fdd schedule',
    async start() {
      const ports = {
        clock,
        intervalHours: () => config.read().rule_interval_hours,
        lastRunAt: () => results.runs({ limit: 1 })[0]?.finished_at,
        takeTrigger: trigger.take,
        askAgain: () => trigger.ask().catch((error: Error) => log.error({ err: error }, error.message)),
        runAll: async (how: 'schedule' | 'file') => (await runEverything(context, how)).isReady,
      }
      loop = scheduleFdd(ports, ending.signal)
      loop.catch(error => log.fatal({ err: error }, `FDD schedule ended: ${error.message}`))
    },
    async stop() {
      ending.abort()
      await loop.catch(() => undefined)
    },
  }
}

/**
 * Runs the active rules over each building whose rules run here, one after the other. A failure does not stop the next building.
 * The schedule skips a building whose history ended before the lookback.
 *
 * @returns `isReady` false when the process stops meanwhile, or its clock is not set: buildings are left then
 */
export async function runEverything(
  context: CentralContext,
  trigger: RunRecord['trigger'],
): Promise<{ reports: RunReport[]; isReady: boolean }> {
  const { historian, clock, runs, config, log } = context
  const since = clock.now() - config.read().lookback_days * DAY
  const reports: RunReport[] = []
  for (const building_id of buildingsEvaluatedHere(context)) {
    try {
      if (trigger === 'schedule' && (historian.lastAt(building_id) ?? -Infinity) < since) continue
      const report = await runs.run({ building_id }, trigger)
      const { run_id, rules_run, rules_failed, notes, total_ms } = report
      for (const note of notes) log.warn({ building_id, run_id }, note)
      log.info({ building_id, run_id, rules_run, rules_failed, total_ms }, 'run finished')
      reports.push(report)
    } catch (error) {
      if (error instanceof Problem && error.code === 'run_cancelled') continue
      if (error instanceof Problem && error.code === 'not_ready') return { reports, isReady: false }
      log.error({ err: error, building_id }, `run of ${building_id} failed: ${errorText(error)}`)
    }
  }
  return { reports, isReady: true }
}
