import { createServer as createHttps } from 'node:https'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { HISTORY_SCHEMA, HistoryAnswer } from '#shared/core/priority/priority-wire.ts'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import { PROBLEMS } from '#shared/core/problem.ts'
import { schemaErrors } from '#shared/node/http/schema-check.ts'
import { priorityOperations } from '#appliance/priority/history-service.ts'
import { responder } from '#appliance/services/responder.ts'
import { openEdge, silent, VISIT_ID } from '../../support/sites/priority-edge.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { startMosquitto } from '../../support/brokers/mosquitto.ts'
import { joinBroker, listen, openHub } from './hub-site.ts'

const schema = HISTORY_SCHEMA
const path = (edge_id: string, rest = '') => `/api/connectors/${edge_id}/priority-history${rest}`

async function mosquitto(t: ExecutionContext, certs: string): Promise<number> {
  const port = await freePort()
  const identities = [
    { kind: 'edge', site_id: 'A', edge_id: 'edge-1' },
    { kind: 'central', site_id: '*' },
  ] as const
  await startMosquitto(t, certs, identities.map(toMosquittoAcl).join('\n'), port)
  return port
}

const TRANSPORTS = ['https', 'broker', 'mosquitto'] as const

/** An edge that the hub reaches by one transport: its HTTPS port, our broker, or mosquitto with the printed ACL. */
async function openReachable(t: ExecutionContext, transport: (typeof TRANSPORTS)[number]) {
  const hub = await openHub(t, transport === 'mosquitto' ? { brokerAt: mosquitto } : {})
  const edge = await openEdge(t)
  const { kit } = await joinBroker(t, hub, 'edge-1', transport === 'https' ? undefined : edge.service)
  if (transport === 'https') {
    const { url } = await listen(t, hub, kit, edge.service)
    const set = await hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url: url })
    t.like(set, { status: 200, body: { connector_url: `${url}/` } })
  }
  return { hub, ...edge }
}

for (const transport of TRANSPORTS) {
  test(`over ${transport}: pages while 2,000 records arrive, a trigger, its visit, and the problems of the edge`, async t => {
    const { hub, fill, triggered, set } = await openReachable(t, transport)
    await fill(1, 600)
    const seen: number[] = []
    let cursor: string | undefined
    do {
      const { status, body } = await hub.call('viewer', 'POST', path('edge-1'), { schema, page_size: 100, cursor })
      t.is(status, 200, JSON.stringify(body).slice(0, 300))
      t.deepEqual(schemaErrors(HistoryAnswer, body), [])
      seen.push(...body.records.map(({ seq }: { seq: number }) => seq))
      cursor = body.next_cursor
      await fill(1000 + seen.length, 1332 + seen.length)
    } while (cursor !== undefined)
    t.deepEqual(
      seen,
      Array.from({ length: 600 }, (_, i) => 600 - i),
    )
    const triggering = await hub.call('agent', 'POST', path('edge-1', '/trigger'), { device_instance: 1001 })
    t.deepEqual(triggering, { status: 202, body: { ok: true, visit_id: VISIT_ID, device_instance: 1001 } })
    t.deepEqual(triggered, [1001])
    t.like(hub.rows.at(-1), { actor: 'agent', action: 'priority_trigger', subject: 'A/edge-1' })
    set({ state: 'idle' })
    t.is((await hub.call('agent', 'POST', path('edge-1', '/trigger'))).status, 202, 'without a body')
    t.is((await hub.call('viewer', 'POST', path('edge-1'))).body.records?.length, 100, 'without a body')
    const visit = await hub.call('viewer', 'GET', path('edge-1', `/visits/${VISIT_ID}`))
    t.like(visit, { status: 200, body: { visit_id: VISIT_ID, state: 'visiting', source: 'triggered', completed_at: null } })
    const table: [string, string, string, unknown, number, string][] = [
      ['agent', 'POST', '/trigger', {}, 409, 'visit_in_progress'],
      ['viewer', 'GET', '/visits/5d5f7f0e-0000', undefined, 404, 'unknown_visit'],
      ['viewer', 'POST', '', { schema, cursor: `5.${'A'.repeat(43)}` }, 400, 'bad_cursor'],
    ]
    for (const [who, method, rest, body, status, code] of table) {
      t.like(await hub.call(who as 'agent', method, path('edge-1', rest), body), { status, body: { code, ok: false } }, code)
    }
    set({ enabled: false, state: 'disabled', reason: 'SERVICE_PRIORITY_SCAN_ENABLED is 0' })
    t.like(await hub.call('agent', 'POST', path('edge-1', '/trigger'), {}), { status: 409, body: { code: 'scanner_disabled' } })
    const { body } = await hub.call('viewer', 'POST', path('edge-1'), { schema, page_size: 1 })
    t.like(body.scanner, { state: 'disabled', reason: 'SERVICE_PRIORITY_SCAN_ENABLED is 0' })
  })
}

