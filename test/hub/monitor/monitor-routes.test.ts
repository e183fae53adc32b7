import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import pino, { type Logger } from 'pino'
import test, { type ExecutionContext } from 'ava'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { monitorRoutes } from '#hub/monitor/monitor.route.ts'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { startCentral, type TestCentral } from '../../support/sites/central-site.ts'
import { folder, until } from '../../support/folders.ts'
import { edgeModel, linkWith, openHubSite, silent } from '../../support/sites/transport-site.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { packBody } from '#shared/core/telemetry/body.ts'

const TOPIC = 'sites/A/edges/e1/telemetry/bacnet'
const body = (seq: number) => Buffer.from(JSON.stringify({ seq }))

/** A server with the routes of a monitor, signed in as a viewer of central. */
async function openMonitor(t: ExecutionContext, log: Logger = silent) {
  const monitor = new MqttMonitor(Date.now)
  const central: TestCentral = await startCentral()
  t.teardown(central.close)
  const { context } = central.central
  const layout = createPageLayout(context, { product: 'hub', name: 'Test', first: 'Fleet' })
  const http = await openHttp({
    name: 'monitor',
    host: '127.0.0.1',
    port: 0,
    routes: monitorRoutes(monitor, layout),
    auth: context.auth,
    audit: context.audit,
    log,
    version: '0',
    trustedProxies: [],
  })
  await http.start()
  t.teardown(http.stop)
  const { body: login } = await central.call('nobody', 'POST', '/api/auth/login', {
    username: 'viewer',
    password: 'viewer-password-1',
  })
  const headers = { authorization: `Bearer ${login.token}` }
  const get = (path: string, more: Record<string, string> = {}) => fetch(http.url() + path, { headers: { ...headers, ...more } })
  return { monitor, get, url: http.url(), headers }
}

type Event = { name: string; id: number; data: any }

/** Reads events until one of them satisfies, then leaves. */
async function readEvents(response: Response, isLast: (event: Event) => boolean): Promise<Event[]> {
  const events: Event[] = []
  let text = ''
  for await (const bytes of response.body!.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    text += bytes
    const parts = text.split('\n\n')
    text = parts.pop()!
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
      if (field('event') === undefined) continue
      const event = { name: field('event')!, id: Number(field('id')), data: JSON.parse(field('data')!) }
      events.push(event)
      if (isLast(event)) return events
    }
  }
  return events
}

test('the snapshot has the last messages and goes on after one of them', async t => {
  const { monitor, get, url } = await openMonitor(t)
  for (let seq = 1; seq <= 3; seq++) monitor.record('received', TOPIC, body(seq))
  const json = async (path: string): Promise<any> => (await get(path)).json()
  const all = await json('/api/mqtt/monitor')
  t.like(all, { ok: true, connected: false, messages: 3, dropped: 0 })
  t.deepEqual(
    all.recent.map(({ preview }: { preview: string }) => preview),
    ['{"seq":1}', '{"seq":2}', '{"seq":3}'],
  )
  t.regex(all.recent[0].at, /^\d{4}-.*Z$/)
  const rest = await json('/api/mqtt/monitor?after=2')
  t.deepEqual(
    rest.recent.map(({ id }: { id: number }) => id),
    [3],
  )
  t.deepEqual((await json('/api/mqtt/monitor?kind=status')).recent, [])
  t.is((await get('/api/mqtt/monitor?kind=everything')).status, 400)
  t.is((await get('/api/mqtt/monitor?limit=201')).status, 400)
  t.is((await fetch(`${url}/api/mqtt/monitor`)).status, 401)
  t.is((await fetch(`${url}/api/mqtt/monitor/stream`)).status, 401)
})

