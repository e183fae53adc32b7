import { randomUUID } from 'node:crypto'
import { errorText } from '#shared/core/error-text.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { isClockSet } from '#shared/core/telemetry/misdated.ts'
import { needBuilding, needRun } from '#shared/core/lookup.ts'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import type { RunRecord } from '#shared/core/ports.ts'
import { INTERRUPTED, type RunProgress } from '#shared/core/runs/run-state.ts'
import type { EdgeStore, RunEntry, RunStore } from '#shared/core/stores.ts'
import { DAY, formatInstant } from '#shared/core/time.ts'
import { refuseInactive, runFdd, type RunPorts, type RunReport, type RunRequest } from '#shared/flow/fdd/run-fdd.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import type { PlatformConfigStore, RunControl } from '../context.ts'
import { refuseRunOfAppliance } from './rule-owner.ts'
import { createLiveRuns, type LiveRun, type LiveRuns } from './live-runs.ts'
import type { FddHandlers } from './worker.ts'

/** How long a stop waits for the active run, which is less than the whole process has to stop. */
const GRACE_MS = 6_000

type RunControlOptions = Pick<
  RunPorts,
  | 'model'
  | 'findings'
  | 'results'
  | 'runRecorder'
  | 'unsentFindings'
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
  store: RunStore
  edges: EdgeStore
  config: PlatformConfigStore
  /** When the running version was made, ms since 1970 UTC, where that says something about the clock. */
  notBefore: () => number | undefined
  /** Folders of rules in rising precedence, read by each run. */
  ruleDirs: () => string[]
  /** Called after a run has stored its results, before it counts as done. It never rejects. */
  onStored?: (run_id: string) => Promise<void>
}
type Job = { run_id: string; request: RunRequest; trigger: RunRecord['trigger']; signal: AbortSignal }

/**
 * Runs the rules over one building at a time. A run is queued, running, then done, failed or cancelled. A second request for a
 * building with a live run is refused; requests for other buildings wait in a queue. Runs that an earlier process left
 * unfinished are marked as failed.
 */
export class RunQueue implements RunControl {
  readonly #options: RunControlOptions
  readonly #live: LiveRuns
  readonly #aborts = new Map<string, AbortController>()
  readonly #inTurn = createSerialQueue()
  #lastRun: { at: number; error: string | null } | undefined
  #stopped: Promise<void> | undefined

  constructor(options: RunControlOptions) {
    this.#options = options
    this.#live = createLiveRuns(options.store)
    options.store.interrupt(options.clock.now())
  }

