/** A hub with its connectors on real HTTP and a real broker, and edges beside it, all in this process. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { connectorService } from '#appliance/priority/connector.ts'
import { connectorRoutes } from '#appliance/priority/connector-routes.ts'
import { type HistoryService, priorityOperations } from '#appliance/priority/history-service.ts'
import { type EdgeOperations, responder } from '#appliance/services/responder.ts'
import { inspectionConnectorRoutes } from '#appliance/system/inspection-routes.ts'
import type { InspectionService } from '#appliance/system/inspection-service.ts'
import { MqttPublisher } from '#appliance/services/mqtt-publisher.ts'
import { readCentralFiles } from '#hub/broker/files.ts'
import { openConnectors } from '#hub/connectors/open.ts'
import { createMqttSubscriber } from '#hub/ingest/mqtt-subscriber.ts'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { createIngestService } from '#shared/central/ingest-service.ts'
import { MESSAGE_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import type { SystemReport } from '#shared/core/update/update-wire.ts'
import type { AuditRow } from '#shared/core/stores.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openHttp } from '#shared/node/http/server.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import { folder, until } from '../../support/folders.ts'
import { edgeSelf, kitsOf, makeAuthority, startBroker, testOutbox } from '../../support/sites/transport-site.ts'
import { silent } from '../../support/sites/priority-edge.ts'
import { unchanging } from '../../support/unchanging.ts'

const PASSWORDS = { admin: 'admin-password-1', agent: 'agent-password-1', viewer: 'viewer-password-1' }
type Who = keyof typeof PASSWORDS | 'nobody'
type Answer = { status: number; body: any }

/** @param brokerAt starts the broker, with the certificates in a folder; the embedded one by default. @returns its port */
export async function openHub(
  t: ExecutionContext,
  { timeoutMs = 20_000, brokerAt = embedded }: { timeoutMs?: number; brokerAt?: typeof embedded } = {},
) {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const port = await brokerAt(t, join(dir, 'pki'))
  const place = { broker_host: '127.0.0.1', broker_port: port }
  mkdirSync(join(dir, 'hub'))
  const db = openDatabase(join(dir, 'hub', 'plenum.db'))
  t.teardown(() => void db.close())
  const [model, edges] = [modelStore(db), edgeStore(db)]
  const ingestService = createIngestService({
    inbox: openInbox(db),
    model,
    edges,
    claims: edgeClaimStore(db),
    clock: wallClock,
    log: silent,
  })
  const files = unchanging(await readCentralFiles(join(dir, 'pki')))
  const monitor = new MqttMonitor(wallClock.now)
  const ingest = createMqttSubscriber({ files, ingestService, monitor, broker: { host: '127.0.0.1', port }, log: silent })
  const open = openConnectors({ edges, files, publish: ingest.publish, timeoutMs })
  ingest.onEdge(open)
  const rows: AuditRow[] = []
  const http = await openHttp({
    name: 'test hub',
    host: '127.0.0.1',
    port: 0,
    routes: open.routes,
    auth: openAuth({
      settings: { secret: 's'.repeat(40), passwords: PASSWORDS, trustedProxies: [] },
      epochs: { get: () => 0, set: () => undefined },
      now: Date.now,
    }),
    audit: { add: row => void rows.push(row) },
    log: silent,
    version: '0',
    trustedProxies: [],
  })
  for (const service of [ingestService, ingest, open.service, http]) {
    await service.start()
    t.teardown(() => service.stop())
  }
  const send = async (who: Who, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(http.url() + path, {
      method,
      headers: {
        ...(who !== 'nobody' && { authorization: `Bearer ${await tokenOf(who)}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const call = async (...asked: Parameters<typeof send>): Promise<Answer> => {
    const response = await send(...asked)
    return { status: response.status, body: await response.json() }
  }
  return { dir, pki, place, edges, rows, send, call, askBroker: open.askBroker, routes: open.routes, url: http.url() }
}
async function embedded(t: ExecutionContext, certs: string): Promise<number> {
  const broker = await startBroker(certs)
  t.teardown(() => broker.stop())
  return broker.port()
}

type TestHub = Awaited<ReturnType<typeof openHub>>

/** @returns the token of a login with the hub's secret and settings */
async function tokenOf(who: Exclude<Who, 'nobody'>): Promise<string> {
  const auth = openAuth({
    settings: { secret: 's'.repeat(40), passwords: PASSWORDS, trustedProxies: [] },
    epochs: { get: () => 0, set: () => undefined },
    now: Date.now,
  })
  return (await auth.login(who, PASSWORDS[who], '127.0.0.1')).token
}

/**
 * Connects an edge to the hub's broker.
 *
 * @param service answers the requests of the hub; without it nothing answers
 * @param box its system, where it is ours
 * @returns `heard`: the operations received under `requests`, in order
 */
export async function joinBroker(
  t: ExecutionContext,
  hub: TestHub,
  edge_id: string,
  service: HistoryService | undefined,
  site_id = 'A',
  box?: { operations: EdgeOperations; report?: () => SystemReport | undefined },
) {
  const kit = await hub.pki.kit({ site_id, edge_id, ...hub.place })
  const outbox = await testOutbox(join(hub.dir, site_id, edge_id), ['hub'])
  const heard: string[] = []
  const respond = service && responder({ ...priorityOperations(service), ...box?.operations }, silent)
  const answer = async (payload: Uint8Array) => {
    const body = unpackBody(payload, MESSAGE_MAX)
    if (body.ok) heard.push(String(body.value['operation']))
    return respond?.(payload)
  }
  const kits = kitsOf(kit, hub.dir)
  const publisher = new MqttPublisher({
    outbox,
    kits,
    edge: { ...edgeSelf(site_id, edge_id), system: box?.report },
    answer,
    clock: wallClock,
    log: silent,
  })
  await publisher.start()
  const stop = once(async () => {
    await publisher.stop()
    await outbox.close()
  })
  t.teardown(stop)
  await until(() => hub.edges.get(site_id, edge_id)?.online === true, `${edge_id} is online`)
  return { kit, heard, stop }
}

/** Opens the HTTPS port of an edge with a certificate for it. */
export async function listen(t: ExecutionContext, hub: TestHub, kit: Kit, service: HistoryService, more?: InspectionService) {
  const { site_id, edge_id } = kit.edge
  const { serial: _, ...pair } = await hub.pki.connector({ site_id, edge_id, hosts: ['127.0.0.1'] })
  const routes = (token: string) => [...connectorRoutes(service, token), ...(more ? inspectionConnectorRoutes(more, token) : [])]
  const parts = {
    kitPath: join(hub.dir, 'no-kit'),
    renewed: join(hub.dir, 'no-store'),
    host: '127.0.0.1',
    port: 0,
    version: '0',
    log: silent,
  }
  const http = await connectorService({ ...parts, routes, kit: { ...kit, ...pair } })
  await http.start()
  const stop = once(() => http.stop())
  t.teardown(stop)
  return { url: http.url(), pair, stop }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => (done ??= work())
}
