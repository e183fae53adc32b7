import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { json } from 'node:stream/consumers'
import test from 'ava'
import fastify from 'fastify'
import pino from 'pino'
import { freePort } from '#scripts/lib/free-port.ts'
import { classifyPath, PAGES } from '#hub/web/paths.ts'
import { webService, type WebOptions } from '#hub/web/proxy.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { folder } from '../../support/folders.ts'
import { unchanging } from '../../support/unchanging.ts'

/** A stand-in for central whose response names the requested path. */
async function startCentral(port = 0) {
  const app = fastify()
  app.all('/*', ({ method, url, headers }) => ({ method, url, cookie: headers.cookie, host: headers.host }))
  await app.listen({ host: '127.0.0.1', port })
  return { app, upstream: `127.0.0.1:${(app.server.address() as AddressInfo).port}` }
}

async function startWeb(upstream: string, more: Partial<WebOptions> = {}) {
  const port = await freePort()
  const web = webService({ host: '127.0.0.1', port, upstream, resolver: 'auto', pages: true, ...more })
  await web.start()
  return { web, base: `http://127.0.0.1:${port}` }
}

test('API, twins and pages are forwarded to central with the caller’s cookie and host', async t => {
  const { app, upstream } = await startCentral()
  const { web, base } = await startWeb(upstream)
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  for (const path of ['/api/health?x=1', '/twins/b1', '/faults', '/']) {
    const answer = await fetch(`${base}${path}`, { headers: { cookie: 'a=1' } })
    t.deepEqual(await answer.json(), { method: 'GET', url: path, cookie: 'a=1', host: base.slice('http://'.length) })
  }
})

test('with a certificate of its own web answers over HTTPS alone, and tells central so', async t => {
  const app = fastify()
  app.all('/*', ({ headers }) => ({ scheme: headers['x-forwarded-proto'], address: headers['x-forwarded-for'] }))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const dir = folder(t)
  await makePki(dir, { name: 'Test', now: Date.now() })
  await (await openPki(dir, Date.now)).broker({ hosts: ['127.0.0.1'] })
  const read = (name: string) => readFileSync(join(dir, name), 'utf8')
  const tls = { cert: read('broker.cert.pem'), key: read('broker.key.pem') }
  const { web, base } = await startWeb(`127.0.0.1:${(app.server.address() as AddressInfo).port}`, { tls: unchanging(tls) })
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  await t.throwsAsync(fetch(`${base}/api/health`))
  const options = { ca: read('ca.cert.pem'), headers: { 'x-forwarded-for': '10.9.9.9', 'x-forwarded-proto': 'http' } }
  const [answer] = (await once(https.get(`${base.replace('http:', 'https:')}/api/health`, options), 'response')) as [
    IncomingMessage,
  ]
  t.deepEqual(await json(answer), { scheme: 'https', address: '127.0.0.1' })
})

test('with the pages turned off only the API and the twins are forwarded', async t => {
  const { app, upstream } = await startCentral()
  const { web, base } = await startWeb(upstream, { pages: false })
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  t.is((await fetch(`${base}/faults`)).status, 404)
  t.is((await fetch(`${base}/api/health`)).status, 200)
})

