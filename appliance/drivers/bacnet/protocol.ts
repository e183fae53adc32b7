import assert from 'node:assert/strict'
import type { Logger } from 'pino'
import { APDU_DEFAULT, firstBatch } from '#shared/core/bacnet/batch.ts'
import { parseTarget, tellsChanges } from '#shared/core/bacnet/object.ts'
import type { BacnetPoint } from '#shared/core/bacnet/point.ts'
import type { DeviceEntry } from '../../store/catalogue-schema.ts'
import type { Complaint } from '../../store/config-error.ts'
import { type FieldProtocol, RETRIES, TIMEOUT_MS } from '../protocol.ts'
import { bacnetDriver } from './driver.ts'
import type { Peer } from './peer.ts'
import { type Lent, sharedTransport } from './shared-transport.ts'
import { type Bind, openBacnetTransport } from './transport.ts'

const DEFAULT_PORT = 47_808

export type BacnetProtocol = FieldProtocol & {
  /** Opens it when nobody has it yet. @throws Error when the port cannot be had */
  borrow(): Promise<Lent>
}

/**
 * BACnet/IP. One transport for all devices.
 *
 * @param bind local address and UDP port; some devices answer only to 47808
 * @param now what readings are stamped with, ms since 1970 UTC
 */
export function bacnetProtocol(options: { bind: Bind; now: () => number; log: Logger }): BacnetProtocol {
  const { bind, now, log } = options
  const shared = sharedTransport(() => openBacnetTransport(bind, now, log), log)
  let polling: Lent | undefined
  return {
    name: 'bacnet',
    check: checkBacnet,
    async start() {
      polling = await shared()
    },
    link(entry) {
      assert(polling && entry.bacnet)
      const { device_instance, max_apdu, rpm_max } = entry.bacnet
      const first = firstBatch(max_apdu ?? APDU_DEFAULT, rpm_max)
      const apdu = max_apdu === undefined && first.multiple ? { ask: true as const, most: rpm_max } : undefined
      const device = { device_instance, ...(apdu && { apdu }) }
      const patience = { timeoutMs: entry.timeout_ms ?? TIMEOUT_MS, retries: entry.retries ?? RETRIES }
      const driver = bacnetDriver(polling.transport, peerOf(entry), patience, first, now, device)
      return { driver, addresses: new Map(entry.points.map(point => [point.point_id, bacnetPoint(point)])) }
    },
    async stop() {
      const lent = polling
      polling = undefined
      await lent?.release()
    },
    borrow: shared,
  }
}

function peerOf({ bacnet, concurrency = 1 }: DeviceEntry): Peer {
  assert(bacnet)
  const { host, port = DEFAULT_PORT, network, mac, segmentation = true } = bacnet
  const peer = { host, port, concurrency, segmentation }
  if (network === undefined || mac === undefined) return peer
  return { ...peer, station: { network, mac: Buffer.from(mac, 'hex') } }
}

function bacnetPoint({ address, kind, scale = 1, offset = 0 }: DeviceEntry['points'][number]): BacnetPoint {
  const target = parseTarget(address)
  assert(typeof target !== 'string', 'the catalogue checks addresses')
  return { target, conversion: { kind, scale, offset } }
}

function checkBacnet({ bacnet, points }: DeviceEntry): Complaint[] {
  const complaints: Complaint[] = []
  if ((bacnet?.network === undefined) !== (bacnet?.mac === undefined)) {
    complaints.push({ pointer: '/bacnet', message: 'network and mac go together' })
  }
  for (const [i, { address, cov }] of points.entries()) {
    const target = parseTarget(address)
    if (typeof target === 'string') complaints.push({ pointer: `/points/${i}/address`, message: target })
    else if (cov && !tellsChanges(target)) {
      complaints.push({ pointer: `/points/${i}/cov`, message: `a device tells changes of present values, not of ${address}` })
    }
  }
  return complaints
}
