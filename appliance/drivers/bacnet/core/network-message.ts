/** Messages of the network layer, which routers send (135-2020 6.4). Only the refusal of a message is of use to a client. */

import { readNetworkPdu } from './frame.ts'

/** A router does not pass on what was sent to `network`. */
export type NetworkRejection = { network: number; reason: number }

const REJECT_MESSAGE_TO_NETWORK = 0x03

type NetworkMessage = { isUnicast: boolean; type: number; content: Uint8Array }

/** @returns undefined for any other datagram */
export function readNetworkMessage(bytes: Uint8Array): NetworkMessage | undefined {
  const pdu = readNetworkPdu(bytes)
  const type = pdu?.isNetworkMessage ? pdu.content[0] : undefined
  return pdu && type !== undefined ? { isUnicast: pdu.isUnicast, type, content: pdu.content.subarray(1) } : undefined
}

/** @returns undefined for everything but Reject-Message-To-Network (135-2020 6.4.4), which a router sends to one address */
export function readRejection({ isUnicast, type, content }: NetworkMessage): NetworkRejection | undefined {
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
