import { Problem } from '#shared/core/problem.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type BacktestPorts, type BacktestReport, type BacktestRequest, prepareBacktest } from '#shared/flow/fdd/backtest.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import type { FddHandlers } from './worker.ts'

/** A person waits for it: what takes longer is asked for fewer days or a narrower scope. */
const PATIENCE_MS = 5 * MINUTE

const TOO_LONG = new Problem('query_failed', 'The backtest took longer than 5 minutes: ask for fewer days or a narrower scope')
const KEPT_WAITING = new Problem(
  'run_in_progress',
  'A run of the rules has kept the backtest waiting for 5 minutes: try again later',
)

/** Tries values of parameters on history; nothing is stored. */
export type Backtests = {
  /**
   * @throws Problem unknown_building, unknown_equipment, unknown_rule, invalid, run_in_progress while another one runs
   *   or a run has delayed it for too long, or query_failed when it takes too long or its process ends
   */
  run(request: BacktestRequest): Promise<BacktestReport>
}

type BacktestParts = BacktestPorts & {
  worker: Worker<FddHandlers>
  ruleDirs: () => string[]
  /** The run that has the process now, if one has. */
  running: () => string | undefined
  /** For tests. */
  patienceMs?: number
}

/** One at a time, in the process that runs rules, so that a person's trials never cost more memory than a run. */
export function openBacktests(parts: BacktestParts): Backtests {
  const { worker, ruleDirs, running, patienceMs = PATIENCE_MS, ...ports } = parts
  let busy = false
  return {
    async run(request) {
      if (busy) throw new Problem('run_in_progress', 'Another backtest is running; try again when it is done')
      busy = true
      const patience = new AbortController()
      const ahead = running()
      const timer = setTimeout(
        () => patience.abort(ahead !== undefined && running() === ahead ? KEPT_WAITING : TOO_LONG),
        patienceMs,
      )
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
