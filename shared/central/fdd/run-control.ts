import { randomUUID } from 'node:crypto'
import { errorText } from '#shared/core/error-text.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import type { RunRecord } from '#shared/core/ports.ts'
import { INTERRUPTED, type RunProgress } from '#shared/core/runs/run-state.ts'
import type { EdgeStore, RunStore } from '#shared/core/stores.ts'
import { DAY } from '#shared/core/time.ts'
import { refuseInactive, runFdd, type RunPorts, type RunReport, type RunRequest } from '#shared/flow/fdd/run-fdd.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import type { PlatformConfigStore, RunControl } from '../context.ts'
import { refuseRunOfAppliance } from './rule-owner.ts'
import { type LiveRun, createLiveRuns } from './live-runs.ts'
import type { FddHandlers } from './worker.ts'

/** How long a stop waits for the run under way, which is less than the whole process has to stop. */
const GRACE_MS = 6_000

type RunControlOptions = Pick<
  RunPorts,
  | 'model'
  | 'results'
  | 'ruleStates'
  | 'paramSettings'
  | 'baselines'
  | 'historian'
  | 'changes'
  | 'priority'
  | 'clock'
  | 'onFindings'
> & {
  worker: Worker<FddHandlers>
  book: RunStore
  edges: EdgeStore
  config: PlatformConfigStore
  /** Folders of rules in rising precedence, read anew by each run. */
  ruleDirs: () => string[]
  /** Told of what a run has stored, before it counts as done. It never rejects. */
  filed?: (run_id: string) => Promise<void>
}
/** A run would look at the days before 1970, and note that it has looked. */
const CLOCK_UNSET = 'No run is taken yet: the clock of this machine is not set'
type Asked = { run_id: string; request: RunRequest; trigger: RunRecord['trigger']; signal: AbortSignal }

/**
 * Runs one building at a time; a second request for the same building is refused, others wait their turn. A run that the
 * last process did not finish has failed.
 */
export function openRunControl({ worker, book, edges, config, ruleDirs, filed, ...ports }: RunControlOptions): RunControl {
  const { clock, model } = ports
  const board = createLiveRuns(book)
  const orders = new Map<string, AbortController>()
  const inTurn = createSerialQueue()
  let lastRun: { at: number; error: string | null } | undefined
  let stopped: Promise<void> | undefined
  book.interrupt(clock.now())

  /** A run that is stored cannot be ended any more, though it is not over before others have heard of it. */
  const stored = (run_id: string) => book.get(run_id)?.record

  const work = ({ run_id, request, trigger, signal }: Asked): Promise<RunReport> => {
    signal.throwIfAborted()
    board.begin(run_id, clock.now())
    const onProgress = (progress: RunProgress) => board.progress(run_id, progress)
    const evaluate: RunPorts['evaluate'] = job => worker.request('evaluate', { job, dirs: ruleDirs() }, { signal, onProgress })
    const lookbackMs = config.read().lookback_days * DAY
    const elapsed = () => performance.now()
    return runFdd(request, trigger, lookbackMs, { ...ports, evaluate, run_id, signal, elapsed })
  }

  const settle = async (asked: Asked): Promise<RunReport> => {
    const { run_id } = asked
    try {
      const report = await work(asked)
      if (stored(run_id)) await filed?.(run_id)
      lastRun = { at: report.finished_at, error: null }
      board.end(run_id)
      return report
    } catch (error) {
      const reason = errorText(error)
      if (!isCallerError(error)) lastRun = { at: clock.now(), error: reason }
      board.end(run_id, { state: 'failed', reason, finished_at: clock.now() })
      throw error
    } finally {
      orders.delete(run_id)
    }
  }

  /** Ends a run at once for everybody who looks; what still goes on for it comes to nothing. */
  const cut = (run_id: string, state: 'failed' | 'cancelled', why: Error) => {
    if (stored(run_id)) return
    orders.get(run_id)?.abort(why)
    board.end(run_id, { state, reason: why.message, finished_at: clock.now() })
  }

  const start: RunControl['start'] = (request, trigger) => {
    const { building_id } = request
    if (stopped) throw new Problem('not_ready', 'No run is taken any more: the process stops')
    if (!isClockSet(clock.now())) throw new Problem('not_ready', CLOCK_UNSET)
    needBuilding(model, building_id)
    refuseRunOfAppliance({ edges, model }, building_id)
    refuseInactive(request.rule_ids ?? [], ports.ruleStates.list())
    if (board.live().some(({ run }) => run.building_id === building_id)) {
      throw new Problem('run_in_progress', `Rules are running over ${building_id} already`)
    }
    const run_id = randomUUID()
    const controller = new AbortController()
    const { signal } = controller
    const waiting = { state: 'queued', asked_at: clock.now(), started_at: null, finished_at: null } as const
    board.add({ run_id, building_id, trigger, ...waiting })
    orders.set(run_id, controller)
    const turn = inTurn(() => settle({ run_id, request, trigger, signal }))
    const report = Promise.race([turn, rejectedBy(signal)])
    report.catch(() => undefined) // told to who waits for it, and kept for the others
    return { run_id, report }
  }

  const stop = async (graceMs: number) => {
    const why = new Problem('not_ready', INTERRUPTED)
    const end = (live: LiveRun[]) => {
      for (const { run } of live) cut(run.run_id, 'failed', why)
    }
    end(board.live().slice(1))
    const late = setTimeout(() => end(board.live()), graceMs)
    await inTurn(async () => undefined)
    clearTimeout(late)
  }

  return {
    start,
    run: async (request, trigger) => start(request, trigger).report,
    live: board.live,
    get: run_id => {
      const live = board.live().find(({ run }) => run.run_id === run_id)
      return live ?? book.get(run_id)
    },
    list: book.list,
    watch: board.watch,
    cancel(run_id, by) {
      const known = board.live().find(({ run }) => run.run_id === run_id)
      if (known && !stored(run_id)) {
        cut(run_id, 'cancelled', new Problem('run_cancelled', `cancelled by ${by}`))
        return
      }
      const over = book.get(run_id)?.run
      if (!over) throw new Problem('unknown_run', `There is no run ${run_id}`)
      throw new Problem('conflict', `The run is over: ${over.state}`)
    },
    stop: (graceMs = GRACE_MS) => (stopped ??= stop(graceMs)),
    status: () => {
      const current = board.live().find(({ run }) => run.state === 'running')?.run
      return {
        running: current !== undefined,
        ...(current && { building_id: current.building_id, run_id: current.run_id }),
        last_run_at: lastRun?.at ?? null,
        last_error: lastRun?.error ?? null,
      }
    },
  }
}

const rejectedBy = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

/** What a caller did wrong, or wanted, says nothing of how runs fare. */
export const isCallerError = (error: unknown): boolean => error instanceof Problem && PROBLEMS[error.code].status < 500
