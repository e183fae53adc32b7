/** The MQTT monitor as server-sent events: `message`, `connection` and `stats`. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { formatInstant } from '#shared/core/time.ts'
import { createChangeSignal, eventText, HEARTBEAT, HEARTBEAT_MS, STREAM_START } from '#shared/central/api/event-stream.ts'
import type { MessageFilter, MonitoredMessage, MonitorStats, MqttMonitor } from './mqtt-monitor.ts'

/** Time between two groups of events. With nine messages and one other event each, at most 20 events a second (contract §8). */
const TICK_MS = 500
const MESSAGES_PER_TICK = 9

export const messageView = ({ at, ...message }: MonitoredMessage) => ({ ...message, at: formatInstant(at) })
export const statsView = ({ since, ...stats }: MonitorStats, dropped: number) => ({
  ...stats,
  since: formatInstant(since),
  dropped,
})

/**
 * Sends what passes the filter as it comes. A burst is cut to its newest messages; `stats` counts those that were left out.
 *
 * @param after `Last-Event-ID`: messages after it are sent as far as they are still remembered; undefined begins with new ones
 */
export function monitorStream(monitor: MqttMonitor, filter: MessageFilter, after: number | undefined): Readable {
  const closed = new AbortController()
  const stream = Readable.from(follow(monitor, filter, after ?? monitor.stats().messages, closed.signal))
  stream.once('close', () => closed.abort())
  return stream
}

async function* follow(
  monitor: MqttMonitor,
  filter: MessageFilter,
  after: number,
  closed: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const changes = createChangeSignal(closed)
  const stop = monitor.watch(changes.notify)
  let sent = after
  let dropped = 0
  let connected: boolean | undefined
  try {
    yield STREAM_START
    while (!closed.aborted) {
      const found = monitor.messages(sent, filter, MESSAGES_PER_TICK)
      for (const message of found.messages) yield eventText('message', message.id, messageView(message))
      const stats = monitor.stats()
      sent = stats.messages
      dropped += found.dropped
      const name = stats.connected === connected ? 'stats' : 'connection'
      yield eventText(name, sent, statsView(stats, dropped))
      connected = stats.connected
      await setTimeout(TICK_MS, undefined, { signal: closed }).catch(() => undefined)
      while (!closed.aborted && !(await changes.wait(HEARTBEAT_MS))) yield HEARTBEAT
    }
  } finally {
    stop()
  }
}
