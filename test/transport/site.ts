/** The parts of a site's transport, each started by itself on loopback: authority, broker, hub, edge. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { openOutbox, type Outbox } from '../../appliance/sinks/outbox.ts'
import { type ForwardState, forwardService } from '../../appliance/services/forward.ts'
import { brokerService } from '../../hub/broker/broker.ts'
import { readBrokerFiles, readCentralFiles } from '../../hub/broker/files.ts'
import { ingestService } from '../../hub/ingest/ingest.ts'
import type { Point } from '#shared/core/model.ts'
import type { Reading } from '#shared/core/reading.ts'
import type { EdgeModel } from '#shared/core/telemetry/metadata.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { Kit } from '#shared/node/kit-read.ts'
import { makePki, openPki } from '#shared/node/pki-files.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'

export const silent = pino({ level: 'silent' })

/** Makes an authority with certificates of broker (127.0.0.1) and central (all sites). */
export async function makeAuthority(dir: string) {
  await makePki(dir, { name: 'Test', now: Date.now() })
  const pki = await openPki(dir, Date.now)
  await pki.broker({ hosts: ['127.0.0.1', 'localhost'] })
  await pki.central({ site_id: '*' })
  return pki
}

export async function startBroker(dir: string, port = 0) {
  const broker = brokerService({ ...(await readBrokerFiles(dir)), host: '127.0.0.1', port, log: silent })
  await broker.start()
  return broker
}

export async function startHub(certs: string, workspace: string, port: number) {
  mkdirSync(workspace, { recursive: true })
  const db = openDatabase(join(workspace, 'plenum.db'))
  const stores = { inbox: openInbox(db), model: modelStore(db), edges: edgeStore(db) }
  const files = await readCentralFiles(certs)
  const hub = ingestService({ ...files, ...stores, broker: { host: '127.0.0.1', port }, clock: wallClock, log: silent })
  await hub.start()
  const samples = db.prepare(
    'SELECT point_id AS id, value AS v FROM samples JOIN history_points USING (building, point) ORDER BY ts',
  )
  return {
    ...stores,
    db,
    counters: hub.counters,
    /** What is stored, in order of time. */
    samples: () => samples.all() as { id: string; v: number }[],
    stop: async () => {
      await hub.stop()
      db.close()
    },
  }
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

export type Edge = { outbox: Outbox; forwardState: () => ForwardState; stop: () => Promise<void> }

export async function startEdge(kit: Kit, dir: string, maxBytes = 64 * 1024 * 1024): Promise<Edge> {
  const outbox = await openOutbox({ dir, maxBytes, protocolOf: () => 'bacnet', clock: wallClock, log: silent })
  const forward = forwardService({ outbox, kit, model: () => edgeModel(kit.edge.site_id), clock: wallClock, log: silent })
  await forward.start()
  return {
    outbox,
    forwardState: forward.forwardState,
    stop: async () => {
      await forward.stop()
      await outbox.close()
    },
  }
}

/** Reading number `n`: its instant and value are its number. */
export const reading = (n: number): Reading => ({ id: 'p1', t: Date.UTC(2026, 0, 1) + n * 1000, v: n, q: 'good' })
