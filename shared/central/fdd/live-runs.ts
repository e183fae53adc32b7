import { isOver, type RunProgress, type RunState } from '#shared/core/runs/run-state.ts'
import type { RunStore } from '#shared/core/stores.ts'

/** A run that is queued, running or just over; `version` rises with each change. */
export type LiveRun = { run: RunState; progress?: RunProgress; version: number }
type RunEnding = { state: 'failed' | 'cancelled'; reason: string; finished_at: number }

/** The runs that are not over yet, in the order of their requests, with their watchers. */
export type LiveRuns = {
  add(run: RunState): void
  begin(run_id: string, started_at: number): void
  progress(run_id: string, progress: RunProgress): void
  /** Without an ending the run is done and its results are stored. A run that is over stays as it ended. */
  end(run_id: string, ending?: RunEnding): void
  live(): LiveRun[]
  /** @returns the function that stops watching; undefined when the run is over or unknown */
  watch(run_id: string, onChange: (live: LiveRun) => void): (() => void) | undefined
}

/** State that must survive a restart is in the store; progress is only in memory. */
export function createLiveRuns(store: RunStore): LiveRuns {
  const runs = new Map<string, LiveRun & { watchers: Set<(live: LiveRun) => void> }>()

  const change = (run_id: string, part: { run?: Partial<RunState>; progress?: RunProgress }) => {
    const known = runs.get(run_id)
    if (!known) return
    const { run, progress, version, watchers } = known
    const latest = part.progress ?? progress
    const next = { run: { ...run, ...part.run }, version: version + 1, ...(latest && { progress: latest }) }
    if (isOver(next.run)) runs.delete(run_id)
    else runs.set(run_id, { ...next, watchers })
    for (const notify of [...watchers]) notify(next)
  }
  const save = (run_id: string, part: Partial<RunState>) => {
    const known = runs.get(run_id)
    if (!known) return
    change(run_id, { run: part })
    store.put({ ...known.run, ...part })
  }

  return {
    add(run) {
      store.put(run)
      runs.set(run.run_id, { run, version: 1, watchers: new Set() })
    },
    begin: (run_id, started_at) => save(run_id, { state: 'running', started_at }),
    progress: (run_id, progress) => change(run_id, { progress }),
    end(run_id, ending) {
      if (ending) return save(run_id, ending)
      change(run_id, { run: store.get(run_id)?.run ?? { state: 'done' } })
    },
    live: () => [...runs.values()].map(({ watchers: _watchers, ...live }) => live),
    watch(run_id, onChange) {
      const watchers = runs.get(run_id)?.watchers
      watchers?.add(onChange)
      return watchers && (() => void watchers.delete(onChange))
    },
  }
}
