import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { packBody } from '#shared/core/telemetry/body.ts'
import { type EdgeModel, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { Ingest } from '#shared/flow/ingest/ingest.ts'
import type { IngestEvent } from '#shared/flow/ingest/ingest-monitor.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { folder } from '../../support/folders.ts'
import { envelope, MESSAGE_ID, NOON, STREAM } from '../../support/messages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'

/** Ingest with the hub's real stores and a clock that the test sets. */
export function hub(t: ExecutionContext) {
  const db = openDatabase(join(folder(t), 'plenum.db'))
  t.teardown(() => db.close())
  const stores = { inbox: openInbox(db), model: modelStore(db), edges: edgeStore(db), claims: edgeClaimStore(db) }
  const events: IngestEvent[] = []
  const clock = { now: () => at.now, sleep: () => Promise.resolve() }
  const at = { now: NOON }
  const flow = new Ingest({ ...stores, clock, notify: event => events.push(event) })
  const enrol = (site = 'A', edge = 'e1', model: EdgeModel = edgeModel(site)) =>
    processPublish(flow, `sites/${site}/edges/${edge}/metadata`, packBody(writeMetadata(site, edge, model)))
  const send = (body: object) => processPublish(flow, 'sites/A/edges/e1/telemetry/bacnet', packBody(body))
  return { ...stores, db, findings: resultStores(db).findings, flow, events, at, enrol, send }
}

export const telemetry = (seq: number, change: object = {}) => ({
  ...writeTelemetry({
    ...envelope(seq),
    protocol: 'bacnet',
    time_synced: true,
    readings: [{ id: 'p1', t: NOON + seq * 1000, v: seq, q: 'good' }],
  }),
  ...change,
})
export const acked = (through_seq: number, more: object = {}) => ({
  site_id: 'A',
  edge_id: 'e1',
  ack: { stream: STREAM, through_seq, through_id: MESSAGE_ID, at: NOON, ...more },
})
