/** A central's way in without a broker, over real stores and real HTTP on loopback. */
import { join } from 'node:path'
import { createIngestService } from '#shared/central/ingest-service.ts'
import { localIngestRoutes } from '#shared/central/api/local-ingest.ts'
import { pollStatusRoute } from '#shared/central/api/health.ts'
import { wallClock } from '#shared/node/clock.ts'
import { makeFolder } from '#shared/node/files.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import { LocalPublisher } from '#appliance/services/local-publisher.ts'
import { edgeSelf, silent, testOutbox } from './transport-site.ts'
import { withHotRows } from './hot-rows.ts'

export const TOKEN = 'local-token-for-tests-0123456789abcdef'
const PASSWORDS = { admin: 'admin-password-1', agent: 'agent-password-1', viewer: 'viewer-password-1' }

export async function startCentral(workspace: string, { port = 0, token }: { port?: number; token?: string } = {}) {
  await makeFolder(workspace)
  const db = openDatabase(join(workspace, 'plenum.db'))
  const stores = { inbox: openInbox(db), model: modelStore(db), edges: edgeStore(db), claims: edgeClaimStore(db) }
  const ingestService = createIngestService({ ...stores, clock: wallClock, log: silent })
  const epochs = { get: () => 0, set: () => undefined }
  const settings = { secret: 's'.repeat(40), passwords: PASSWORDS, trustedProxies: [] }
  const auth = openAuth({ settings, epochs, now: Date.now })
  const http = await openHttp({
    name: 'test',
    host: '127.0.0.1',
    port,
    routes: [pollStatusRoute(ingestService), ...localIngestRoutes({ site_id: 'A' }, ingestService, token)],
    auth,
    audit: undefined,
    log: silent,
    version: '0.0.0+000000000000',
    trustedProxies: [],
  })
  await ingestService.start()
  await http.start()
  const samples = withHotRows(db).prepare(
    'SELECT point_id AS id, value AS v FROM hot_rows JOIN history_points USING (building, point) ORDER BY ts, point_id',
  )
  return {
    ...stores,
    db,
    ingestService,
    auth,
    url: http.url(),
    port: Number(new URL(http.url()).port),
    samples: () => samples.all() as { id: string; v: number }[],
    stop: async () => {
      await http.stop()
      await ingestService.stop()
      db.close()
    },
  }
}

/** An edge that sends to a central over HTTP. */
export async function startLocalEdge(
  url: string,
  dir: string,
  { token = TOKEN, edge_id = 'e1', boot_id = 'boot', building_id = 'building-A' } = {},
) {
  const outbox = await testOutbox(dir, ['central'])
  const edge = edgeSelf('A', edge_id, boot_id, building_id)
  const publisher = new LocalPublisher({ outbox, central: { url, token }, edge, clock: wallClock, log: silent })
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
