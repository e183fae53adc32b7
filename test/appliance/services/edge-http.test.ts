/** The HTTP server of a protocol process, over real HTTP. */
import test, { type ExecutionContext } from 'ava'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { readEnv } from '#shared/core/env.ts'
import { wallClock } from '#shared/node/clock.ts'
import { complainOfSplitEdge, SPLIT_EDGE_VARIABLES } from '#appliance/env.ts'
import { edgeHttp, type EdgeHttpOptions } from '#appliance/services/edge-http.ts'
import { PUBLISHER_OFF } from '#appliance/services/publisher.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'

const TOKEN = 'local-token-for-tests-0123456789abcdef'
const polling: PollStatus = {
  ...{ ok: true, enabled: true, running: true, cycles: 3, late_cycles: 0 },
  ...{ points_ok: 5, points_stale: 0, points_down: 1, points_fault: 0, devices: [] },
}
const away = { ...PUBLISHER_OFF, state: 'connecting' as const, reason: 'nobody answers', backlog: 4 }

async function opened(t: ExecutionContext, change: Partial<EdgeHttpOptions> = {}) {
  const http = await edgeHttp({
    name: 'fieldbus',
    version: '0.0.0+000000000000',
    settings: { SERVICE_EDGE_PORT: 0, SERVICE_CONTAINER: false, SERVICE_LOCAL_INGEST_TOKEN: TOKEN },
    pollStatus: () => polling,
    storing: () => ({ waiting: 3, waiting_max: 50_000 }),
    traffic: () => [{ protocol: 'bacnet', sent_bytes: 120, received_bytes: 340 }],
    publishers: { hub: () => PUBLISHER_OFF, central: () => away },
    clock: wallClock,
    log: SILENT,
    ...change,
  })
  await http.start()
  t.teardown(() => http.stop())
  const get = async (path: string, bearer?: string) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    const response = await fetch(http.url() + path, { headers })
    return { status: response.status, body: (await response.json()) as Record<string, any> }
  }
  return { http, get }
}

test('health is open, counts points and says which way is away', async t => {
  const { http, get } = await opened(t)
  t.regex(http.url(), /^http:\/\/127\.0\.0\.1:/)
  const { status, body } = await get('/api/health')
  t.is(status, 200)
  t.like(body, {
    ok: true,
    service: 'fieldbus',
    checks: {
      poll: { status: 'ok', points_ok: 5, points_down: 1 },
      central: { status: 'warn', state: 'connecting', backlog: 4 },
    },
  })
  t.is(body['checks'].hub, undefined)
  t.notRegex(JSON.stringify(body), /nobody answers/)
  t.is((await get('/api/health/details')).status, 401)
  t.is((await get('/api/health/details', TOKEN)).body['checks'].central.detail, 'nobody answers')
})

test('readings that are not stored are a warning, and after a minute a failure; what waits is said with its bound', async t => {
  const since = Date.now()
  const trouble = { reason: 'no space left on device', since }
  const at = { now: since + 59_900 }
  const clock = { ...wallClock, now: () => at.now }
  const { get } = await opened(t, { clock, storing: () => ({ waiting: 41, waiting_max: 50_000, trouble }) })
  const detail = 'readings are queued because they cannot be stored: no space left on device'
  const figures = { points_ok: 5, readings_waiting: 41, readings_waiting_max: 50_000 }
  t.like(await get('/api/health/details', TOKEN), {
    status: 200,
    body: { checks: { poll: { status: 'warn', detail, ...figures } } },
  })
  t.like(await get('/api/health'), { status: 200, body: { ok: true, checks: { poll: { status: 'warn', ...figures } } } })
  at.now = since + 60_000
  t.like(await get('/api/health'), {
    status: 503,
    body: { ok: false, checks: { poll: { status: 'fail', not_stored_secs: 60 } } },
  })
})

test('a way that is up but cannot read what waits is a warning', async t => {
  const stuck = { ...PUBLISHER_OFF, state: 'up' as const, reason: 'the outbox cannot be read', backlog: 23 }
  const { get } = await opened(t, { publishers: { hub: () => PUBLISHER_OFF, central: () => stuck } })
  t.like(await get('/api/health'), { status: 200, body: { checks: { central: { status: 'warn', state: 'up' } } } })
})

