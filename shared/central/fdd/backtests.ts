import { Problem } from '#shared/core/problem.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type BacktestPorts, type BacktestReport, type BacktestRequest, prepareBacktest } from '#shared/flow/backtest.ts'
import type { Worker } from '#shared/node/worker.ts'
import type { FddHandlers } from './worker.ts'

/** A person waits for it: what takes longer is asked for fewer days or a narrower scope. */
const PATIENCE_MS = 5 * MINUTE

/** Tries values of parameters on history; nothing is stored. */
export type Backtests = {
  /**
   * @throws Problem unknown_building, unknown_equipment, unknown_rule, invalid, run_in_progress while another one goes on,
   *   or query_failed when it takes too long or its process ends
   */
  run(request: BacktestRequest): Promise<BacktestReport>
}

/** One at a time, in the process that runs rules, so that a person's trials never cost more memory than a run. */
export function openBacktests(parts: BacktestPorts & { worker: Worker<FddHandlers>; ruleDirs: () => string[] }): Backtests {
  const { worker, ruleDirs, ...ports } = parts
  let busy = false
  return {
    async run(request) {
      if (busy) throw new Problem('run_in_progress', 'Another backtest is running; try again when it is done')
      busy = true
      const patience = new AbortController()
      const tooLong = new Problem(
        'query_failed',
        'The backtest took longer than 5 minutes: ask for fewer days or a narrower scope',
      )
      const timer = setTimeout(() => patience.abort(tooLong), PATIENCE_MS)
      try {
        const job = await prepareBacktest(request, ports)
        return await worker.request('backtest', { job, dirs: ruleDirs() }, { signal: patience.signal })
      } finally {
        clearTimeout(timer)
        busy = false
      }
    },
  }
}
