/** POST /api/ingest/local: what it takes, and what it says of what it does not take. */
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writePollReport } from '#shared/core/telemetry/poll-report.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { LocalIngest } from '#shared/flow/ingest/local-ingest.ts'
import { Ingest } from '#shared/flow/ingest/ingest.ts'
import { processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeClaimStore } from '#shared/node/store/edge-claims.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { folder } from '../../../support/folders.ts'
import { startCentral, TOKEN } from '../../../support/sites/local-site.ts'
import { envelope, MESSAGE_ID, NOON } from '../../../support/messages.ts'
import { edgeModel, pollStatus } from '../../../support/sites/transport-site.ts'
import { withHotRows } from '../../../support/sites/hot-rows.ts'

type Body = Record<string, any>

async function central(t: ExecutionContext, token: string | undefined = TOKEN) {
  const site = await startCentral(folder(t), token === undefined ? {} : { token })
  t.teardown(site.stop)
  const post = async (path: string, body: unknown, bearer: string | undefined = TOKEN) => {
    const response = await fetch(`${site.url}/api/ingest/local${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(bearer !== '' && { authorization: `Bearer ${bearer}` }) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  return { ...site, post, enrol: () => post('/metadata', writeMetadata('A', 'e1', edgeModel('A'))) }
}

const point = (seq: number, change: Body = {}) => ({ id: 'p1', t: NOON + seq * 1000, v: seq, q: 'good' as const, ...change })
const telemetry = (seq: number, change: Body = {}): Body => ({
  ...writeTelemetry({ ...envelope(seq), protocol: 'bacnet', time_synced: null, readings: [point(seq) as never] }),
  ...change,
})
const wirePoint = (seq: number, change: Body = {}) => ({ ...point(seq), t: new Date(NOON + seq * 1000).toISOString(), ...change })

test('a message is stored once, a gap says where the mark stands', async t => {
  const { post, enrol, samples, ingestService } = await central(t)
  t.deepEqual((await enrol()).status, 200)
  const mark = { through_seq: 1, through_id: MESSAGE_ID }
  t.deepEqual(await post('', telemetry(1)), { status: 200, body: { ok: true, status: 'stored', ...mark, rejected: [] } })
  t.deepEqual(await post('', telemetry(1)), { status: 200, body: { ok: true, status: 'duplicate', ...mark, rejected: [] } })
  t.like(await post('', telemetry(4)), { status: 409, body: { ok: false, code: 'conflict', ...mark } })
  t.like(await post('', telemetry(2)), { status: 200, body: { status: 'stored', through_seq: 2 } })
  t.deepEqual(
    samples().map(({ v }) => v),
    [1, 2],
  )
  t.like(ingestService.counters(), { ingest_ok: 2, ingest_duplicate: 1, ingest_rejected: 0 })
})

test('a reading in another unit than its point’s is refused, in the same one it is stored', async t => {
  const { post, enrol, samples } = await central(t)
  await enrol()
  const { unit } = edgeModel('A').points[0]!
  const points = [wirePoint(1, { u: unit }), wirePoint(2, { u: 'kWh' }), wirePoint(3)]
  t.like((await post('', telemetry(1, { points }))).body, {
    status: 'stored',
    rejected: [{ pointer: 'points[id=p1]', reason: `u is kWh, and p1 was declared in ${unit}` }],
  })
  t.like((await post('', telemetry(2, { points: [wirePoint(4, { u: 'kWh' })] }))).body, { status: 'rejected' })
  t.like((await post('', telemetry(3, { points: [wirePoint(5, { u: 5 }), wirePoint(6)] }))).body, {
    status: 'stored',
    rejected: [{ pointer: 'points[0]' }],
  })
  t.deepEqual(
    samples().map(({ v }) => v),
    [1, 3, 6],
  )
})

test('readings that cannot be used are named one by one, and the rest is stored', async t => {
  const { post, enrol, samples } = await central(t)
  await enrol()
  const points = [wirePoint(1), wirePoint(2, { q: 'fine' }), wirePoint(3, { id: 'nobody' }), wirePoint(4, { id: 'p2' })]
  const { body } = await post('', telemetry(1, { points }))
  t.deepEqual(body, {
    ok: true,
    status: 'stored',
    through_seq: 1,
    through_id: MESSAGE_ID,
    rejected: [
      { pointer: 'points[1]', reason: 'points[1].q must be one of good, uncertain, bad, stale, not "fine"' },
      { pointer: 'points[id=nobody]', reason: 'nobody is not a point of building-A' },
    ],
  })
  t.deepEqual(
    samples().map(({ id, v }) => `${id} ${v}`),
    ['p1 1', 'p2 4'],
  )
  t.like((await post('', telemetry(2, { points: [wirePoint(5, { id: 'x' }), wirePoint(6, { id: 'y' })] }))).body, {
    status: 'rejected',
    through_seq: 2,
    rejected: [{ reason: 'x is not a point of building-A' }, { reason: 'y is not a point of building-A' }],
  })
  t.like((await post('', telemetry(3, { sent_at: 'noon' }))).body, {
    status: 'rejected',
    through_seq: 3,
    rejected: [{ pointer: '', reason: 'sent_at must be an RFC 3339 time with offset, not "noon"' }],
  })
  t.is(samples().length, 2)
})

const REFUSED: { what: string; path?: string; body: unknown; status: number; code: string; says: RegExp }[] = [
  { what: 'no JSON', body: '{"points":', status: 400, code: 'bad_request', says: /JSON/ },
  { what: 'a list', body: [], status: 400, code: 'bad_request', says: /object/ },
  { what: 'no edge', body: {}, status: 400, code: 'bad_request', says: /site_id must be an id/ },
  {
    what: 'no protocol',
    body: telemetry(1, { protocol: 'csv' }),
    status: 400,
    code: 'bad_request',
    says: /protocol must be one of/,
  },
  { what: 'no place', body: telemetry(1, { seq: 0 }), status: 400, code: 'bad_request', says: /seq must be a whole number/ },
  {
    what: 'another site',
    body: telemetry(1, { site_id: 'B' }),
    status: 422,
    code: 'invalid',
    says: /site_id is B; .* of site A/,
  },
  { what: 'another edge', body: telemetry(1, { edge_id: 'e9' }), status: 404, code: 'unknown_edge', says: /A\/e9 is not known/ },
  { what: 'too much', body: telemetry(1, { x: 'x'.repeat(300_000) }), status: 413, code: 'too_large', says: /262144/ },
  {
    what: 'metadata of another site’s building',
    path: '/metadata',
    body: writeMetadata('A', 'e2', { ...edgeModel('A'), building: { ...edgeModel('A').building, site_id: 'B' } }),
    status: 422,
    code: 'invalid',
    says: /building building-A is assigned to site B/,
  },
  {
    what: 'no metadata',
    path: '/metadata',
    body: { site_id: 'A', edge_id: 'e1' },
    status: 400,
    code: 'bad_request',
    says: /schema/,
  },
  { what: 'no status', path: '/status', body: { site_id: 'A', edge_id: 'e1' }, status: 400, code: 'bad_request', says: /online/ },
  {
    what: 'no poll report',
    path: '/status',
    body: { site_id: 'A', edge_id: 'e1', online: true, poll: { enabled: 1 } },
    status: 400,
    code: 'bad_request',
    says: /poll\.enabled must be true or false/,
  },
]
test('what is not taken is refused with its reason, and stores nothing', async t => {
  const { post, enrol, samples } = await central(t)
  await enrol()
  for (const { what, path = '', body, status, code, says } of REFUSED) {
    const answer = await post(path, body)
    t.like(answer, { status, body: { ok: false, code } }, what)
    t.regex(answer.body['detail'], says, what)
  }
  t.deepEqual(samples(), [])
})

test('only those who know the token are let in, and nobody where there is none', async t => {
  const site = await central(t)
  t.like(await site.post('', telemetry(1), ''), { status: 401, body: { code: 'unauthenticated' } })
  t.like(await site.post('', telemetry(1), `${TOKEN}x`), { status: 401, body: { code: 'unauthenticated' } })
  const { token } = await site.auth.login('admin', 'admin-password-1', '127.0.0.1')
  t.like(await site.post('', telemetry(1), token), { status: 403, body: { code: 'forbidden' } })
  const poll = await fetch(`${site.url}/api/bacnet/poll/status`, { headers: { authorization: `Bearer ${TOKEN}` } })
  t.is(poll.status, 401)

  const off = await startCentral(folder(t))
  t.teardown(off.stop)
  for (const authorization of ['Bearer ', `Bearer ${TOKEN}`, 'Bearer undefined']) {
    const response = await fetch(`${off.url}/api/ingest/local`, { method: 'POST', headers: { authorization }, body: '' })
    const body = (await response.json()) as Body
    t.like({ status: response.status, ...body }, { status: 403, code: 'forbidden' })
    t.is(body['detail'], 'This route is closed: SERVICE_LOCAL_INGEST_TOKEN is not set')
  }
})

test('the answer to a status has the one notice that there is, and no list where there is none', async t => {
  const { post, enrol, model } = await central(t)
  await enrol()
  const status = (edge_id: string) => ({ site_id: 'A', edge_id, online: true, version: '0.1.0', boot_id: `boot-${edge_id}` })
  t.false('notices' in (await post('/status', status('e1'))).body)
  const { building } = edgeModel('B')
  model.put({ building })
  t.is((await post('/metadata', writeMetadata('A', 'e2', edgeModel('A', building.building_id)))).status, 422)
  const { body } = await post('/status', status('e2'))
  t.deepEqual(
    body['notices']?.map(({ code }: { code: string }) => code),
    ['metadata_refused'],
    JSON.stringify(body),
  )
})

test('what the store cannot take is 503 and is taken when it can', async t => {
  const { post, enrol, inbox, ingestService } = await central(t)
  await enrol()
  const { accept } = inbox
  inbox.accept = () => {
    throw new Error('database or disk is full')
  }
  const answer = await post('', telemetry(1))
  t.like(answer, { status: 503, body: { code: 'not_ready', detail: 'It could not be stored: database or disk is full' } })
  inbox.accept = accept
  t.like((await post('', telemetry(1))).body, { status: 'stored' })
  t.like(ingestService.ingest.monitor.counts(), { ingest_failed: 1, ingest_ok: 1 })
})

test('the poll status of a central without drivers is that of its edges', async t => {
  const { post, enrol, url, auth } = await central(t)
  await enrol()
  const { token } = await auth.login('viewer', 'viewer-password-1', '127.0.0.1')
  const ask = async () => (await fetch(`${url}/api/bacnet/poll/status`, { headers: { authorization: `Bearer ${token}` } })).json()
  t.like(await ask(), { ok: true, enabled: false, running: false, points_ok: 0, devices: [], edges: [] })
  const device = { device_id: 'ahu-1', state: 'down', since: '2026-03-01T12:00:00Z', rtt_ms_p50: null, rtt_ms_p95: null }
  const rest = { reads: 3, errors: 3, last_ok_at: null, last_error: 'silent', next_due_at: null, batch_size: null }
  const poll = writePollReport({ ...pollStatus, points_down: 1, devices: [{ ...device, ...rest } as never] })
  const status = { site_id: 'A', edge_id: 'e1', online: true, version: '1', poll }
  t.like(await post('/status', status), { status: 200, body: { ok: true } })
  t.like(await ask(), {
    enabled: true,
    running: true,
    cycles: 7,
    points_ok: 2,
    points_down: 1,
    devices: [{ ...device, ...rest, edge_id: 'e1' }],
    edges: [{ edge_id: 'e1', site_id: 'A', cycles: 7, devices_total: 1 }],
  })
})

test('an edge that says nothing over HTTP for a while counts as gone, also across a restart', t => {
  const at = { now: NOON }
  const clock = { now: () => at.now, sleep: () => Promise.resolve() }
  const { model, edges, inbox, claims } = storesOf(t)
  const open = () => {
    const flow = new Ingest({ inbox, model, edges, claims, clock, notify: () => undefined })
    return { flow, local: new LocalIngest(flow, 'A') }
  }
  const first = open()
  first.local.applyMetadata(writeMetadata('A', 'e1', edgeModel('A')) as Body)
  first.local.applyStatus({ site_id: 'A', edge_id: 'e1', online: true })
  at.now += 60_000
  first.flow.registry.flush()
  t.is(edges.get('A', 'e1')?.online, true)
  const second = open()
  at.now += 60_000
  second.flow.registry.flush()
  t.is(edges.get('A', 'e1')?.online, true)
  at.now += 60_000
  second.flow.registry.flush()
  t.like(edges.get('A', 'e1'), { online: false, status: 'disconnected', last_seen_at: NOON })
})

/** The stores of a central in a folder of their own. */
function storesOf(t: ExecutionContext) {
  const db = openDatabase(join(folder(t), 'plenum.db'))
  t.teardown(() => db.close())
  return { db, inbox: openInbox(db), model: modelStore(db), edges: edgeStore(db), claims: edgeClaimStore(db) }
}

test('the same messages both ways, in any order and through restarts, are stored once and in order', t => {
  const step = fc.oneof(
    fc.record({ way: fc.constantFrom('mqtt' as const, 'local' as const), seq: fc.integer({ min: 1, max: 8 }) }),
    fc.constant('restart' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const { db, model, edges, claims } = storesOf(t)
      let ok = 0
      const open = () => {
        const flow = new Ingest({ inbox: openInbox(db), model, edges, claims, clock: wallClock, notify: () => undefined })
        return { flow, local: new LocalIngest(flow, 'A') }
      }
      let now = open()
      now.local.applyMetadata(writeMetadata('A', 'e1', edgeModel('A')) as Body)
      let mark = 0
      for (const one of [...steps, 'restart' as const]) {
        if (one === 'restart') {
          ok += now.flow.monitor.counts().ingest_ok
          now = open()
          continue
        }
        const body = telemetry(one.seq)
        if (one.seq === mark + 1) mark++
        const through =
          one.way === 'local'
            ? now.local.storeTelemetry(body).through_seq
            : processPublish(now.flow, 'sites/A/edges/e1/telemetry/bacnet', packBody(body))?.ack?.through_seq
        t.is(through, mark)
      }
      t.is(ok, mark)
      const values = withHotRows(db).prepare('SELECT value FROM hot_rows ORDER BY ts').pluck().all()
      t.deepEqual(
        values,
        Array.from({ length: mark }, (_, i) => i + 1),
      )
    }),
    { numRuns: 30 },
  )
})
