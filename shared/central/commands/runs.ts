/** Commands that start and cancel runs of the rules. Pages and the API both call them. */
import { needRun } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import type { CentralContext, RunReport, RunRequest } from '#shared/central/context.ts'
import { isCallerError } from '#shared/central/fdd/run-control.ts'
import type { Actor } from './command.ts'

type RunContext = Pick<CentralContext, 'runs' | 'log'>

/**
 * Starts a run and writes the audit row.
 *
 * @returns its id, and the report that is there when it ends
 * @throws Problem unknown_building, ran_by_appliance, run_in_progress or not_ready
 */
export function startRun(
  { runs }: Pick<CentralContext, 'runs'>,
  { audit }: Pick<Actor, 'audit'>,
  request: RunRequest,
): { run_id: string; report: Promise<RunReport> } {
  const started = runs.start(request, 'request')
  audit({ subject: request.building_id, building_id: request.building_id, after: { run_id: started.run_id } })
  return started
}

/**
 * Starts a run whose report nobody waits for. Its end is stored with the run; a failure that is not the caller's is logged.
 *
 * @returns its id
 * @throws Problem as `startRun`
 */
export function startUnattendedRun(context: RunContext, actor: Pick<Actor, 'audit'>, request: RunRequest): string {
  const { run_id, report } = startRun(context, actor, request)
  report.catch(error => {
    if (isCallerError(error)) return
    const { building_id } = request
    context.log.error({ err: error, building_id, run_id }, `run of ${building_id} failed: ${error.message}`)
  })
  return run_id
}

/**
 * Starts runs of all rules over these buildings, for a button. A building whose run is under way is left out: that run serves
 * as well.
 *
 * @throws Problem as `startRun`, except run_in_progress
 */
export function startMissingRuns(context: RunContext, actor: Pick<Actor, 'audit'>, building_ids: readonly string[]): void {
  for (const building_id of building_ids) {
    try {
      startUnattendedRun(context, actor, { building_id })
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'run_in_progress')) throw error
    }
  }
}

/** Cancels a run and writes the audit row. @throws Problem unknown_run, or conflict when it is over */
export function cancelRun({ runs }: Pick<CentralContext, 'runs'>, { caller, audit }: Actor, run_id: string): void {
  const { building_id, state } = needRun(runs, run_id).run
  runs.cancel(run_id, caller!.subject)
  audit({ subject: building_id, building_id, before: { run_id, state }, after: { run_id, state: 'cancelled' } })
}
