/** Messages of the network layer, which routers send (135-2020 6.4). Only the refusal of a message is of use to a client. */

/** A router does not pass on what was sent to `network`. */
export type NetworkRejection = { network: number; reason: number }

const BVLC = 0x81
const FORWARDED = 0x04
const UNICAST = 0x0a
const BROADCAST = 0x0b
const VERSION = 1
/** NPCI bits: a message of the network layer; reserved; with destination; with source (135-2020 6.2.2). */
const NETWORK_MESSAGE = 0x80
const RESERVED = 0x50
const HAS_DESTINATION = 0x20
const HAS_SOURCE = 0x08
const REJECT_MESSAGE_TO_NETWORK = 0x03
/** BVLC, and with the original sender of a forwarded message. */
const [HEAD_BYTES, FORWARDED_HEAD_BYTES] = [4, 10]

/** @returns type and content of a message of the network layer; undefined for any other datagram */
export function readNetworkMessage(bytes: Uint8Array): { isUnicast: boolean; type: number; content: Uint8Array } | undefined {
  const [bvlc, linkFunction = 0, high = 0, low = 0] = bytes
  if (bvlc !== BVLC || ![FORWARDED, UNICAST, BROADCAST].includes(linkFunction) || ((high << 8) | low) !== bytes.length)
    return undefined
  const npdu = bytes.subarray(linkFunction === FORWARDED ? FORWARDED_HEAD_BYTES : HEAD_BYTES)
  const [version, control = 0] = npdu
  if (version !== VERSION || !(control & NETWORK_MESSAGE) || control & RESERVED) return undefined
  let at = 2
  if (control & HAS_DESTINATION) at += 3 + (npdu[at + 2] ?? 0)
  if (control & HAS_SOURCE) at += 3 + (npdu[at + 2] ?? 0)
  if (control & HAS_DESTINATION) at += 1
  const type = npdu[at]
  return type === undefined ? undefined : { isUnicast: linkFunction === UNICAST, type, content: npdu.subarray(at + 1) }
}

/** @returns undefined for everything but Reject-Message-To-Network (135-2020 6.4.4), which a router sends to one address */
export function readRejection({
  isUnicast,
  type,
  content,
}: NonNullable<ReturnType<typeof readNetworkMessage>>): NetworkRejection | undefined {
  const [reason = 0, high = 0, low = 0] = content
  if (!isUnicast || type !== REJECT_MESSAGE_TO_NETWORK || content.length !== 3) return undefined
  return { reason, network: (high << 8) | low }
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
