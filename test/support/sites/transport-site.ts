/** The parts of a site's transport, each started by itself on loopback: authority, broker, hub, edge. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import pino, { type Logger } from 'pino'
import { certificateOperations } from '#appliance/kit/certificate-operations.ts'
import { EdgeKits, openEdgeKits, renewedKitsFolder } from '#appliance/kit/edge-kits.ts'
import { openOutbox, type Outbox } from '#appliance/sinks/outbox.ts'
import { type Destination } from '#appliance/sinks/outbox-reader.ts'
import type { EdgeDescription, PublisherState } from '#appliance/services/publisher.ts'
import { MqttPublisher } from '#appliance/services/mqtt-publisher.ts'
import { answeringOnce, responder } from '#appliance/services/responder.ts'
import { brokerService } from '#hub/broker/broker.ts'
import { openBrokerFiles, openCentralFiles } from '#hub/broker/files.ts'
import { createMqttSubscriber } from '#hub/ingest/mqtt-subscriber.ts'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { createIngestService } from '#shared/central/ingest-service.ts'
import type { Point } from '#shared/core/model/model.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { EdgeLimits } from '#shared/core/telemetry/edge-bounds.ts'
import type { EdgeModel } from '#shared/core/telemetry/metadata.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { wallClock } from '#shared/node/clock.ts'
import { type Link, mqttLink } from '#shared/node/mqtt.ts'
import { type Kit, readKitOfAnyTime } from '#shared/node/pki/kit-read.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { openEdgeBounds } from '#shared/node/store/edge-bounds.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { openStorageBudget } from '#shared/node/store/storage-budget.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { withHotRows } from './hot-rows.ts'

export const silent = pino({ level: 'silent' })

/** Makes an authority with certificates of broker (127.0.0.1) and central (all sites). */
export async function makeAuthority(dir: string) {
  await makePki(dir, { name: 'Test', now: Date.now() })
  const pki = await openPki(dir, Date.now)
  await pki.broker({ hosts: ['127.0.0.1', 'localhost'] })
  await pki.central({ site_id: '*' })
  return pki
}

export async function startBroker(dir: string, port = 0, log: Logger = silent) {
  const files = await openBrokerFiles(dir, log)
  const broker = brokerService({ files, host: '127.0.0.1', port, log })
  const services = [files.tls, files.revoked, broker]
  for (const service of services) await service.start()
  const stop = async () => {
    for (const service of services.toReversed()) await service.stop()
  }
  return { ...broker, stop }
}

/** @param limits what the hub may store, and what an edge can invent; without it there are none. @param settled when it may be acknowledged; at once without it */
export async function startHub(
  certs: string,
  workspace: string,
  port: number,
  limits?: Parameters<typeof openStorageBudget>[1],
  settled?: () => Promise<void>,
  edgeLimits?: EdgeLimits,
) {
  mkdirSync(workspace, { recursive: true })
  const db = openDatabase(join(workspace, 'plenum.db'))
  const budget = limits && openStorageBudget(db, limits)
  const bounds = edgeLimits && openEdgeBounds(db, edgeLimits)
  const stores = { inbox: openInbox(db, budget, bounds), model: modelStore(db), edges: edgeStore(db), claims: edgeClaimStore(db) }
  const files = await openCentralFiles(certs, silent)
  const ingestService = createIngestService({ ...stores, budget, bounds, clock: wallClock, log: silent })
  const monitor = new MqttMonitor(wallClock.now)
  const hub = createMqttSubscriber({
    ...{ files, ingestService, monitor, broker: { host: '127.0.0.1', port }, log: silent },
    ...(settled && { settled }),
  })
  await ingestService.start()
  await files.start()
  await hub.start()
  const samples = withHotRows(db).prepare(
    'SELECT point_id AS id, value AS v FROM hot_rows JOIN history_points USING (building, point) ORDER BY ts',
  )
  return {
    ...stores,
    db,
    ingestService,
    monitor,
    publish: hub.publish,
    onEdge: hub.onEdge,
    counters: () => ingestService.ingest.monitor.counts(),
    /** What is stored, in order of time. */
    samples: () => samples.all() as { id: string; v: number }[],
    stop: async () => {
      await hub.stop()
      await files.stop()
      await ingestService.stop()
      db.close()
    },
  }
}

