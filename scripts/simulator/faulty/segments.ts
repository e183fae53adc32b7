/** Answers in parts that are lost, doubled, mixed up, too many or never end. */
import { segmentsOf, sendInParts } from '../bacnet/segmented-reply.ts'
import { ackOf, type FaultyRequest, type Exchange, type Misbehaviour, poison } from './exchange.ts'

/** Parts that an answer is cut into: more than one window. */
const [PARTS, WINDOW] = [6, 4]
/** More than any client should take. */
const ENDLESS = 400
/** The client's own patience ends before. */
const RESEND_MS = 30_000

/** Bytes of the service's data in each part of an acknowledgement. */
const partBytes = (ack: Buffer): number => Math.ceil((ack.length - 3) / PARTS)
const cut = ({ invokeId, service }: FaultyRequest, ack: Buffer): Buffer[] =>
  segmentsOf(invokeId, service, ack.subarray(3), partBytes(ack), WINDOW)

type Say = (part: Buffer, sequence: number) => void

/** Sends an acknowledgement in parts, each as `say` does it. */
function divide({ asked, hear }: Exchange, ack: Buffer, say: Say, window = WINDOW, bytes = partBytes(ack)): void {
  const send = (part: Buffer) => say(part, part[2]!)
  hear(sendInParts(asked.invokeId, asked.service, ack.subarray(3), { partBytes: bytes, window, resendMs: RESEND_MS, send }))
}

/** The right answer in parts. */
const inParts =
  (say: (part: Buffer, sequence: number, exchange: Exchange) => void, window = WINDOW): Misbehaviour =>
  exchange =>
    divide(exchange, exchange.right, (part, sequence) => say(part, sequence, exchange), window)

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

const SEGMENT_ACK = 4
/** Behind the first part comes what `say` sends when that is acknowledged. */
const afterFirst =
  (say: (exchange: Exchange) => void): Misbehaviour =>
  exchange => {
    const take = (apdu: Buffer) => {
      if (apdu[0]! >> 4 === SEGMENT_ACK) say(exchange)
      return true
    }
    exchange.hear({ take, close: () => undefined })
    exchange.reply(cut(exchange.asked, exchange.right)[0]!)
  }

/** `shown` of the bytes of each part are sent. */
const endless =
  (bytes: number, shown = bytes): Misbehaviour =>
  exchange =>
    divide(
      exchange,
      Buffer.alloc(3 + bytes * ENDLESS),
      part => exchange.reply(part.subarray(0, part.length - bytes + shown)),
      WINDOW,
      bytes,
    )

export const FAULTY_SEGMENTS: Record<string, Misbehaviour> = {
  in_parts: inParts((part, _, { reply }) => reply(part)),
  in_one_part: ({ asked, right, reply }) =>
    segmentsOf(asked.invokeId, asked.service, right.subarray(3), 1400, WINDOW).forEach(reply),
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
  parts_without_content: endless(1, 0),
  parts_of_half_a_megabyte: endless(1400),
  parts_too_short: afterFirst(({ asked, reply }) =>
    [3, 4].forEach(length => reply(Buffer.of(0x3c, asked.invokeId, 1, 4).subarray(0, length))),
  ),
  last_part_missing_bytes: exchange => divide(exchange, ackOf(exchange.asked, poison()).subarray(0, -3), exchange.reply),
  lie_in_parts: exchange => {
    const rename = (one: FaultyRequest['targets'][number]) => ({ ...one, instance: one.instance + 1000 })
    divide(exchange, ackOf(exchange.asked, poison(), rename), exchange.reply)
  },
}