const BAD: [string, object][] = [
  ['/schema', { schema: 'svc_priority_history_v2' }],
  ['/page_size', { schema, page_size: 0 }],
  ['/page_size', { schema, page_size: 101 }],
  ['/page_size', { schema, page_size: '5' }],
  ['/since', { schema, since: 'yesterday' }],
  ['/since', { schema, since: '2026-02-30T00:00:00Z' }],
  ['/target/object_instance', { schema, target: { device_instance: 1, object_type: 'analog-output' } }],
  [
    '/target/device_instance',
    { schema, target: { device_instance: 4_194_303, object_type: 'analog-output', object_instance: 1 } },
  ],
  ['/cursor', { schema, cursor: 'x'.repeat(65) }],
  ['/extra', { schema, extra: 1 }],
]
test('an invalid request is refused with the name of the field, by the hub and by the edge', async t => {
  const { hub, service } = await openReachable(t, 'broker')
  const answer = responder(priorityOperations(service), silent)
  for (const [pointer, request] of BAD) {
    const { status, body } = await hub.call('viewer', 'POST', path('edge-1'), request)
    t.is(status, 400, pointer)
    t.true(JSON.stringify(body.errors).includes(pointer.split('/').at(-1)!), `hub: ${pointer}: ${JSON.stringify(body.errors)}`)
    const asked = { schema: 'svc_edge_request_v1', correlation_id: VISIT_ID, operation: 'priority_history', request }
    const edge = (await answer(Buffer.from(JSON.stringify(asked)))) as { status: number; body: { errors: { pointer: string }[] } }
    t.is(edge.status, 400, pointer)
    t.is(edge.body.errors[0]?.pointer, pointer)
  }
})

test('a trigger by a viewer is refused before a packet leaves the hub, over HTTPS and over the broker', async t => {
  const hub = await openHub(t)
  const edge = await openEdge(t)
  const { kit, heard } = await joinBroker(t, hub, 'edge-1', edge.service)
  const listening = await listen(t, hub, kit, edge.service)
  let connections = 0
  const server = createHttps({ cert: listening.pair.connector_cert_pem, key: listening.pair.connector_key_pem })
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const ask = (who: 'viewer' | 'nobody') => hub.call(who, 'POST', path('edge-1', '/trigger'), {})
  t.like(await ask('viewer'), { status: 403, body: { code: 'forbidden' } })
  t.is((await ask('nobody')).status, 401)
  const connector_url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.is((await hub.call('viewer', 'PUT', '/api/connectors/edge-1', { connector_url })).status, 403)
  await hub.call('admin', 'PUT', '/api/connectors/edge-1', { connector_url })
  t.is((await ask('viewer')).status, 403)
  t.is((await ask('nobody')).status, 401)
  await hub.call('admin', 'PUT', '/api/connectors/edge-1', { connector_url: null })
  t.is((await hub.call('viewer', 'POST', path('edge-1'), { schema })).status, 200, 'an allowed request reaches the edge')
  t.deepEqual(heard, ['priority_history'], 'and no other request did')
  t.is(connections, 0)
  t.deepEqual(edge.triggered, [])
})

