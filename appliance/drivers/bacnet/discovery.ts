/** The way a discovery takes to the devices: the transport of polling, so that both keep to the same bounds. */
import type { DeviceAddress } from '#shared/core/bacnet/discovery.ts'
import type { DiscoveryWire } from '#shared/flow/discover.ts'
import type { BacnetTransport, Patience, Peer } from './transport.ts'

/** @param patience with each request; a device that does not answer costs all of it once */
export function discoveryWire(transport: BacnetTransport, patience: Patience): DiscoveryWire {
  return {
    whoIs: (call, range) => transport.whoIs(call, range),
    listen: take => transport.listen(take),
    ask: (device, question, signal) => transport.request(peerOf(device), question, patience, signal),
  }
}

function peerOf({ host, port, network, mac }: DeviceAddress): Peer {
  if (network === undefined || mac === undefined) return { host, port }
  return { host, port, station: { network, mac: Buffer.from(mac, 'hex') } }
}
