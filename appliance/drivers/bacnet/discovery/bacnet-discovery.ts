/** Discovery over the BACnet transport of this process, which polling and it share. */
import { wallClock } from '#shared/node/clock.ts'
import { discoveryWire, machineAddresses, managerOf, speakingSince } from './discovery-wire.ts'
import { findPortOwner } from '../port-owner.ts'
import type { BacnetProtocol } from '../protocol.ts'
import type { Bind } from '../transport.ts'
import { RETRIES, TIMEOUT_MS } from '../../protocol.ts'
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
      machine: machineAddresses(),
      holder: isOpen ? 'this process' : (findPortOwner(bind.address, bind.port) ?? null),
    }),
  })
}