  start(request: RunRequest, trigger: RunRecord['trigger']): { run_id: string; report: Promise<RunReport> } {
    this.#refuse(request)
    const run_id = randomUUID()
    const controller = new AbortController()
    const { signal } = controller
    const waiting = { state: 'queued', asked_at: this.#now(), started_at: null, finished_at: null } as const
    this.#live.add({ run_id, building_id: request.building_id, trigger, ...waiting })
    this.#aborts.set(run_id, controller)
    const turn = this.#inTurn(() => this.#execute({ run_id, request, trigger, signal }))
    const report = Promise.race([turn, rejectedBy(signal)])
    report.catch(() => undefined) // A caller that does not wait leaves no unhandled rejection.
    return { run_id, report }
  }

  async run(request: RunRequest, trigger: RunRecord['trigger']): Promise<RunReport> {
    return this.start(request, trigger).report
  }

  live(): LiveRun[] {
    return this.#live.live()
  }

  get(run_id: string): (RunEntry & Partial<LiveRun>) | undefined {
    return this.#find(run_id) ?? this.#options.store.get(run_id)
  }

  list(query: Parameters<RunStore['list']>[0]): RunEntry[] {
    return this.#options.store.list(query)
  }

  watch(run_id: string, onChange: (live: LiveRun) => void): (() => void) | undefined {
    return this.#live.watch(run_id, onChange)
  }

  cancel(run_id: string, by: string): void {
    if (this.#find(run_id) && !this.#hasResults(run_id)) {
      this.#end(run_id, 'cancelled', new Problem('run_cancelled', `cancelled by ${by}`))
      return
    }
    const { run } = needRun(this.#options.store, run_id)
    throw new Problem('conflict', `The run is over: ${run.state}`)
  }

  stop(graceMs = GRACE_MS): Promise<void> {
    return (this.#stopped ??= this.#drain(graceMs))
  }

  status(): ReturnType<RunControl['status']> {
    const current = this.live().find(({ run }) => run.state === 'running')?.run
    return {
      running: current !== undefined,
      ...(current && { building_id: current.building_id, run_id: current.run_id }),
      last_run_at: this.#lastRun?.at ?? null,
      last_error: this.#lastRun?.error ?? null,
    }
  }

  /** @throws Problem not_ready, unknown_building, ran_by_appliance, rule_inactive or run_in_progress */
  #refuse({ building_id, rule_ids = [] }: RunRequest): void {
    const { model, edges, ruleStates, notBefore } = this.#options
    if (this.#stopped) throw new Problem('not_ready', 'Runs cannot start: the process is stopping')
    // A run would read days that nobody measured, and record them as evaluated.
    const now = this.#now()
    if (!isClockSet(now, notBefore())) {
      throw new Problem(
        'not_ready',
        `Runs cannot start yet: the clock of this machine is not set, it shows ${formatInstant(now)}`,
      )
    }
    needBuilding(model, building_id)
    refuseRunOfAppliance({ edges, model }, building_id)
    refuseInactive(rule_ids, ruleStates.list())
    if (this.live().some(({ run }) => run.building_id === building_id)) {
      throw new Problem('run_in_progress', `A run of ${building_id} is already in progress`)
    }
  }

  /** Runs the rules when the turn has come, and records how the run ended. */
  async #execute(job: Job): Promise<RunReport> {
    const { run_id } = job
    try {
      const report = await this.#evaluate(job)
      if (this.#hasResults(run_id)) await this.#options.onStored?.(run_id)
      this.#lastRun = { at: report.finished_at, error: null }
      this.#live.end(run_id)
      return report
    } catch (error) {
      const reason = errorText(error)
      if (!isCallerError(error)) this.#lastRun = { at: this.#now(), error: reason }
      this.#live.end(run_id, { state: 'failed', reason, finished_at: this.#now() })
      throw error
    } finally {
      this.#aborts.delete(run_id)
    }
  }

  #evaluate({ run_id, request, trigger, signal }: Job): Promise<RunReport> {
    const { worker, config, ruleDirs, ...ports } = this.#options
    signal.throwIfAborted()
    this.#live.begin(run_id, this.#now())
    const onProgress = (progress: RunProgress) => this.#live.progress(run_id, progress)
    const evaluate: RunPorts['evaluate'] = job => worker.request('evaluate', { job, dirs: ruleDirs() }, { signal, onProgress })
    const elapsed = () => performance.now()
    return runFdd(request, trigger, config.read().lookback_days * DAY, { ...ports, evaluate, run_id, signal, elapsed })
  }

  /** Ends a run at once for everyone who watches it; results of work that is still running are discarded. */
  #end(run_id: string, state: 'failed' | 'cancelled', why: Error): void {
    if (this.#hasResults(run_id)) return
    this.#aborts.get(run_id)?.abort(why)
    this.#live.end(run_id, { state, reason: why.message, finished_at: this.#now() })
  }

  /** Ends the runs that wait at once, and the active one after the grace period. */
  async #drain(graceMs: number): Promise<void> {
    const why = new Problem('not_ready', INTERRUPTED)
    const end = (runs: LiveRun[]) => {
      for (const { run } of runs) this.#end(run.run_id, 'failed', why)
    }
    end(this.live().slice(1))
    const timer = setTimeout(() => end(this.live()), graceMs)
    await this.#inTurn(async () => undefined)
    clearTimeout(timer)
  }

  #find(run_id: string): LiveRun | undefined {
    return this.live().find(({ run }) => run.run_id === run_id)
  }

  /** A run whose results are stored cannot be ended any more, although `onStored` may still work on them. */
  #hasResults(run_id: string): boolean {
    return this.#options.store.get(run_id)?.record !== undefined
  }

  #now(): number {
    return this.#options.clock.now()
  }
}

const rejectedBy = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

/** An error of the caller, or a cancellation, does not count as a failure of the run loop. */
export const isCallerError = (error: unknown): boolean => error instanceof Problem && PROBLEMS[error.code].status < 500