/** Authority, broker and hub in a folder, until the test is over; `kit` is that of edge e1 of site A. */
export async function openHubSite(t: ExecutionContext, dir: string) {
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const hub = await startHub(certs, join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  const kit = await pki.kit({ site_id: 'A', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: broker.port() })
  return { hub, kit }
}

const source = { protocol: 'bacnet', address: 'analog-input,1' } as const
export const edgeModel = (site_id: string, building_id = `building-${site_id}`): EdgeModel => ({
  name: `Appliance of ${site_id}`,
  version: '0.1.0+0123456789ab',
  building: { building_id, name: 'Building', site_id, timezone: 'Europe/Berlin', unit_system: 'si' },
  equipment: [{ equipment_id: 'ahu-1', building_id, name: 'AHU 1', equipment_type: 'ahu' }],
  points: ['p1', 'p2'].map(
    (point_id): Point => ({
      point_id,
      building_id,
      equipment_id: 'ahu-1',
      name: point_id,
      unit: 'degC',
      kind: 'number',
      source,
    }),
  ),
})

/** What an edge of the tests says of its polling. */
export const pollStatus: PollStatus = {
  ok: true,
  enabled: true,
  running: true,
  cycles: 7,
  late_cycles: 0,
  points_ok: 2,
  points_stale: 0,
  points_down: 0,
  points_fault: 0,
  devices: [],
}

export const edgeSelf = (
  site_id: string,
  edge_id: string,
  boot_id = 'boot',
  building_id = `building-${site_id}`,
): EdgeDescription => ({
  site_id,
  edge_id,
  boot_id,
  runs_rules: false,
  model: () => edgeModel(site_id, building_id),
  pollStatus: () => pollStatus,
  newestReadings: () => [{ protocol: 'bacnet', readings: [{ id: 'p1', t: Date.now(), v: 42, q: 'good' }] }],
})

/** Five hundred readings, one a second; page n follows page n - 1. */
export const page = (n: number): Reading[] => Array.from({ length: 500 }, (_, i) => reading(n * 500 + i))

export const testOutbox = (dir: string, to: Destination[], maxBytes = 64 * 1024 * 1024): Promise<Outbox> =>
  openOutbox({ dir, maxBytes, to, protocolOf: () => 'bacnet', clock: wallClock, log: silent })

/** What somebody opens who has the kit of edge e1 of site A. */
export const linkWith = (kit: Kit, onMessage: (topic: string, payload: Buffer) => void = () => undefined): Link =>
  mqttLink({
    endpoint: () => ({ ...kit, host: kit.edge.broker_host, port: kit.edge.broker_port }),
    clientId: 'edge:A:e1',
    subscribe: ['sites/A/edges/e1/acks'],
    onUp: () => undefined,
    onDown: () => undefined,
    onMessage,
    log: silent,
  })

/** The only kit of an edge, whose certificate may be renewed below `dir`. */
export const kitsOf = (kit: Kit, dir: string): EdgeKits =>
  new EdgeKits({ candidates: [{ kit, folder: undefined }], folder: join(dir, 'kits'), log: silent })

export type Edge = { outbox: Outbox; state: () => PublisherState; announce: () => void; stop: () => Promise<void> }

export const startEdge = (
  kit: Kit,
  dir: string,
  maxBytes = 64 * 1024 * 1024,
  boot_id = 'boot',
  clock = wallClock,
): Promise<Edge> => startRenewableEdge(kitsOf(kit, dir), dir, maxBytes, boot_id, clock)

/** The kit at `path` and those that a hub has renewed since for the edge with its outbox in `dir`. */
export async function openRenewedKits(path: string, dir: string): Promise<EdgeKits> {
  const { edge } = await readKitOfAnyTime(path)
  const folder = renewedKitsFolder(dir)
  return openEdgeKits({ path, folder, edge, broker: undefined, log: silent, now: Date.now() })
}

/** An edge whose certificate a hub may renew. */
export async function startRenewableEdge(
  kits: EdgeKits,
  dir: string,
  maxBytes = 64 * 1024 * 1024,
  boot_id = 'boot',
  clock = wallClock,
): Promise<Edge> {
  const { site_id, edge_id } = kits.current().edge
  const outbox = await testOutbox(dir, ['hub'], maxBytes)
  const publisher = new MqttPublisher({
    ...{ outbox, kits, edge: edgeSelf(site_id, edge_id, boot_id), clock, log: silent },
    answer: answeringOnce(responder(certificateOperations(kits), silent)),
  })
  await publisher.start()
  return {
    outbox,
    state: () => publisher.state(),
    announce: () => publisher.announce(),
    stop: async () => {
      await publisher.stop()
      await outbox.close()
    },
  }
}

/** Reading number `n`: its instant and value are its number. */
export const reading = (n: number): Reading => ({ id: 'p1', t: Date.UTC(2026, 0, 1) + n * 1000, v: n, q: 'good' })
