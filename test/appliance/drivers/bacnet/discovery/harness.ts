/** A discovery over a real transport on loopback, and devices that answer it as they do in a building. */
import type { ExecutionContext } from 'ava'
import {
  type Discovery,
  DISCOVERY_DEFAULTS,
  type DiscoveryRequest,
  createDiscovery,
} from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import { discover } from '#appliance/drivers/bacnet/flow/discover.ts'
import { wallClock } from '#shared/node/clock.ts'
import { discoveryWire } from '#appliance/drivers/bacnet/discovery/discovery-wire.ts'
import type { RetryPolicy } from '#appliance/drivers/protocol.ts'
import type { BacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { type BacnetDevice, type BacnetDeviceOptions, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import type { SimObject } from '#scripts/simulator/bacnet/objects.ts'
import { never, openTransport, patient } from '../harness.ts'

export async function openDevice(t: ExecutionContext, options: BacnetDeviceOptions): Promise<BacnetDevice> {
  const device = await openBacnetDevice(options)
  t.teardown(() => device.close())
  return device
}

/** Analog inputs in degrees, binary and multi-state values in turn. */
export const objects = (count: number): SimObject[] =>
  Array.from({ length: count }, (_, i): SimObject => {
    const value = () => 1
    if (i % 10 === 8) return { type: 5, instance: i, name: `Fan ${i}`, value }
    if (i % 10 === 9) return { type: 19, instance: i, name: `Mode ${i}`, states: ['Off', 'Heat', 'Cool'], value }
    return { type: 0, instance: i, name: `Zone ${i} Temp`, unit: 'degF', value }
  })

type Asked = Partial<DiscoveryRequest> & { signal?: AbortSignal; retryPolicy?: RetryPolicy; transport?: BacnetTransport }

/** Calls the places one by one, as no broadcast leaves loopback. */
export async function discoverAt(
  t: ExecutionContext,
  addresses: { host: string; port: number }[],
  { signal = never, retryPolicy = patient, transport, ...request }: Asked = {},
): Promise<Discovery> {
  const wire = discoveryWire(transport ?? (await openTransport(t)), retryPolicy)
  const places = addresses.map(({ host, port }) => ({ host, port }))
  const bounds = { ...DISCOVERY_DEFAULTS, seconds: 3, requests_per_second: 100, addresses: places, ...request }
  const discovery = createDiscovery('job', bounds, wallClock.now())
  await discover({ wire, clock: wallClock }, discovery, signal)
  return discovery
}
