import type { CentralContext, RunRequest } from '../context.ts'
import { isCallers } from './run-control.ts'

/**
 * Starts a run that nobody waits for: its end is kept with it, and a failure that is not the caller's is logged.
 *
 * @returns its id
 * @throws Problem unknown_building, ran_by_appliance, run_in_progress or not_ready
 */
export function startRun({ runs, log }: Pick<CentralContext, 'runs' | 'log'>, request: RunRequest): string {
  const { run_id, report } = runs.start(request, 'request')
  report.catch(error => {
    if (isCallers(error)) return
    const { building_id } = request
    log.error({ err: error, building_id, run_id }, `rules cannot run over ${building_id}: ${error.message}`)
  })
  return run_id
}
