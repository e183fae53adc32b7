import { isOver, type RunProgress, type RunState } from '#shared/core/runs/run-state.ts'
import type { RunStore } from '#shared/core/stores.ts'

/** A run that is queued, under way or just over; `version` rises with each change of it. */
export type LiveRun = { run: RunState; progress?: RunProgress; version: number }
type RunEnding = { state: 'failed' | 'cancelled'; reason: string; finished_at: number }

/** The runs that are not over yet, in the order in which they were asked for, and who watches them. */
type LiveRuns = {
  add(run: RunState): void
  begin(run_id: string, started_at: number): void
  progress(run_id: string, progress: RunProgress): void
  /** Without an ending it is done, and stored already. One that is over stays as it ended. */
  end(run_id: string, ending?: RunEnding): void
  live(): LiveRun[]
  /** @returns how to stop watching; undefined when the run is over or was never there */
  watch(run_id: string, hear: (live: LiveRun) => void): (() => void) | undefined
}

/** What a restart must know is in the book; how far a run is, only here. */
export function createLiveRuns(book: RunStore): LiveRuns {
  const runs = new Map<string, LiveRun & { watchers: Set<(live: LiveRun) => void> }>()

  const change = (run_id: string, part: { run?: Partial<RunState>; progress?: RunProgress }) => {
    const known = runs.get(run_id)
    if (!known) return
    const { run, progress, version, watchers } = known
    const latest = part.progress ?? progress
    const next = { run: { ...run, ...part.run }, version: version + 1, ...(latest && { progress: latest }) }
    if (isOver(next.run)) runs.delete(run_id)
    else runs.set(run_id, { ...next, watchers })
    for (const hear of [...watchers]) hear(next)
  }
  const keep = (run_id: string, part: Partial<RunState>) => {
    const known = runs.get(run_id)
    if (!known) return
    change(run_id, { run: part })
    book.put({ ...known.run, ...part })
  }

  return {
    add(run) {
      book.put(run)
      runs.set(run.run_id, { run, version: 1, watchers: new Set() })
    },
    begin: (run_id, started_at) => keep(run_id, { state: 'running', started_at }),
    progress: (run_id, progress) => change(run_id, { progress }),
    end(run_id, ending) {
      if (ending) return keep(run_id, ending)
      change(run_id, { run: book.get(run_id)?.run ?? { state: 'done' } })
    },
    live: () => [...runs.values()].map(({ watchers: _watchers, ...live }) => live),
    watch(run_id, hear) {
      const watchers = runs.get(run_id)?.watchers
      watchers?.add(hear)
      return watchers && (() => void watchers.delete(hear))
    },
  }
}
