/** The network access of a discovery: the transport of polling, so the same limits hold for both. */
import { networkInterfaces } from 'node:os'
import type { DeviceAddress } from '../core/discovery/discovery.ts'
import type { MachineAddress, Manager, SpeakingAddress } from '../core/discovery/diagnosis.ts'
import type { DiscoveryWire } from '../flow/discover.ts'
import type { Peer } from '../outcome.ts'
import type { RetryPolicy } from '../../protocol.ts'
import type { BacnetTransport, Diagnostics } from '../transport.ts'

/** @param retryPolicy of each request; a device that does not answer costs all of its attempts once */
export function discoveryWire(transport: BacnetTransport, retryPolicy: RetryPolicy): DiscoveryWire {
  const peers = new Map<DeviceAddress, Peer>()
  const peerOf = (device: DeviceAddress): Peer => {
    const known = peers.get(device) ?? toPeer(device)
    peers.set(device, known)
    return known
  }
  return {
    whoIs: (call, range) => transport.whoIs(call, range),
    listen: take => transport.listen(take),
    ask: (device, question, signal) => transport.request(peerOf(device), question, retryPolicy, signal),
  }
}

function toPeer({ host, port, network, mac }: DeviceAddress): Peer {
  if (network === undefined || mac === undefined) return { host, port }
  return { host, port, station: { network, mac: Buffer.from(mac, 'hex') } }
}

/** The IPv4 addresses of the machine. */
export const machineAddresses = (): MachineAddress[] =>
  Object.entries(networkInterfaces()).flatMap(([name, list]) =>
    (list ?? []).filter(({ family }) => family === 'IPv4').map(({ address, netmask }) => ({ name, address, netmask })),
  )

/** @returns each address with what went through it since `before` */
export function speakingSince(before: Diagnostics, now: Diagnostics): SpeakingAddress[] {
  return now.interfaces.map((one, i) => {
    const then = before.interfaces[i]
    const { address, port, broadcast_addresses, deafness } = one
    return {
      address,
      port,
      broadcast_addresses,
      deafness,
      sent: one.sent - (then?.sent ?? 0),
      received: one.received - (then?.received ?? 0),
      malformed: one.malformed - (then?.malformed ?? 0),
      unmatched: one.unmatched - (then?.unmatched ?? 0),
      unconfirmed: one.unconfirmed - (then?.unconfirmed ?? 0),
    }
  })
}

export function managerOf({ bbmd }: Diagnostics): Manager | null {
  if (!bbmd) return null
  const registered = bbmd.state === 'registered'
  return { host: bbmd.host, port: bbmd.port, registered, error: registered ? null : `it is ${bbmd.state}` }
}
