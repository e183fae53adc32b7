import { Readable } from 'node:stream'
import { isOver } from '#shared/core/runs/run-state.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { createChangeSignal, eventText, HEARTBEAT, HEARTBEAT_MS, STREAM_START } from '#shared/central/api/event-stream.ts'
import { runStateView } from '#shared/central/api/record-views.ts'

/** Id of the last event. */
const END = 'end'

type Runs = Pick<CentralContext['runs'], 'get' | 'watch'>

/**
 * The progress of a run as server-sent events: `progress` for each change, and `end`, after which the stream ends. Each event
 * has the whole state, so a slow reader misses only states that have passed.
 *
 * @param last `Last-Event-ID`, the id of the last event that the reader has
 * @returns undefined when the reader has the end already
 */
export function runEvents(
  runs: Runs,
  run_id: string,
  last: string | undefined,
  heartbeatMs = HEARTBEAT_MS,
): Readable | undefined {
  if (last === END) return undefined
  const closed = new AbortController()
  const events = Readable.from(follow(runs, run_id, last, heartbeatMs, closed.signal))
  events.once('close', () => closed.abort())
  return events
}

async function* follow(
  runs: Runs,
  run_id: string,
  last: string | undefined,
  heartbeatMs: number,
  closed: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const changes = createChangeSignal(closed)
  const stop = runs.watch(run_id, changes.notify)
  try {
    yield STREAM_START
    for (let sent = last; !closed.aborted; ) {
      const known = runs.get(run_id)
      if (!known) return
      if (isOver(known.run)) {
        yield eventText('end', END, runStateView(known))
        return
      }
      const id = String(known.version)
      if (id !== sent) yield eventText('progress', id, runStateView(known))
      sent = id
      if (!(await changes.wait(heartbeatMs))) yield HEARTBEAT
    }
  } finally {
    stop?.()
  }
}