test('a stream is forwarded chunk by chunk, and central is told when its reader disconnects', async t => {
  const app = fastify()
  const { promise: gone, resolve } = Promise.withResolvers<void>()
  app.get('/api/fdd/runs/r/events', (_request, reply) => {
    const events = new PassThrough()
    events.once('close', resolve)
    events.write('event: progress\n\n')
    return reply.type('text/event-stream').send(events)
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { web, base } = await startWeb(`127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  const reader = new AbortController()
  const answer = await fetch(`${base}/api/fdd/runs/r/events`, { signal: reader.signal })
  const { value } = await answer.body!.getReader().read()
  t.is(new TextDecoder().decode(value), 'event: progress\n\n')
  reader.abort()
  await gone
  t.pass()
})

/** @returns the body of the response, which must be a problem document */
async function problemAt(url: string, init?: RequestInit) {
  const answer = await fetch(url, init)
  const type = answer.headers.get('content-type')
  if (type !== 'application/problem+json') throw new Error(`${url} answers ${answer.status} as ${type}`)
  return (await answer.json()) as Record<string, unknown>
}

test('web that starts before central answers 502, logs the reason once, and forwards as soon as central runs', async t => {
  const port = await freePort()
  const lines: { msg: string; upstream?: string; reason?: string }[] = []
  const to = new PassThrough().on('data', line => lines.push(JSON.parse(String(line))))
  const { web, base } = await startWeb(`127.0.0.1:${port}`, { log: pino(to) })
  t.teardown(() => web.stop())
  for (let i = 0; i < 3; i++) {
    const early = await problemAt(`${base}/api/health`)
    t.like(early, { status: 502, code: 'central_unreachable', detail: 'Central does not answer', instance: '/api/health' })
  }
  const { app } = await startCentral(port)
  t.teardown(() => app.close())
  t.is((await fetch(`${base}/api/health`)).status, 200)
  t.is((await fetch(`${base}/api/health`)).status, 200)
  t.deepEqual(
    lines.map(({ msg, upstream }) => [msg, upstream]),
    [
      ['central does not answer', `127.0.0.1:${port}`],
      ['central answers again', `127.0.0.1:${port}`],
    ],
  )
  t.regex(lines[0]!.reason!, /ECONNREFUSED/)
})

test('invalid settings end the start with every error listed and exit code 78', async t => {
  const env = { ...process.env, SERVICE_WEB_PORT: 'http', SERVICE_CENTRAL_UPSTREAM: 'http://central:8080' }
  const child = spawn(process.execPath, ['hub/web/main.ts', '--loud'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', data => (said += data))
  const [code] = await once(child, 'close')
  t.is(code, 78)
  for (const complaint of [/SERVICE_WEB_PORT/, /SERVICE_CENTRAL_UPSTREAM/, /--loud/]) t.regex(said, complaint)
})

/** Sends a request line unchanged, which `fetch` would normalise. @returns status line and body */
async function ask(base: string, target: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1')
  let text = ''
  socket.on('data', data => (text += data))
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  return { status: Number(text.split(' ')[1]), body: text.split('\r\n\r\n').slice(1).join('') }
}

for (const [target, status] of [
  ['/health', 404],
  ['/metrics', 404],
  ['/config', 404],
  ['/rules', 404],
  ['/rules/a.yaml', 404],
  ['/run-fdd', 404],
  ['/run-fdd/status', 404],
  ['/apis', 404],
  ['/apiary/x', 404],
  ['/API/health', 404],
  ['/%61pi/health', 404],
  ['/api%2fhealth', 400],
  ['/api/../config', 400],
  ['/api/%2e%2e/config', 400],
  ['/api/%2E%2e/config', 400],
  ['/api/.%2e/config', 400],
  ['/api/%252e%252e/config', 400],
  ['/api/%25252e%25252e/config', 400],
  ['/api/..%2fconfig', 400],
  ['/api/..%5cconfig', 400],
  ['/api/..\\config', 400],
  ['/api/./health', 400],
  ['/twins/..%2f..%2fconfig', 400],
  ['/static/../config', 400],
  ['//config', 400],
  ['/api//config', 400],
  ['/api/%zz', 400],
  ['/api/%00', 400],
  ['/api/%0d%0ax', 400],
  ['http://elsewhere.example/api/health', 400],
  ['/api/health', 200],
  ['/api', 200],
  ['/api/points/a%3Ab', 200],
  ['/api/health?path=../../config', 200],
  ['/twins/b1', 200],
  ['/faults', 200],
  ['/', 200],
  ['/?building=b1', 200],
] as const) {
  test(`GET ${target} is answered with ${status}, and central receives no other request`, async t => {
    const asked: string[] = []
    const central = fastify()
    central.all('/*', ({ url }) => {
      asked.push(url)
      return { ok: true }
    })
    await central.listen({ host: '127.0.0.1', port: 0 })
    const { web, base } = await startWeb(`127.0.0.1:${(central.server.address() as AddressInfo).port}`)
    t.teardown(() => Promise.all([central.close(), web.stop()]))
    const answer = await ask(base, target)
    t.is(answer.status, status, answer.body)
    t.deepEqual(asked, status === 200 ? [target] : [])
    if (status !== 200) t.is(JSON.parse(answer.body.replace(/^[0-9a-f]+\r\n/, '')).ok, false)
  })
}

/** The path of a route, or a constant that routes and links use for it. */
const NAMED_PATH = /\b(?:path:|href:|[A-Z_]*(?:PATH|PAGE|BASE|EDGE) =) ['`](\/[^'`]*)['`]/g

test('web forwards every page and no route of the legacy API', t => {
  const files = execFileSync('git', ['ls-files', '--', 'hub', 'shared/central', 'appliance'], { encoding: 'utf8' })
  const paths = files
    .split('\n')
    // These answer at ports of their own, as do EST (/.well-known) and the figures for Prometheus (/live).
    .filter(file => file.endsWith('.ts') && !/\/(mcp|retrieval)\//.test(file))
    .flatMap(file => [...readFileSync(file, 'utf8').matchAll(NAMED_PATH)].map(([, path]) => path!))
  t.true(paths.length > 100)
  const refused = new Set(paths.filter(path => classifyPath(path, true) !== 'forward').map(path => path.split('/')[1]))
  t.deepEqual([...refused].toSorted(), ['.well-known', 'config', 'health', 'live', 'rules', 'run-fdd'])
  t.true(PAGES.every(name => classifyPath(`/${name}`, false) !== 'forward'))
})

test('X-Forwarded-* headers are used only when they come from a trusted proxy', async t => {
  const central = fastify()
  central.get('/api/me', ({ headers }) => headers)
  await central.listen({ host: '127.0.0.1', port: 0 })
  const upstream = `127.0.0.1:${(central.server.address() as AddressInfo).port}`
  const [open, behind] = [await startWeb(upstream), await startWeb(upstream, { trustedProxies: ['127.0.0.1'] })]
  t.teardown(() => Promise.all([central.close(), open.web.stop(), behind.web.stop()]))
  const sent = {
    'x-forwarded-for': '203.0.113.9, 203.0.113.10',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'plant.example',
    forwarded: 'for=203.0.113.9',
    'x-real-ip': '203.0.113.9',
  }
  const seen = async (base: string) => {
    const headers = (await (await fetch(`${base}/api/me`, { headers: sent })).json()) as Record<string, string>
    return Object.keys(sent).map(name => headers[name])
  }
  t.deepEqual(await seen(open.base), ['127.0.0.1', 'http', new URL(open.base).host, undefined, undefined])
  t.deepEqual(await seen(behind.base), ['203.0.113.10', 'https', 'plant.example', undefined, undefined])
})

test('a response of 503 is forwarded, and the request is not retried', async t => {
  let asked = 0
  const central = fastify()
  central.get('/api/health', (_request, reply) => {
    asked++
    return reply.code(503).header('retry-after', '1').send({ ok: false })
  })
  await central.listen({ host: '127.0.0.1', port: 0 })
  const { web, base } = await startWeb(`127.0.0.1:${(central.server.address() as AddressInfo).port}`)
  t.teardown(() => Promise.all([central.close(), web.stop()]))
  t.is((await fetch(`${base}/api/health`)).status, 503)
  t.is(asked, 1)
})

test('a slow central is a problem of 504, and one that closes the connection of 502', async t => {
  const silent = createServer(socket => void socket.on('error', () => undefined)).listen(0, '127.0.0.1')
  const rude = createServer(socket => void socket.destroy()).listen(0, '127.0.0.1')
  await Promise.all([once(silent, 'listening'), once(rude, 'listening')])
  const portOf = (server: typeof silent) => (server.address() as AddressInfo).port
  const slow = await startWeb(`127.0.0.1:${portOf(silent)}`, { responseMs: 50 })
  const gone = await startWeb(`127.0.0.1:${portOf(rude)}`)
  t.teardown(() => Promise.all([slow.web.stop(), gone.web.stop(), silent.close(), rude.close()]))
  t.like(await problemAt(`${slow.base}/api/health`), { status: 504, code: 'central_timeout' })
  t.like(await problemAt(`${gone.base}/api/health`), { status: 502, code: 'central_unreachable' })
})

test('an unknown method and an oversized header are answered with problems', async t => {
  const { app, upstream } = await startCentral()
  const { web, base } = await startWeb(upstream)
  t.teardown(() => Promise.all([app.close(), web.stop()]))
  const answer = await ask(base, `/api/health HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\nHost: x\r\n\r\n`)
  t.is(answer.status, 431)
  t.is(JSON.parse(answer.body).code, 'headers_too_large')
})
