import { randomUUID } from 'node:crypto'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { runFdd, type RunPorts, type RunReport } from '#shared/flow/run-fdd.ts'
import type { Worker } from '#shared/node/worker.ts'
import type { PlatformConfigStore, RunControl } from '../context.ts'
import type { FddHandlers } from './worker.ts'

export type RunControlOptions = Pick<
  RunPorts,
  'model' | 'results' | 'ruleStates' | 'paramSettings' | 'baselines' | 'historian' | 'priority' | 'clock' | 'onFindings'
> & {
  worker: Worker<FddHandlers>
  config: PlatformConfigStore
  /** Folders of rules in rising precedence, read anew by each run. */
  ruleDirs: () => string[]
}

/** Runs one building at a time; a second request for the same building is refused, others wait their turn. */
export function openRunControl({ worker, config, ruleDirs, ...ports }: RunControlOptions): RunControl {
  const evaluate: RunPorts['evaluate'] = job => worker.request('evaluate', { job, dirs: ruleDirs() })
  const all: Omit<RunPorts, 'run_id'> = { ...ports, evaluate, elapsed: () => performance.now() }
  const waiting = new Set<string>()
  let last: Promise<unknown> = Promise.resolve()
  let current: string | undefined
  let lastRun: { at: number; error: string | null } | undefined

  const inTurn = (building_id: string, work: () => Promise<RunReport>): Promise<RunReport> => {
    const turn = last.then(async () => {
      current = building_id
      try {
        const report = await work()
        lastRun = { at: report.finished_at, error: null }
        return report
      } catch (error) {
        if (!isCallers(error)) lastRun = { at: ports.clock.now(), error: (error as Error).message }
        throw error
      } finally {
        current = undefined
        waiting.delete(building_id)
      }
    })
    last = turn.catch(() => undefined)
    return turn
  }

  return {
    async run(request, trigger) {
      const { building_id } = request
      if (waiting.has(building_id)) throw new Problem('run_in_progress', `Rules are running over ${building_id} already`)
      waiting.add(building_id)
      const lookbackMs = config.read().lookback_days * DAY
      return inTurn(building_id, () => runFdd(request, trigger, lookbackMs, { ...all, run_id: randomUUID() }))
    },
    idle: async () => void (await last),
    status: () => ({
      running: current !== undefined,
      ...(current !== undefined && { building_id: current }),
      last_run_at: lastRun?.at ?? null,
      last_error: lastRun?.error ?? null,
    }),
  }
}

/** What a caller did wrong says nothing of how runs fare. */
const isCallers = (error: unknown): boolean => error instanceof Problem && PROBLEMS[error.code].status < 500
