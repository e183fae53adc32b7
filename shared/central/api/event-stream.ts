/** Server-sent events. @source WHATWG HTML, 9.2 Server-sent events */
import { SECOND } from '#shared/core/time.ts'

export const EVENTS_TYPE = 'text/event-stream; charset=utf-8'
/** A stream sends a comment when it has sent nothing for this long, so that no proxy closes it. */
export const HEARTBEAT_MS = 15 * SECOND
/** A browser connects again this long after it has lost the connection. */
const RETRY_MS = 2 * SECOND

/** The first lines of a stream. */
export const STREAM_START = `retry: ${RETRY_MS}\n\n`
export const HEARTBEAT = ': no news\n\n'

/** @param id what the browser sends as `Last-Event-ID` after it has lost the connection */
export const eventText = (name: string, id: string | number, data: object): string =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`

type ChangeSignal = {
  notify(): void
  /** Waits for a change since the last wait. @returns false when there was none for `ms` */
  wait(ms: number): Promise<boolean>
}

/** A signal that stays set after a change until the next wait, so that none is lost between two waits. */
export function createChangeSignal(closed: AbortSignal): ChangeSignal {
  let hasChanged = false
  let wake: (() => void) | undefined
  const notify = () => {
    hasChanged = true
    wake?.()
  }
  closed.addEventListener('abort', notify, { once: true })
  return {
    notify,
    async wait(ms) {
      if (!hasChanged) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(resolve, ms)
        await promise
        clearTimeout(timer)
      }
      const changed = hasChanged
      hasChanged = false
      return changed
    },
  }
}
