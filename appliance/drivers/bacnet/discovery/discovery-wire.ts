/** The network access of a discovery: the transport that polling uses, so that the same limits hold for both. */
import { networkInterfaces } from 'node:os'
import type { DeviceAddress } from '../core/discovery/discovery.ts'
import type { MachineAddress, Manager, BoundAddress } from '../core/discovery/diagnosis.ts'
import type { DiscoveryWire } from '../flow/discover.ts'
import type { Peer } from '../outcome.ts'
import { type RetryPolicy, RETRIES, TIMEOUT_MS } from '../../protocol.ts'
import type { BacnetTransport, Diagnostics, Bind } from '../transport.ts'
import { wallClock } from '#shared/node/clock.ts'
import { findPortOwner } from '../port-owner.ts'
import type { BacnetProtocol } from '../protocol.ts'
import { type DiscoveryService, discoveryService } from './discovery-service.ts'
import type { FieldCatalogue } from '../../../services/field-catalogue.ts'

const RETRY_POLICY = { timeoutMs: TIMEOUT_MS, retries: RETRIES }

export function bacnetDiscovery(parts: {
  enabled: boolean
  bind: Bind
  bacnet: Pick<BacnetProtocol, 'borrow'>
  catalogue: Pick<FieldCatalogue, 'current' | 'change'>
}): DiscoveryService {
  const { enabled, bind, bacnet, catalogue } = parts
  return discoveryService({
    enabled,
    catalogue,
    clock: wallClock,
    async borrow() {
      const { transport, release } = await bacnet.borrow()
      const before = transport.diagnostics()
      const facts = () => {
        const now = transport.diagnostics()
        return { speaking: speakingSince(before, now), manager: managerOf(now) }
      }
      return { wire: discoveryWire(transport, RETRY_POLICY), facts, release }
    },
    machine: isOpen => ({
      bind: { address: [bind.address, ...(bind.furtherAddresses ?? [])].join(', '), port: bind.port },
      machine: ipv4Addresses(),
      holder: isOpen ? 'this process' : (findPortOwner(bind.address, bind.port) ?? null),
    }),
  })
}

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
export const ipv4Addresses = (): MachineAddress[] =>
  Object.entries(networkInterfaces()).flatMap(([name, list]) =>
    (list ?? []).filter(({ family }) => family === 'IPv4').map(({ address, netmask }) => ({ name, address, netmask })),
  )

/** @returns each address with what went through it since `before` */
function speakingSince(before: Diagnostics, now: Diagnostics): BoundAddress[] {
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

function managerOf({ bbmd }: Diagnostics): Manager | null {
  if (!bbmd) return null
  const registered = bbmd.state === 'registered'
  return { host: bbmd.host, port: bbmd.port, registered, error: registered ? null : `it is ${bbmd.state}` }
}