test('a process that should poll and does not is not healthy; one that has nothing to poll is', async t => {
  const { get } = await opened(t, { pollStatus: () => ({ ...polling, running: false }) })
  t.like(await get('/api/health'), { status: 503, body: { ok: false, checks: { poll: { status: 'fail' } } } })
  const idle = await opened(t, { pollStatus: () => ({ ...polling, running: false, enabled: false }) })
  t.is((await idle.get('/api/health')).status, 200)
})

test('the poll status takes the shared token and no other', async t => {
  const { get } = await opened(t)
  t.like(await get('/api/bacnet/poll/status', TOKEN), { status: 200, body: { ok: true, points_ok: 5, edges: [] } })
  t.is((await get('/api/bacnet/poll/status')).status, 401)
  t.is((await get('/api/bacnet/poll/status', 'x'.repeat(38))).status, 401)
  const settings = { SERVICE_EDGE_PORT: 0, SERVICE_CONTAINER: false, SERVICE_LOCAL_INGEST_TOKEN: undefined }
  const closed = await opened(t, { settings })
  const detail = 'This route is closed: SERVICE_LOCAL_INGEST_TOKEN is not set'
  t.like(await closed.get('/api/bacnet/poll/status', 'undefined'), { status: 403, body: { code: 'forbidden', detail } })
})

test('in a container the door is open to every address in it', async t => {
  const settings = { SERVICE_EDGE_PORT: 0, SERVICE_CONTAINER: true, SERVICE_LOCAL_INGEST_TOKEN: TOKEN }
  const { http } = await opened(t, { settings })
  t.is((http.app.server.address() as { address: string }).address, '0.0.0.0')
})

const COMPLAINTS: [Record<string, string>, string[]][] = [
  [{}, []],
  [
    { SERVICE_MQTT_ENABLED: '0' },
    ['SERVICE_CENTRAL_URL, SERVICE_MQTT_ENABLED: readings would go nowhere; set the address of central, or 1'],
  ],
  [{ SERVICE_CENTRAL_URL: 'http://127.0.0.1:8080' }, ['SERVICE_LOCAL_INGEST_TOKEN: SERVICE_CENTRAL_URL needs it']],
  [{ SERVICE_CENTRAL_URL: 'http://central:8080/', SERVICE_LOCAL_INGEST_TOKEN: TOKEN, SERVICE_MQTT_ENABLED: '0' }, []],
  [{ SERVICE_CENTRAL_URL: 'central:8080' }, ['SERVICE_CENTRAL_URL: does not fit ^https?:\\/\\/[^/?#]+\\/?$, not "central:8080"']],
  [
    { SERVICE_CENTRAL_URL: 'http://central:99999', SERVICE_LOCAL_INGEST_TOKEN: TOKEN },
    ['SERVICE_CENTRAL_URL: is no address of a host and a port'],
  ],
  [
    { SERVICE_CENTRAL_URL: 'http://user:secret@central:8080', SERVICE_LOCAL_INGEST_TOKEN: TOKEN },
    ['SERVICE_CENTRAL_URL: takes no user name or password; SERVICE_LOCAL_INGEST_TOKEN shows who sends'],
  ],
  ...[`${TOKEN} with spaces`, `${TOKEN}\u0001`, `${TOKEN}€`].map((token): (typeof COMPLAINTS)[number] => [
    { SERVICE_LOCAL_INGEST_TOKEN: token },
    ['SERVICE_LOCAL_INGEST_TOKEN: does not fit ^[\\x21-\\x7e]+$'],
  ]),
  [{ SERVICE_LOCAL_INGEST_TOKEN: 'short' }, ['SERVICE_LOCAL_INGEST_TOKEN: takes at least 32 characters']],
]
test('a protocol process needs somewhere to send, and a token for central', t => {
  for (const [env, wanted] of COMPLAINTS) {
    const read = readEnv(SPLIT_EDGE_VARIABLES, { env }, () => '')
    t.deepEqual(read.ok ? complainOfSplitEdge(read.settings) : read.complaints, wanted)
  }
})
