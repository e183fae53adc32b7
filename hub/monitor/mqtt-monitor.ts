/** Retains the last MQTT messages of this hub for the monitor page: a bounded part of each. */
import { constants, inflateRawSync } from 'node:zlib'
import type { EdgeKey } from '#shared/core/model/model.ts'
import { parseTopic, type TopicKind } from '#shared/core/topic/topics.ts'

/** Most messages that are remembered. */
const MESSAGES_MAX = 200
/** Bytes of a payload that are retained; deflated, they contain a full preview. */
const KEPT_BYTES = 8 * 1024
/** Longest preview, bytes of UTF-8 (contract §8). */
const PREVIEW_MAX = 4 * 1024
/** Largest size of the stored bytes after inflation; 8 KiB of zeros would be 8 MB. */
const INFLATED_MAX = 1024 * 1024
const DEFLATED = 0x01

export const DIRECTIONS = ['received', 'sent'] as const
export type Direction = (typeof DIRECTIONS)[number]
type Kept = { id: number; at: number; direction: Direction; topic: string; bytes: number; head: Buffer }
export type MonitoredMessage = Omit<Kept, 'head'> & { kind: TopicKind | 'unknown'; preview: string; is_cut: boolean }
/** Which messages to show; a field that is absent lets all pass. */
export type MessageFilter = Partial<EdgeKey> & { kind?: TopicKind | 'unknown' }
export type MonitorStats = {
  connected: boolean
  /** Since when it is, or is not, connected, ms. */
  since: number
  /** Since the process started. */
  messages: number
  bytes: number
}

export class MqttMonitor {
  readonly #now: () => number
  readonly #messages: Kept[] = []
  readonly #listeners = new Set<() => void>()
  #stats: MonitorStats

  constructor(now: () => number) {
    this.#now = now
    this.#stats = { connected: false, since: now(), messages: 0, bytes: 0 }
  }

  /** Costs a copy of at most 8 KiB; the preview is made when somebody asks for it. */
  record(direction: Direction, topic: string, payload: Uint8Array): void {
    const id = ++this.#stats.messages
    this.#stats.bytes += payload.length
    const head = Buffer.from(payload.subarray(0, KEPT_BYTES))
    this.#messages.push({ id, at: this.#now(), direction, topic, bytes: payload.length, head })
    if (this.#messages.length > MESSAGES_MAX) this.#messages.shift()
    this.#notify()
  }

  setConnected(connected: boolean): void {
    if (this.#stats.connected === connected) return
    this.#stats = { ...this.#stats, connected, since: this.#now() }
    this.#notify()
  }

  stats(): MonitorStats {
    return { ...this.#stats }
  }

  /**
   * The newest messages, oldest first.
   *
   * @param after id of the last message that the caller has
   * @returns at most `limit` messages, and how many newer ones were left out or dropped
   */
  messages(after: number, filter: MessageFilter, limit: number): { messages: MonitoredMessage[]; dropped: number } {
    const oldest = this.#messages[0]?.id ?? this.#stats.messages + 1
    const forgotten = Math.max(0, oldest - 1 - after)
    const found = this.#messages.filter(({ id, topic }) => id > after && passes(topic, filter))
    const shown = found.slice(-limit)
    return { messages: shown.map(show), dropped: (after > 0 ? forgotten : 0) + found.length - shown.length }
  }

  /** @returns the function that stops watching */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

const kindOf = (topic: string): TopicKind | 'unknown' => parseTopic(topic)?.kind ?? 'unknown'

function passes(topic: string, { site_id, edge_id, kind }: MessageFilter): boolean {
  if (kind !== undefined && kindOf(topic) !== kind) return false
  if (site_id === undefined && edge_id === undefined) return true
  const parsed = parseTopic(topic)
  return (
    parsed !== undefined &&
    (site_id === undefined || parsed.site_id === site_id) &&
    (edge_id === undefined || parsed.edge_id === edge_id)
  )
}

function show({ head, ...message }: Kept): MonitoredMessage {
  const text = textOf(head)
  const preview = Buffer.from(text)
    .subarray(0, PREVIEW_MAX)
    .toString()
    .replace(/\uFFFD$/, '')
  return { ...message, kind: kindOf(message.topic), preview, is_cut: preview.length < text.length || head.length < message.bytes }
}

/** The text of a body, as far as the retained bytes go. */
function textOf(head: Buffer): string {
  if (head[0] !== DEFLATED) return head.toString()
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: INFLATED_MAX }
    return inflateRawSync(head.subarray(1), options).toString()
  } catch {
    return `(${head.length} bytes that do not inflate)`
  }
}
