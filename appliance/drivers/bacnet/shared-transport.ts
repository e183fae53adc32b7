import type { Logger } from 'pino'
import type { BacnetTransport } from './transport.ts'

/** The transport of the process, until it is released. */
export type TransportLease = { transport: BacnetTransport; release(): Promise<void> }

/**
 * Shares one transport between polling, discovery and visits. It is open while at least one of them uses it.
 *
 * @returns a function that leases the transport; it throws with the reason when the port cannot be used
 */
export function sharedTransport(open: () => Promise<BacnetTransport>, log: Logger): () => Promise<TransportLease> {
  let opening: Promise<BacnetTransport> | undefined
  let closing: Promise<void> = Promise.resolve()
  let holders = 0

  async function release(transport: BacnetTransport): Promise<void> {
    if (--holders > 0) return
    opening = undefined
    log.info(transport.counters(), 'BACnet/IP datagrams')
    closing = transport.close()
    await closing
  }

  return async () => {
    holders++
    // The port is free only when the previous transport has closed.
    const mine = (opening ??= closing.then(open))
    try {
      const transport = await mine
      return { transport, release: () => release(transport) }
    } catch (error) {
      holders--
      if (opening === mine) opening = undefined
      throw error
    }
  }
}
