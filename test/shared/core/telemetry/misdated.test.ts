/** Readings and findings whose own time cannot be right, through every way in from an edge. */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { formatInstant, HOUR, MINUTE } from '#shared/core/time.ts'
import { Ingest } from '#shared/flow/ingest/ingest.ts'
import type { IngestEvent } from '#shared/flow/ingest/ingest-monitor.ts'
import { LocalIngest } from '#shared/flow/ingest/local-ingest.ts'
import { openHistoryChanges } from '#shared/node/historian/changes.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { misdatedStore } from '#shared/node/store/misdated.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { folder } from '../../../support/folders.ts'
import { envelope, finding, MESSAGE_ID, NOON, STREAM } from '../../../support/messages.ts'
import { edgeModel } from '../../../support/sites/transport-site.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { withHotRows } from '../../../support/sites/hot-rows.ts'

/** What edges without a set clock, or with a broken one, send. */
const IMPOSSIBLE = [
  '1970-01-01T00:00:30Z',
  '1999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  formatInstant(NOON + 5 * MINUTE + 1),
]
/** Instants that no other RFC 3339 text in UTC names: nothing could write them again. */
const UNWRITABLE = ['0000-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00']

function hub(t: ExecutionContext) {
  const db = openDatabase(join(folder(t), 'plenum.db'))
  t.teardown(() => db.close())
  const stores = { inbox: openInbox(db), model: modelStore(db), edges: edgeStore(db), claims: edgeClaimStore(db) }
  const events: IngestEvent[] = []
  const at = { now: NOON }
  const clock = { now: () => at.now, sleep: () => Promise.resolve() }
  const flow = new Ingest({ ...stores, clock, notify: event => events.push(event) })
  processPublish(flow, 'sites/A/edges/e1/metadata', packBody(writeMetadata('A', 'e1', edgeModel('A'))))
  // A run has looked at everything up to noon.
  db.prepare("INSERT INTO history_buildings (building_id) VALUES ('building-A')").run()
  const changes = openHistoryChanges(db)
  changes.settle('building-A', NOON)
  const samples = withHotRows(db)
    .prepare('SELECT point_id, ts FROM hot_rows JOIN history_points USING (building, point) ORDER BY ts')
    .raw()
  return {
    ...stores,
    at,
    flow,
    events,
    changes,
    misdated: misdatedStore(db),
    findings: resultStores(db).findings,
    local: new LocalIngest(flow, 'A'),
    samples: () => samples.all() as [string, number][],
  }
}

const body = (seq: number, times: string[], change: object = {}) => ({
  ...writeTelemetry({ ...envelope(seq), protocol: 'bacnet', time_synced: false, readings: [] }),
  points: times.map((time, i) => ({ id: i % 2 ? 'p2' : 'p1', t: time, v: seq, q: 'good' })),
  ...change,
})
const EDGE = { site_id: 'A', edge_id: 'e1' }
const FAIR = formatInstant(NOON - MINUTE)
const acked = (through_seq: number) => ({ stream: STREAM, through_seq, through_id: MESSAGE_ID, at: NOON })