test('the stream sends new messages, and after a lost connection those since the last one', async t => {
  const { monitor, get } = await openMonitor(t)
  monitor.record('received', TOPIC, body(1))
  const response = await get('/api/mqtt/monitor/stream')
  t.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const reading = readEvents(response, ({ id, name }) => name === 'stats' && id === 3)
  await setTimeout(50)
  monitor.record('received', TOPIC, body(2))
  monitor.record('received', TOPIC, body(3))
  const events = await reading
  t.deepEqual(
    events.filter(({ name }) => name === 'message').map(({ data }) => data.preview),
    ['{"seq":2}', '{"seq":3}'],
  )
  t.is(events[0]!.name, 'connection')
  const again = await readEvents(
    await get('/api/mqtt/monitor/stream', { 'last-event-id': '1' }),
    ({ id, name }) => name === 'message' && id === 3,
  )
  t.deepEqual(
    again.filter(({ name }) => name === 'message').map(({ id }) => id),
    [2, 3],
  )
})

test('a burst is cut to at most 20 events a second, and the rest is counted', async t => {
  const { monitor, get } = await openMonitor(t)
  const response = await get('/api/mqtt/monitor/stream')
  const begun = performance.now()
  const reading = readEvents(response, ({ data }) => data.dropped > 0)
  await setTimeout(20)
  for (let seq = 1; seq <= 100; seq++) monitor.record('received', TOPIC, body(seq))
  const events = await reading
  const shown = events.filter(({ name }) => name === 'message').map(({ id }) => id)
  t.deepEqual(shown.slice(-9), [92, 93, 94, 95, 96, 97, 98, 99, 100])
  t.is(events.at(-1)!.data.dropped + shown.length, 100)
  t.true(events.length <= 20 * Math.ceil((performance.now() - begun) / 1000))
})

test('markup in a payload is text on the page', async t => {
  const { monitor, get } = await openMonitor(t)
  monitor.record('received', 'sites/A/edges/e1/<img src=x>', Buffer.from('{"n":"<script>alert(1)</script>"}'))
  const page = await (await get('/mqtt', { accept: 'text/html' })).text()
  t.false(page.includes('<script>alert') || page.includes('<img src=x'))
  t.regex(page, /&lt;script&gt;alert\(1\)/)
})

test('a reader that leaves a stream is no error', async t => {
  const lines: string[] = []
  const { monitor, get } = await openMonitor(t, pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }))
  for (const encoding of ['identity', 'gzip']) {
    const response = await get('/api/mqtt/monitor/stream', { 'accept-encoding': encoding })
    await response.body!.cancel()
    monitor.record('received', TOPIC, body(1))
  }
  await setTimeout(700)
  t.deepEqual(lines, [])
})

test('twenty streams are open at most; one that its reader left makes room', async t => {
  const { get, url, headers } = await openMonitor(t)
  const sockets = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { hostname, port } = new URL(url)
      const socket = connect(Number(port), hostname)
      socket.write(`GET /api/mqtt/monitor/stream HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\n\r\n`)
      await once(socket, 'data')
      return socket
    }),
  )
  const refused = await get('/api/mqtt/monitor/stream')
  t.is(refused.status, 503)
  t.like(await refused.json(), { code: 'not_ready' })
  for (const socket of sockets) socket.destroy()
  let status = 503
  while (status === 503) {
    await setTimeout(20)
    const response = await get('/api/mqtt/monitor/stream')
    status = response.status
    await response.body!.cancel()
  }
  t.is(status, 200)
})

test('what an edge publishes through the broker, and what the hub answers, is seen', async t => {
  const { hub, kit } = await openHubSite(t, folder(t))
  const link = linkWith(kit)
  link.start()
  t.teardown(() => link.stop())
  await until(() => link.isUp(), 'the session is open')
  await link.publish('sites/A/edges/e1/metadata', packBody(writeMetadata('A', 'e1', edgeModel('A'))))
  while (hub.monitor.messages(0, { kind: 'metadata' }, 10).messages.length === 0) await setTimeout(20)
  t.true(hub.monitor.stats().connected)
  const [message] = hub.monitor.messages(0, { kind: 'metadata' }, 10).messages
  t.like(message, { topic: 'sites/A/edges/e1/metadata', direction: 'received' })
  t.regex(message!.preview, /"building_id":"building-A"/)
})
