/** Answers in parts, as a device sends them: it waits for a SegmentACK after the first part and after each window. */
import type { Asked } from './faulty-exchange.ts'

/** The window a device proposes, parts. */
export const WINDOW = 4

const SEGMENTED = 0x08
const MORE_FOLLOWS = 0x04

/**
 * @param payload of the acknowledgement, behind its header
 * @param size most bytes of payload in one part
 * @returns APDUs of segmented ComplexACKs (135-2020 20.1.5), numbered from 0
 */
export function segmentsOf({ invokeId, service }: Asked, payload: Buffer, size: number, window = WINDOW): Buffer[] {
  const count = Math.max(1, Math.ceil(payload.length / size))
  return Array.from({ length: count }, (_, i) => {
    const more = i < count - 1 ? MORE_FOLLOWS : 0
    const head = Buffer.of(0x30 | SEGMENTED | more, invokeId, i & 0xff, window, service)
    return Buffer.concat([head, payload.subarray(i * size, (i + 1) * size)])
  })
}

/** A SegmentACK or an Abort from the client, for the transaction of an invoke id. */
export type Heard = { kind: 'ack' | 'nak'; sequence: number; window: number } | { kind: 'abort' }

/** @returns undefined for other APDUs; `invokeId` of the transaction that is meant */
export function readHeard(apdu: Buffer): { invokeId: number; heard: Heard } | undefined {
  const [first = 0, invokeId = 0, sequence = 0, window = 0] = apdu
  // The server bit would say that the sender is a device.
  if (first === 0x40 || first === 0x42) return { invokeId, heard: { kind: first === 0x40 ? 'ack' : 'nak', sequence, window } }
  return first === 0x70 ? { invokeId, heard: { kind: 'abort' } } : undefined
}

/**
 * Sends parts window by window, and goes on behind the last one that the client has.
 *
 * @returns to be told what is heard from the client
 */
export function sendInParts(parts: Buffer[], reply: (apdu: Buffer) => void): (heard: Heard) => void {
  let next = 1
  const send = (from: number, count: number) => {
    for (const part of parts.slice(from, from + count)) reply(part)
    next = Math.min(from + count, parts.length)
  }
  send(0, 1)
  return heard => {
    if (heard.kind === 'abort') return
    // Counted modulo 256: the part that is meant is the last one of that number which was sent.
    const latest = next - 1
    const acknowledged = latest - ((latest - heard.sequence) & 0xff)
    if (acknowledged >= 0 && acknowledged < parts.length - 1) send(acknowledged + 1, heard.window)
  }
}
