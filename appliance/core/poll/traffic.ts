/** Bytes that a protocol has sent and received since its process started, as they are given to and taken from the socket or port. */
export type ByteCounts = { sent_bytes: number; received_bytes: number }
export type ProtocolTraffic = ByteCounts & { protocol: string }

export const noTraffic = (): ByteCounts => ({ sent_bytes: 0, received_bytes: 0 })
