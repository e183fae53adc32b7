/** Answers in parts that are lost, doubled, mixed up, too many or never end. */
import { segmentsOf, sendInParts, WINDOW } from './bacnet-segments.ts'
import { ackOf, type Asked, type Exchange, type Misbehaviour, poison } from './faulty-exchange.ts'

/** Parts that an answer is cut into: more than one window. */
const PARTS = 6
/** More than any client should take. */
const ENDLESS = 400

function cut(asked: Asked, apdu: Buffer, window = WINDOW): Buffer[] {
  const payload = apdu.subarray(3)
  return segmentsOf(asked, payload, Math.ceil(payload.length / PARTS), window)
}

/** Sends the right answer in parts, each as `say` does it. */
const inParts =
  (say: (part: Buffer, sequence: number, exchange: Exchange) => void, window = WINDOW): Misbehaviour =>
  exchange => {
    const parts = cut(exchange.asked, exchange.right, window)
    exchange.hear(sendInParts(parts, part => say(part, parts.indexOf(part), exchange)))
  }

/** Ends after the first `count` parts and answers no acknowledgement. */
const brokenOff =
  (count: number): Misbehaviour =>
  ({ asked, right, reply }) =>
    cut(asked, right).slice(0, count).forEach(reply)

/** The window field of every part is changed. */
const withWindow = (window: number): Misbehaviour => inParts((part, _, { reply }) => reply(part), window)

function rewritten(part: Buffer, at: number, byte: number): Buffer {
  const changed = Buffer.from(part)
  changed[at] = byte
  return changed
}

/** Behind the first part comes what `say` sends when that is acknowledged. */
const afterFirst =
  (say: (exchange: Exchange) => void): Misbehaviour =>
  exchange => {
    exchange.hear(({ kind }) => kind === 'ack' && say(exchange))
    exchange.reply(cut(exchange.asked, exchange.right)[0]!)
  }

const endless =
  (bytes: number): Misbehaviour =>
  ({ asked, hear, reply }) => {
    const payload = Buffer.alloc(bytes * ENDLESS)
    const parts = Array.from({ length: ENDLESS }, (_, i) => Buffer.of(0x3c, asked.invokeId, i & 0xff, WINDOW, asked.service))
    hear(
      sendInParts(
        parts.map((head, i) => Buffer.concat([head, payload.subarray(i * bytes, (i + 1) * bytes)])),
        reply,
      ),
    )
  }

export const FAULTY_SEGMENTS: Record<string, Misbehaviour> = {
  in_parts: inParts((part, _, { reply }) => reply(part)),
  in_one_part: ({ asked, right, reply }) => segmentsOf(asked, right.subarray(3), right.length).forEach(reply),
  part_by_part: withWindow(1),
  window_of_0: withWindow(0),
  window_of_255: withWindow(255),
  parts_doubled: inParts((part, _, { reply }) => [part, part].forEach(reply)),
  parts_jittered: inParts((part, _, { reply, after, random }) => after(20 * random(), () => reply(part))),
  parts_of_two_answers: inParts((part, sequence, { asked, reply }) => {
    const other = { ...asked, invokeId: asked.invokeId ^ 0x80 }
    const lie = cut(other, ackOf(other, poison()))[sequence]
    if (lie) reply(lie)
    reply(part)
  }),
  part_from_elsewhere: inParts((part, _, { replyFrom, reply }) => {
    replyFrom('other_address', Buffer.concat([part.subarray(0, 5), Buffer.alloc(part.length - 5)]))
    reply(part)
  }),
  part_lost_once: exchange => {
    let isLost = false
    inParts((part, sequence, { reply }) => {
      if (sequence !== 2 || isLost) reply(part)
      isLost ||= sequence === 2
    })(exchange)
  },
  part_never_sent: inParts((part, sequence, { reply }) => void (sequence === 2 || reply(part))),
  parts_overtake: exchange => {
    let held: Buffer | undefined
    inParts((part, sequence, { reply }) => {
      if (sequence % 2 === 1 && sequence < PARTS - 1) held = part
      else [part, ...(held ? [held] : [])].forEach(reply)
    })(exchange)
  },
  ends_after_one_part: brokenOff(1),
  ends_after_two_parts: brokenOff(2),
  starts_in_the_middle: ({ asked, right, reply }) => cut(asked, right).slice(2, 4).forEach(reply),
  aborts_in_the_middle: afterFirst(({ asked, reply }) => reply(Buffer.of(0x71, asked.invokeId, 9))),
  whole_after_a_part: afterFirst(({ right, reply }) => reply(right)),
  parts_of_another_service: inParts((part, _, { asked, reply }) => reply(rewritten(part, 4, asked.service ^ 2))),
  parts_change_service: inParts((part, sequence, { asked, reply }) =>
    reply(sequence === 0 ? part : rewritten(part, 4, asked.service ^ 2)),
  ),
  parts_without_end: endless(1),
  parts_without_content: endless(0),
  parts_of_half_a_megabyte: endless(1400),
  parts_too_short: afterFirst(({ asked, reply }) =>
    [3, 4].forEach(length => reply(Buffer.of(0x3c, asked.invokeId, 1, 4).subarray(0, length))),
  ),
  last_part_missing_bytes: ({ asked, hear, reply }) =>
    hear(sendInParts(cut(asked, ackOf(asked, poison()).subarray(0, -3)), reply)),
  lie_in_parts: ({ asked, hear, reply }) => {
    const rename = (one: Asked['targets'][number]) => ({ ...one, instance: one.instance + 1000 })
    hear(sendInParts(cut(asked, ackOf(asked, poison(), rename)), reply))
  },
}
