/**
 * Edges take turns: one message of each, so that an edge that sends more than it may delays itself alone. What is too much of one
 * edge is dropped; it was not acknowledged, so it comes again.
 */
import { edgeName } from '#shared/core/model/model.ts'
import { MESSAGE_MAX } from '#shared/core/telemetry/body.ts'
import type { Topic } from '#shared/core/topic/topics.ts'

/** Messages of one edge that wait: an edge has at most 50 on the way, and responses come besides. */
const PER_EDGE_MAX = 64
const PER_EDGE_BYTES = 32 * MESSAGE_MAX
/** Bytes that wait of all edges: a hundred of them that catch up at once, at what they usually send. */
const ALL_BYTES = 128 * 2 ** 20
/** After so much work others of the process have their turn, ms. */
const SLICE_MS = 20
/** Metadata that changed is the dearest message: an edge spends at most a twentieth of the time with its own. */
const METADATA_PAUSE = 20
/** Edges of which it is remembered until when they pause. */
const PAUSES_MAX = 10_000

type Message = { topic: Topic; payload: Buffer }
/** Of metadata and status the newest says all. */
type Line = { metadata?: Message; status?: Message; queue: Message[]; bytes: number }

type Turns = {
  offer(topic: Topic, payload: Buffer): void
  stop(): void
  /** Messages dropped since the start. */
  dropped(): number
}

/** @param handle takes one message; it is synchronous */
export function turns(handle: (message: Message) => void): Turns {
  /** By edge, in the order of their turns. */
  const lines = new Map<string, Line>()
  const pausedUntil = new Map<string, number>()
  let bytes = 0
  let dropped = 0
  let soon: NodeJS.Immediate | undefined
  let later: NodeJS.Timeout | undefined

  const pauseOf = (name: string): number => Math.max(0, (pausedUntil.get(name) ?? 0) - performance.now())

  /** Takes the next message out of a line; undefined where only metadata is left that has to wait. */
  const takeFrom = (name: string, line: Line): Message | undefined => {
    if (line.metadata && pauseOf(name) === 0) return emptied(line, 'metadata')
    if (line.status) return emptied(line, 'status')
    const next = line.queue.shift()
    if (!next) return undefined
    line.bytes -= next.payload.length
    bytes -= next.payload.length
    return next
  }

  const handleOne = (): boolean => {
    for (const [name, line] of lines) {
      const message = takeFrom(name, line)
      if (!message) continue
      lines.delete(name)
      if (line.metadata || line.status || line.queue.length > 0) lines.set(name, line)
      const begun = performance.now()
      handle(message)
      if (message.topic.kind === 'metadata') pause(name, begun)
      return true
    }
    return false
  }

  const pause = (name: string, begun: number) => {
    const now = performance.now()
    if (pausedUntil.size >= PAUSES_MAX) for (const [other, until] of pausedUntil) if (until <= now) pausedUntil.delete(other)
    if (pausedUntil.size < PAUSES_MAX) pausedUntil.set(name, now + METADATA_PAUSE * (now - begun))
  }

  const work = () => {
    soon = undefined
    const end = performance.now() + SLICE_MS
    let more = true
    while (more && performance.now() < end) more = handleOne()
    if (more) soon = setImmediate(work)
    else if (lines.size > 0) {
      clearTimeout(later)
      later = setTimeout(work, 1 + Math.min(...[...lines.keys()].map(pauseOf)))
    }
  }

  return {
    offer(topic, payload) {
      const name = edgeName(topic)
      const line = lines.get(name) ?? { queue: [], bytes: 0 }
      if (topic.kind === 'metadata' || topic.kind === 'status') line[topic.kind] = { topic, payload }
      else if (
        line.queue.length >= PER_EDGE_MAX ||
        line.bytes + payload.length > PER_EDGE_BYTES ||
        bytes + payload.length > ALL_BYTES
      ) {
        dropped++
        return
      } else {
        line.queue.push({ topic, payload })
        line.bytes += payload.length
        bytes += payload.length
      }
      lines.set(name, line)
      soon ??= setImmediate(work)
    },
    stop() {
      clearImmediate(soon)
      clearTimeout(later)
      lines.clear()
    },
    dropped: () => dropped,
  }
}

function emptied(line: Line, slot: 'metadata' | 'status'): Message | undefined {
  const message = line[slot]
  delete line[slot]
  return message
}