test('an edge that is unknown, offline, silent, slow, unreachable or answers nonsense has a problem code each', async t => {
  const hub = await openHub(t, { timeoutMs: 5000 })
  const { service } = await openEdge(t)
  const { kit, stop } = await joinBroker(t, hub, 'edge-1', service)
  await joinBroker(t, hub, 'silent', undefined)
  const ask = (edge_id: string) => hub.call('viewer', 'POST', path(edge_id), { schema })
  const wants = async (edge_id: string, status: number, code: string, words: RegExp) => {
    const answer = await ask(edge_id)
    t.like(answer, { status, body: { code } }, words.source)
    t.regex(answer.body.detail, words)
  }
  await wants('nobody', 404, 'unknown_edge', /No edge nobody/)
  await wants('silent', 504, 'edge_timeout', /did not answer over the broker within 5 s/)
  await stop()
  await wants('edge-1', 502, 'edge_unreachable', /not connected to the broker/)

  const { pair, url, stop: close } = await listen(t, hub, kit, service)
  const set = (connector_url: string) => hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url })
  await set(url)
  t.is((await ask('edge-1')).status, 200)
  await close()
  await wants('edge-1', 502, 'edge_unreachable', /cannot be reached: .*ECONNREFUSED/)

  const tls = { cert: pair.connector_cert_pem, key: pair.connector_key_pem }
  const answers: [string, number, string, RegExp, ((send: (status: number, body: string) => void) => void)?][] = [
    ['slow', 504, 'edge_timeout', /did not answer within 5 s/, () => undefined],
    ['no JSON', 502, 'edge_failed', /is not JSON/, send => send(200, '<html>')],
    ['lists in lists', 502, 'edge_failed', /nested deeper than 32/, send => send(200, '['.repeat(60_000) + ']'.repeat(60_000))],
    ['another answer', 502, 'edge_failed', /does not match the schema: /, send => send(200, '{"ok":true}')],
    ['too much', 502, 'edge_failed', /more than 262144 bytes/, send => send(200, ' '.repeat(300_000))],
    ['a refusal', 502, 'edge_failed', /answered with 403: Nobody is let in/, send => send(403, problem('Nobody is let in'))],
    ['a redirect', 502, 'edge_failed', /answered with 302/, send => send(302, '{}')],
    ['its own error', 502, 'edge_failed', /answered with 500/, send => send(500, '{"code":"internal","detail":"x"}')],
  ]
  for (const [, status, code, words, reply] of answers) {
    const server = createHttps(tls, (_request, response) => {
      reply?.((answer, body) => response.writeHead(answer, { location: url }).end(body))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    await set(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await wants('edge-1', status, code, words)
    server.closeAllConnections()
  }
})

const problem = (detail: string) => JSON.stringify({ code: 'forbidden', detail })

test('an edge with a certificate of another authority, or for another name, gets no token', async t => {
  const hub = await openHub(t)
  const stranger = await openHub(t)
  const { service } = await openEdge(t)
  const { kit } = await joinBroker(t, hub, 'edge-1', service)
  const foreign = await listen(t, stranger, kit, service)
  const ask = () => hub.call('viewer', 'POST', path('edge-1'), { schema })
  await hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url: foreign.url })
  t.like(await ask(), { status: 502, body: { code: 'edge_unreachable' } })
  const own = await listen(t, hub, kit, service)
  await hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url: own.url.replace('127.0.0.1', 'localhost') })
  const misnamed = await ask()
  t.like(misnamed, { status: 502, body: { code: 'edge_unreachable' } })
  t.regex(misnamed.body.detail, /altnames/)
})

test('an edge accepts only its own token on its HTTPS port, and does not start one without a token in its kit', async t => {
  const hub = await openHub(t)
  const { service } = await openEdge(t)
  const { kit } = await joinBroker(t, hub, 'edge-1', service)
  const other = await hub.pki.kit({ site_id: 'A', edge_id: 'edge-2', ...hub.place })
  const listening = await listen(t, hub, { ...kit, token: other.token! }, service)
  await hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url: listening.url })
  const { status, body } = await hub.call('viewer', 'POST', path('edge-1'), { schema })
  t.deepEqual([status, body.code], [502, 'edge_failed'])
  t.regex(body.detail, /answered with 401/)
  const { token: _, ...older } = kit
  await t.throwsAsync(async () => listen(t, hub, older, service), {
    message: /SERVICE_CONNECTOR_PORT: the kit lacks edge\.token/,
  })
})

