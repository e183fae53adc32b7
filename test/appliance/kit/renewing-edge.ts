/** A hub that renews certificates and an edge with one of a given age, on a real broker. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { certificateOperations } from '#appliance/kit/certificate-operations.ts'
import { type EdgeKits, openEdgeKits, renewedKitsFolder } from '#appliance/kit/edge-kits.ts'
import { MqttPublisher } from '#appliance/services/mqtt-publisher.ts'
import { answeringOnce, type EdgeOperations, responder } from '#appliance/services/responder.ts'
import { openConnectors } from '#hub/connectors/open.ts'
import { createAuthority } from '#hub/enrol/authority.ts'
import { createRenewals } from '#hub/enrol/renewals.ts'
import { DAY } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { folder, until } from '../../support/folders.ts'
import { edgeSelf, makeAuthority, silent, startBroker, startHub, testOutbox } from '../../support/sites/transport-site.ts'

export const EDGE = { site_id: 'A', edge_id: 'e1' }

/** A hub that renews, and an edge whose certificate was issued `ageDays` ago for 300 days. */
export async function openRenewing(t: ExecutionContext, ageDays: number) {
  const dir = folder(t)
  const [certs, own, store] = [join(dir, 'pki'), join(dir, 'kit'), join(dir, 'store')]
  await makeAuthority(certs)
  const broker = await startBroker(certs)
  t.teardown(broker.stop)
  const hub = await startHub(certs, join(dir, 'hub'), broker.port())
  t.teardown(hub.stop)
  const place = { ...EDGE, broker_host: '127.0.0.1', broker_port: broker.port() }
  const then = await openPki(certs, () => Date.now() - ageDays * DAY)
  await writeKit(await then.kit({ ...place, days: 300 }), own)
  const authority = createAuthority(certs, Date.now)
  const connectors = openConnectors({ edges: hub.edges, files: undefined, publish: hub.publish, timeoutMs: 20_000 })
  hub.onEdge(connectors)
  const notes: unknown[] = []
  const renewals = createRenewals({
    ...{ authority, tenant_id: undefined, edges: hub.edges, ask: connectors.askBroker, log: silent, now: Date.now },
    audit: note => void notes.push(note),
  })
  const openKits = (broker?: { broker_host: string; broker_port: number }) =>
    openEdgeKits({ path: own, folder: renewedKitsFolder(store), edge: EDGE, broker, log: silent, now: Date.now() })
  const join_ = async (kits: EdgeKits, operations: EdgeOperations = {}) => {
    mkdirSync(store, { recursive: true })
    const outbox = await testOutbox(store, ['hub'])
    const answer = answeringOnce(responder({ ...operations, ...certificateOperations(kits) }, silent))
    const publisher = new MqttPublisher({ outbox, kits, answer, edge: edgeSelf('A', 'e1'), clock: wallClock, log: silent })
    await publisher.start()
    let stopped: Promise<void> | undefined
    const stop = () => (stopped ??= publisher.stop().then(() => outbox.close()))
    t.teardown(stop)
    await until(() => publisher.state().state === 'up', 'the edge is connected', 30_000)
    return { publisher, outbox, stop }
  }
  const online = () => hub.edges.get('A', 'e1')
  return {
    ask: connectors.askBroker,
    dir,
    certs,
    own,
    store,
    authority,
    broker,
    hub,
    notes,
    renewals,
    openKits,
    connect: join_,
    online,
  }
}