const ways = {
  'the broker': ({ flow }: ReturnType<typeof hub>, message: object) =>
    processPublish(flow, 'sites/A/edges/e1/telemetry/bacnet', packBody(message))!.ack!,
  'local ingest': ({ local }: ReturnType<typeof hub>, message: object) => local.storeTelemetry({ ...message }),
}
for (const [way, send] of Object.entries(ways)) {
  for (const time of IMPOSSIBLE) {
    test(`a reading dated ${time} that comes by ${way} is kept apart, and no mark of history moves`, t => {
      const site = hub(t)
      const { flow, edges, changes, misdated, events, samples } = site
      t.like(send(site, body(1, [FAIR, time])), { through_seq: 1 })
      t.deepEqual(samples(), [['p1', NOON - MINUTE]])
      t.like(misdated.list({ building_id: 'building-A', limit: 10 }), [
        { point_id: 'p2', edge_id: 'e1', observed_at: Date.parse(time), arrived_at: NOON, value: 1, quality: 'good' },
      ])
      flow.registry.flush()
      t.is(edges.get('A', 'e1')?.last_data_at, NOON - MINUTE)
      t.is(changes.take('building-A'), NOON - MINUTE)
      t.like(flow.monitor.counts(), { ingest_ok: 1, ingest_rejected: 0, ingest_misdated: 1 })
      t.like(events, [{ kind: 'misdated', edge: 'A/e1' }])

      t.like(send(site, body(2, [time])), { through_seq: 2 }, 'a message of nothing else does not block the stream')
      t.like(send(site, body(3, [FAIR])), { through_seq: 3 })
      t.is(misdated.summary().count, 2)
    })
  }

  test(`of an edge whose version says since when it can have read, earlier readings that come by ${way} are kept apart`, t => {
    const site = hub(t)
    const { flow, misdated, events, samples, edges } = site
    const not_before = formatInstant(NOON - HOUR)
    t.like(send(site, body(1, ['2016-11-27T12:00:00Z', FAIR], { not_before })), { through_seq: 1 })
    t.deepEqual(samples(), [['p2', NOON - MINUTE]])
    t.like(misdated.list({ building_id: 'building-A', limit: 10 }), [{ point_id: 'p1', observed_at: Date.UTC(2016, 10, 27, 12) }])
    const said = `1 readings stored apart from history: the timestamp of p1, 2016-11-27T12:00:00Z is before ${not_before}, when the version that read it was made`
    t.like(events, [{ kind: 'misdated', edge: 'A/e1', reason: said }])

    t.like(send(site, body(2, ['2016-11-27T12:01:00Z'])), { through_seq: 2 }, 'one that says nothing of its version is believed')
    const ahead = { not_before: formatInstant(NOON + HOUR) }
    t.like(send(site, body(3, [formatInstant(NOON - 2 * MINUTE)], ahead)), { through_seq: 3 }, 'a version of later says nothing')
    t.is(misdated.summary().count, 1)
    t.is(samples().length, 3)
    t.regex(JSON.stringify(send(site, body(4, [FAIR], { not_before: 'lately' })).rejected), /not_before must be/)
    flow.registry.flush()
    t.is(edges.get('A', 'e1')?.last_data_at, NOON - MINUTE)
  })

  test(`an edge is told for an hour that readings of it were kept apart, and its page has the same: ${way}`, t => {
    const site = hub(t)
    const { notices } = site.flow.registry
    t.is(notices.misdatedOf(EDGE), undefined)
    send(site, body(1, ['1970-01-01T00:00:30Z']))
    site.at.now = NOON + MINUTE
    send(site, body(2, ['1970-01-01T00:00:40Z', '1970-01-01T00:00:50Z']))
    const reason = '1970-01-01T00:00:40Z is before 2000-01-01T00:00:00Z'
    t.deepEqual(notices.misdatedOf(EDGE), { count: 3, since: NOON, last_at: NOON + MINUTE, reason })
    t.like(notices.noticesToSend(EDGE), [{ code: 'readings_misdated' }])
    site.at.now = NOON + MINUTE + HOUR + 1
    t.is(notices.misdatedOf(EDGE), undefined)
    t.deepEqual(notices.noticesToSend(EDGE), [], 'the notice is taken back')
  })

  for (const time of UNWRITABLE) {
    test(`a message of ${time} that comes by ${way} is rejected and told, and the stream goes on`, t => {
      const site = hub(t)
      const answer = send(site, body(1, [time]))
      t.like(answer, { through_seq: 1 })
      t.regex(JSON.stringify(answer.rejected), /points\[0\]\.t must be an RFC 3339 time/)
      t.like(send(site, body(2, [FAIR], { sent_at: time })), { through_seq: 2 })
      t.like(send(site, body(3, [FAIR])), { through_seq: 3 })
      t.like(site.flow.monitor.counts(), { ingest_ok: 1, ingest_rejected: 2, ingest_failed: 0 })
      t.is(site.misdated.summary().count, 0)
      t.is(site.samples().length, 1)
    })
  }
}

test('five minutes ahead of the hub, and the first instant of 2000, are history', t => {
  const { samples, misdated, ...site } = hub(t)
  ways['the broker'](site as never, body(1, ['2000-01-01T00:00:00Z', formatInstant(NOON + 5 * MINUTE)]))
  t.is(samples().length, 2)
  t.is(misdated.summary().count, 0)
})

test('a hub whose clock is not set acknowledges nothing, and takes everything once it is', t => {
  const site = hub(t)
  const { flow, at, edges, events, local } = site
  processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true, boot_id: 'b' }))
  at.now = 40_000
  const message = body(1, [FAIR])
  t.is(processPublish(flow, 'sites/A/edges/e1/telemetry/bacnet', packBody(message)), undefined)
  t.throws(() => local.storeTelemetry({ ...message }), { message: /clock of this machine is not set/ })
  processPublish(flow, 'sites/A/edges/e1/status', packBody({ online: true, boot_id: 'b' }))
  t.is(edges.get('A', 'e1')?.last_seen_at, NOON, 'the edge was not last seen in 1970')
  t.like(flow.monitor.counts(), { ingest_waiting: 2, ingest_misdated: 0 })
  t.like(events, [{ kind: 'waiting' }, { kind: 'waiting' }])
  at.now = NOON
  t.deepEqual(ways['the broker'](site, message), acked(1))
  t.is(site.samples().length, 1)
})

const dated = (finding_id: string, change: object) => ({ ...finding, finding_id, confirmed_at: NOON, ...change })

test('a finding with an impossible time is refused alone, and what the message says besides is done', t => {
  const { flow, findings, at } = hub(t)
  at.now = NOON + HOUR
  const send = (seq: number, findings: (typeof finding)[], withdrawn: string[] = []) =>
    processPublish(flow, 'sites/A/edges/e1/findings', packBody(writeFindings({ ...envelope(seq), findings, withdrawn })))!.ack!
  const ids = () => findings.list({ limit: 10 }).map(({ finding_id }) => finding_id)
  send(1, [dated('fair', {}), dated('old', {})])
  const spoilt = [
    dated('a', { from: 0 }),
    dated('b', { to: NOON + 2 * HOUR }),
    dated('c', { confirmed_at: Date.UTC(9999, 1, 1) }),
    dated('d', { evidence: { ...finding.evidence, worst_at: 0 } }),
  ]
  const told = send(2, [...spoilt, dated('new', {})], ['old'])
  t.is(told.through_seq, 2)
  t.regex(told.rejected![0]!.reason, /^from 1970-01-01T00:00:00Z is before 2000.*3 more refused/)
  t.deepEqual(ids().toSorted(), ['fair', 'new'])
  t.is(send(3, spoilt, ['new']).through_seq, 3)
  t.deepEqual(ids(), ['fair'], 'a message of no other finding still withdraws')
  t.like(send(4, spoilt), { through_seq: 4, rejected: [{ seq: 4 }] })
  t.like(flow.monitor.counts(), { ingest_ok: 3, ingest_rejected: 3 })
})