test('an address must be an HTTPS URL, survives new metadata, and can be removed', async t => {
  const hub = await openHub(t)
  const { stop } = await joinBroker(t, hub, 'edge-1', undefined)
  const put = (connector_url: unknown) => hub.call('agent', 'PUT', '/api/connectors/edge-1', { connector_url })
  for (const [url, status] of [
    ['http://box.example', 422],
    ['https://user:pw@box.example', 422],
    ['https://box.example/?x=1', 422],
    ['https://box.example/#x', 422],
    ['box.example', 422],
    ['', 400],
    [7, 400],
    ['https://box.example:8443/plant', 200],
  ] as const) {
    t.is((await put(url)).status, status, String(url))
  }
  t.is((await hub.call('agent', 'PUT', '/api/connectors/edge-2', { connector_url: null })).status, 404)
  await stop()
  await joinBroker(t, hub, 'edge-1', undefined)
  const read = await hub.call('viewer', 'GET', '/api/connectors/edge-1')
  t.deepEqual(read.body, { ok: true, edge_id: 'edge-1', site_id: 'A', connector_url: 'https://box.example:8443/plant/' })
  t.like(await put(null), { status: 200, body: { connector_url: null } })
})

test('with one edge id at two sites, site_id selects the edge; without it a 409 names the sites', async t => {
  const hub = await openHub(t)
  const [school, annex] = [await openEdge(t), await openEdge(t)]
  await joinBroker(t, hub, 'edge-1', school.service)
  const ask = (query = '') => hub.call('viewer', 'POST', path('edge-1') + query, { schema })
  t.is((await ask()).status, 200, 'the id alone is enough while it is unique')
  const other = await joinBroker(t, hub, 'edge-1', annex.service, 'B')
  const refused = await ask()
  t.like(refused, { status: 409, body: { code: 'ambiguous_edge' } })
  t.regex(refused.body.detail, /edge-1: A, B/)
  t.is((await ask('?site_id=B')).status, 200)
  t.deepEqual(other.heard, ['priority_history'], 'only the request with site_id=B reached the edge of B')
  t.is((await ask('?site_id=C')).status, 404)
  const connector_url = 'https://box.example/'
  const put = (query: string) => hub.call('agent', 'PUT', `/api/connectors/edge-1${query}`, { connector_url })
  t.is((await put('')).status, 409)
  t.like(await put('?site_id=B'), { status: 200, body: { site_id: 'B', connector_url } })
  t.is(hub.edges.get('A', 'edge-1')!.connector_url, undefined)
  t.deepEqual(
    hub.rows.map(({ action, subject }) => [action, subject]),
    [['connector_url', 'B/edge-1']],
  )
})

test('a fifth concurrent request to one edge is refused', async t => {
  const hub = await openHub(t, { timeoutMs: 8000 })
  await joinBroker(t, hub, 'silent', undefined)
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => hub.call('viewer', 'POST', path('silent'), { schema })))
  t.deepEqual(answers.map(({ body }) => body.code).toSorted(), [...Array(4).fill('edge_timeout'), 'not_ready'])
})

test('API.md of the hub lists every connector route with its role and problem codes', async t => {
  const { routes } = await openHub(t)
  const text = readFileSync(new URL('../../../hub/API.md', import.meta.url), 'utf8')
  for (const { method, path: place, auth, problems = [] } of routes) {
    const row = text.split('\n').find(line => line.startsWith(`| ${method} | \`${place}\` | ${auth} |`))
    t.truthy(row, `${method} ${place}`)
    t.deepEqual([...row!.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!).toSorted(), [...problems].toSorted(), place)
    for (const code of problems) t.true(code in PROBLEMS)
  }
})
