import assert from 'node:assert/strict'
import type { Logger } from 'pino'
import { BACNET_PORT } from './core/discovery/discovery.ts'
import { APDU_DEFAULT, type Batch, firstBatch } from './core/batch.ts'
import { notOneValue, parseTarget, tellsChanges } from '#shared/core/bacnet/object.ts'
import type { BacnetPoint } from './core/point.ts'
import { noTraffic } from '#shared/core/poll/traffic.ts'
import { mayHavePriorityArray } from '../../core/priority/visit-objects.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Complaint } from '../../store/json-file.ts'
import { type FieldProtocol, RETRIES, TIMEOUT_MS, type RetryPolicy } from '../protocol.ts'
import { BacnetDriver } from './driver.ts'
import type { Peer } from './outcome.ts'
import { type TransportLease, sharedTransport } from './shared-transport.ts'
import { type Bind, openBacnetTransport } from './transport.ts'

export type BacnetProtocol = FieldProtocol & {
  /** Leases the transport, which is opened when it is not in use. @throws Error when the port cannot be used */
  borrow(): Promise<TransportLease>
}

/**
 * BACnet/IP. One transport for all devices.
 *
 * @param bind local address and UDP port; some devices answer only to 47808
 * @param now time of readings, ms since 1970 UTC
 */
export function bacnetProtocol(options: { bind: Bind; now: () => number; log: Logger }): BacnetProtocol {
  const { bind, now, log } = options
  const traffic = noTraffic()
  const shared = sharedTransport(() => openBacnetTransport(bind, now, log, Math.random, traffic), log)
  let polling: TransportLease | undefined
  return {
    name: 'bacnet',
    check: checkBacnet,
    async start() {
      polling = await shared()
    },
    link(entry) {
      assert(polling && entry.bacnet)
      const { device_instance, max_apdu, rpm_max } = entry.bacnet
      const { peer, retryPolicy, first } = connectionOf(entry)
      const apdu = max_apdu === undefined && first.multiple ? { ask: true as const, most: rpm_max } : undefined
      const device = { device_instance, ...(apdu && { apdu }) }
      const driver = new BacnetDriver(polling.transport, peer, retryPolicy, first, now, device)
      return { driver, addresses: new Map(entry.points.map(point => [point.point_id, bacnetPoint(point)])) }
    },
    async stop() {
      const lent = polling
      polling = undefined
      await lent?.release()
    },
    borrow: shared,
    traffic: () => traffic,
  }
}

/** @returns the address of a device, its retry policy, and the first batch size */
export function connectionOf(entry: DeviceEntry): { peer: Peer; retryPolicy: RetryPolicy; first: Batch } {
  const { timeout_ms: timeoutMs = TIMEOUT_MS, retries = RETRIES, bacnet } = entry
  const first = firstBatch(bacnet?.max_apdu ?? APDU_DEFAULT, bacnet?.rpm_max)
  return { peer: peerOf(entry), retryPolicy: { timeoutMs, retries }, first }
}

function peerOf({ bacnet, concurrency = 1 }: DeviceEntry): Peer {
  assert(bacnet)
  const { host, port = BACNET_PORT, network, mac, segmentation = true } = bacnet
  const peer = { host, port, concurrency, segmentation }
  if (network === undefined || mac === undefined) return peer
  return { ...peer, station: { network, mac: Buffer.from(mac, 'hex') } }
}

function bacnetPoint({ address, kind, scale = 1, offset = 0 }: DeviceEntry['points'][number]): BacnetPoint {
  const target = parseTarget(address)
  assert(typeof target !== 'string', 'addresses were checked when the catalogue was read')
  return { target, conversion: { kind, scale, offset } }
}

function checkBacnet({ bacnet, points }: DeviceEntry): Complaint[] {
  const complaints: Complaint[] = []
  if ((bacnet?.network === undefined) !== (bacnet?.mac === undefined)) {
    complaints.push({ pointer: '/bacnet', message: 'network and mac must be given together' })
  }
  for (const [i, { address, cov, priority_history }] of points.entries()) {
    const target = parseTarget(address)
    const wrong = typeof target === 'string' ? target : notOneValue(target)
    if (typeof target === 'string' || wrong !== undefined) complaints.push({ pointer: `/points/${i}/address`, message: wrong! })
    else if (cov && !tellsChanges(target)) {
      complaints.push({
        pointer: `/points/${i}/cov`,
        message: `devices report changes of present values only, not of ${address}`,
      })
    } else if (priority_history && !mayHavePriorityArray(target.type)) {
      complaints.push({
        pointer: `/points/${i}/priority_history`,
        message: `${address} is not commandable and has no priority array`,
      })
    }
  }
  return complaints
}
