/** Bytes that were sent and received since counting began, as they are given to and taken from a socket or port. */
export type ByteCounts = { sent_bytes: number; received_bytes: number }

export const noTraffic = (): ByteCounts => ({ sent_bytes: 0, received_bytes: 0 })

/** @returns the sum of all */
export const sumTraffic = (all: Iterable<Readonly<ByteCounts>>): ByteCounts => {
  const sum = noTraffic()
  for (const one of all) addTraffic(sum, one)
  return sum
}

export function addTraffic(to: ByteCounts, { sent_bytes, received_bytes }: Readonly<ByteCounts>): void {
  to.sent_bytes += sent_bytes
  to.received_bytes += received_bytes
}
