/** A BACnet driver on a real socket, and the analog inputs that tests read with it. */
import type { ExecutionContext } from 'ava'
import { type Batch, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import type { BacnetPoint } from '#appliance/drivers/bacnet/core/point.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { type BacnetTransport, openBacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { SILENT } from '../../../support/sites/catalogue-site.ts'
import { type Behaviour, openUdpPeer } from '../../../support/udp-peer.ts'

export const never = new AbortController().signal
/** Generous: a peer on this machine answers in a millisecond, even when the machine is busy in well under this. */
export const patient = { timeoutMs: 4000, retries: 1 }
export const hasty = { timeoutMs: 150, retries: 1 }

export async function openTransport(t: ExecutionContext): Promise<BacnetTransport> {
  const transport = await openBacnetTransport({ address: '127.0.0.1', port: 0 }, () => 1_000, SILENT)
  t.teardown(() => transport.close())
  return transport
}

export const inputs = (...instances: number[]): { point_id: string; address: BacnetPoint }[] =>
  instances.map(instance => ({
    point_id: `ai-${instance}`,
    address: { target: { type: 0, instance, property: 85 }, conversion: { kind: 'number', scale: 1, offset: 0 } },
  }))
export const range = (count: number) => Array.from({ length: count }, (_, i) => i)
export const good = (instance: number, v: number): Reading => ({ id: `ai-${instance}`, t: 1_000, v, q: 'good' })
export const bad = (instance: number): Reading => ({ id: `ai-${instance}`, t: 1_000, v: null, q: 'bad' })
export const held = (instance: number) => 10 * instance

type Options = { retryPolicy?: typeof patient; batch?: Batch }
export async function openDriver(
  t: ExecutionContext,
  behaviour: Behaviour,
  { retryPolicy = patient, batch = firstBatch(1476) }: Options = {},
) {
  const transport = await openTransport(t)
  const peer = await openUdpPeer(t, behaviour)
  return {
    transport,
    peer,
    driver: new BacnetDriver(transport, peer, retryPolicy, batch, () => 1_000),
    /** The same device, asked with time to answer. */
    patientDriver: new BacnetDriver(transport, peer, patient, batch, () => 1_000),
  }
}
