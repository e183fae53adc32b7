import { Readable } from 'node:stream'
import { isOver } from '#shared/core/runs/run-state.ts'
import { SECOND } from '#shared/core/time.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { runStateView } from '#shared/central/api/record-views.ts'

export const EVENTS_TYPE = 'text/event-stream; charset=utf-8'
/** What a stream says when there is nothing to say, so that no proxy takes it for dead. */
const HEARTBEAT_MS = 15 * SECOND
/** When a browser tries again after the connection was lost. */
const RETRY_MS = 2 * SECOND
/** Id of the event that says how the run ended. */
const END = 'end'

type Runs = Pick<CentralContext['runs'], 'get' | 'watch'>

/**
 * What becomes of a run, as server-sent events: `progress` for each change and `end` at last, after which the stream ends.
 * Each event holds all that is known, so whoever reads slowly or comes late misses nothing but what is past.
 *
 * @param last the id of the event that the reader heard last, as `Last-Event-ID` says
 * @returns undefined when the reader has heard the end already
 * @source WHATWG HTML, 9.2 Server-sent events
 */
export function runEvents(
  runs: Runs,
  run_id: string,
  last: string | undefined,
  heartbeatMs = HEARTBEAT_MS,
): Readable | undefined {
  if (last === END) return undefined
  const gone = new AbortController()
  const events = Readable.from(follow(runs, run_id, last, heartbeatMs, gone.signal))
  events.once('close', () => gone.abort())
  return events
}

async function* follow(
  runs: Runs,
  run_id: string,
  last: string | undefined,
  heartbeatMs: number,
  gone: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const bell = openBell(gone)
  const stop = runs.watch(run_id, bell.ring)
  try {
    yield `retry: ${RETRY_MS}\n\n`
    for (let heard = last; !gone.aborted; ) {
      const known = runs.get(run_id)
      if (!known) return
      if (isOver(known.run)) {
        yield event('end', END, known)
        return
      }
      const id = String(known.version)
      if (id !== heard) yield event('progress', id, known)
      heard = id
      if (!(await bell.rung(heartbeatMs))) yield ': still there\n\n'
    }
  } finally {
    stop?.()
  }
}

const event = (name: string, id: string, known: Parameters<typeof runStateView>[0]) =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(runStateView(known))}\n\n`

/** Remembers one ring, so that none is lost between two waits. */
function openBell(gone: AbortSignal) {
  let ringing = false
  let wake: (() => void) | undefined
  const ring = () => {
    ringing = true
    wake?.()
  }
  gone.addEventListener('abort', ring, { once: true })
  return {
    ring,
    /** @returns false when nobody rang for so long */
    async rung(ms: number): Promise<boolean> {
      if (!ringing) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, ms)
        await promise
        clearTimeout(timer)
      }
      const did = ringing
      ringing = false
      return did
    },
  }
}
