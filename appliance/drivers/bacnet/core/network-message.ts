/** Messages of the network layer, which routers send (135-2020 6.4). Only the refusal of a message is of use to a client. */

/** A router does not pass on what was sent to `network`. */
export type NetworkRejection = { network: number; reason: number }

const BVLC = 0x81
const UNICAST = 0x0a
const VERSION = 1
/** NPCI bits: a message of the network layer; reserved; with destination; with source (135-2020 6.2.2). */
const NETWORK_MESSAGE = 0x80
const RESERVED = 0x50
const HAS_DESTINATION = 0x20
const HAS_SOURCE = 0x08
const REJECT_MESSAGE_TO_NETWORK = 0x03
/** BVLC, version and control. */
const HEAD_BYTES = 6

/** @param bytes one datagram. @returns undefined for everything but Reject-Message-To-Network (135-2020 6.4.4) */
export function readRejection(bytes: Uint8Array): NetworkRejection | undefined {
  if (bytes[0] !== BVLC || bytes[1] !== UNICAST || ((bytes[2]! << 8) | bytes[3]!) !== bytes.length) return undefined
  const [version, control = 0] = bytes.subarray(4)
  if (version !== VERSION || !(control & NETWORK_MESSAGE) || control & RESERVED) return undefined
  let at = HEAD_BYTES
  if (control & HAS_DESTINATION) at += 3 + (bytes[at + 2] ?? 0)
  if (control & HAS_SOURCE) at += 3 + (bytes[at + 2] ?? 0)
  if (control & HAS_DESTINATION) at += 1
  if (bytes.length !== at + 4 || bytes[at] !== REJECT_MESSAGE_TO_NETWORK) return undefined
  return { reason: bytes[at + 1]!, network: (bytes[at + 2]! << 8) | bytes[at + 3]! }
}

const REASONS: Record<number, string> = {
  1: 'it knows no way to that network; check its routing table and its connection there',
  2: 'it is busy',
  3: 'it does not know the kind of message',
  4: 'the message is too long for that network',
  5: 'the message lacks security',
  6: 'the address on that network is invalid',
}

export const formatRejection = (reason: number): string => REASONS[reason] ?? `reason ${reason}`
