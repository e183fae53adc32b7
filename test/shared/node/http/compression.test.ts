/** Which answers are compressed, for whom, and what goes with them. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'
import { PassThrough, Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import test from 'ava'
import pino from 'pino'
import { html } from '#shared/node/http/html.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { encodingFor } from '#shared/node/http/compress.ts'
import { type HttpService, openHttp } from '#shared/node/http/server.ts'
import { route, type Route } from '#shared/node/http/route.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import { webService } from '#hub/web/proxy.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { SECRET } from '../../../support/sites/central-site.ts'

const TEXT = 'A sentence that is said again. '.repeat(100)
const BIG = { ok: true, text: randomBytes(6_000_000).toString('base64') }
const DIGITS = Buffer.from(randomBytes(8_000_000).toString('hex'))
const get = (path: string, handle: Route['handle']) => route({ method: 'GET', path, auth: 'public', summary: path, handle })
let closed: Promise<unknown> | undefined
const ROUTES = [
  get('/api/json', () => ({ ok: true, text: TEXT })),
  get('/api/short', () => ({ ok: true })),
  get('/api/big', () => BIG),
  get('/api/digits', ({ reply }) => reply.type('text/plain').send(DIGITS)),
  get('/api/csv', ({ reply }) => reply.type('text/csv; charset=utf-8').send(Readable.from([TEXT, TEXT]))),
  get('/api/endless', ({ reply }) => {
    const source = new PassThrough()
    source.write(TEXT)
    closed = new Promise(resolve => source.on('error', () => undefined).once('close', resolve))
    return reply.type('text/csv').send(source)
  }),
  get('/api/zip', ({ reply }) => reply.type('application/zip').send(Buffer.from(TEXT))),
  get('/api/packed', ({ reply }) => reply.header('content-encoding', 'br').type('text/plain').send(Buffer.from(TEXT))),
  get('/api/secret', ({ reply }) => reply.header('cache-control', 'no-store, no-transform').send({ ok: true, text: TEXT })),
  get('/api/events', ({ reply }) => {
    const source = new PassThrough()
    source.write(`data: ${TEXT}\n\n`)
    return reply.header('content-type', 'text/event-stream; charset=utf-8').send(source)
  }),
  get('/page', ({ reply }) => {
    reply.header('vary', 'Cookie')
    return html`<p>${TEXT}</p>`
  }),
]
const auth = openAuth({
  settings: { secret: SECRET, passwords: { admin: 'one', agent: 'two', viewer: 'three' }, trustedProxies: [] },
  epochs: { get: () => 0, set: () => undefined },
  now: Date.now,
})
const model = { buildings: () => [], timezones: () => [] }
const layout = createPageLayout({ auth, clock: { now: Date.now }, model, version: '1.2.3' } as never, {
  product: 'hub',
  name: 'Hub',
  first: 'Fleet',
})

let http: HttpService
let web: { base: string; stop: () => Promise<void> }
test.before(async () => {
  const base = { name: 'test', host: '127.0.0.1', port: 0, audit: undefined, version: '1.2.3', trustedProxies: [] }
  http = await openHttp({ ...base, routes: [...ROUTES, ...layout.routes], auth, log: pino({ level: 'silent' }) })
  await http.start()
  const port = await freePort()
  const upstream = new URL(http.url()).host
  const service = webService({ host: '127.0.0.1', port, upstream, resolver: 'auto', pages: true })
  await service.start()
  web = { base: `http://127.0.0.1:${port}`, stop: service.stop }
})
test.after.always(async () => {
  await web?.stop()
  await http?.stop()
})

type Answer = { status: number; headers: IncomingHttpHeaders; body: Buffer }
function ask(base: string, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { headers, method, agent: false }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', chunk => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }))
    })
    sent.once('error', reject)
    sent.end()
  })
}
const unpack = ({ headers, body }: Answer): string => {
  const encoding = headers['content-encoding']
  return String(encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body)
}

for (const [header, encoding] of [
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0, gzip;q=0.1', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['deflate, zstd', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=abc', undefined],
  [',,;;', undefined],
] as const) {
  test(`a client that takes "${header}" gets ${encoding ?? 'plain text'}`, t => t.is(encodingFor(header), encoding))
}

for (const where of ['central', 'web']) {
  for (const [path, whole] of [
    ['/api/json', JSON.stringify({ ok: true, text: TEXT })],
    ['/api/csv', TEXT + TEXT],
    ['/api/big', JSON.stringify(BIG)],
  ] as const) {
    for (const encoding of ['br', 'gzip'] as const) {
      test.serial(`${path} of ${where} comes as ${encoding} and is whole`, async t => {
        const answer = await ask(where === 'web' ? web.base : http.url(), path, { 'accept-encoding': encoding })
        t.is(answer.headers['content-encoding'], encoding)
        t.is(answer.headers.vary, 'Accept-Encoding')
        t.true(unpack(answer) === whole)
        if (answer.headers['content-length']) t.is(Number(answer.headers['content-length']), answer.body.length)
        t.true(answer.body.length < whole.length)
      })
    }
  }
}

for (const [path, headers, method, vary] of [
  ['/api/json', {}, 'GET', 'Accept-Encoding'],
  ['/api/json', { 'accept-encoding': 'br' }, 'HEAD', 'Accept-Encoding'],
  ['/api/short', { 'accept-encoding': 'br' }, 'GET', 'Accept-Encoding'],
  ['/api/zip', { 'accept-encoding': 'br' }, 'GET', undefined],
  ['/api/secret', { 'accept-encoding': 'br' }, 'GET', undefined],
] as const) {
  test(`${method} ${path} with ${JSON.stringify(headers)} is not compressed`, async t => {
    const answer = await ask(http.url(), path, headers, method)
    t.is(answer.status, 200)
    t.is(answer.headers['content-encoding'], undefined)
    t.is(answer.headers.vary, vary)
  })
}

test('what is compressed already stays as it is', async t => {
  const answer = await ask(http.url(), '/api/packed', { 'accept-encoding': 'gzip' })
  t.is(String(answer.body), TEXT)
})

test.serial('pages and problems are compressed too, and vary by cookie as well', async t => {
  const page = await ask(http.url(), '/page', { 'accept-encoding': 'br' })
  t.deepEqual([page.headers['content-encoding'], page.headers.vary], ['br', 'Cookie, Accept-Encoding'])
  t.is(unpack(page), `<p>${TEXT}</p>`)
  const problem = await ask(http.url(), `/api/${'x'.repeat(3000)}`, { 'accept-encoding': 'gzip' })
  t.deepEqual([problem.status, problem.headers['content-encoding']], [404, 'gzip'])
  t.is(JSON.parse(unpack(problem)).code, 'not_found')
})

test('an event comes at once and is not compressed', async t => {
  const gone = new AbortController()
  const answer = await fetch(`${http.url()}/api/events`, { headers: { 'accept-encoding': 'br' }, signal: gone.signal })
  t.is(answer.headers.get('content-encoding'), null)
  const { value } = await answer.body!.getReader().read()
  t.regex(new TextDecoder().decode(value), /^data: A sentence/)
  gone.abort()
})

/** Begins an answer that does not end. @returns how to hang up; resolves when the server has let go of it */
async function hold() {
  const sent = request(`${http.url()}/api/endless`, { headers: { 'accept-encoding': 'gzip' }, agent: false })
  sent.on('error', () => undefined)
  sent.end()
  await once(sent, 'response')
  const released = closed
  return () => {
    sent.destroy()
    return released
  }
}

test.serial('two answers are compressed at a time, others go out as they are, and a reader who hangs up makes room', async t => {
  const encoding = async () => (await ask(http.url(), '/api/json', { 'accept-encoding': 'br' })).headers['content-encoding']
  const first = await hold()
  t.is(await encoding(), 'br')
  const second = await hold()
  t.is(await encoding(), undefined)
  await first()
  t.is(await encoding(), 'br')
  await second()
})

test.serial('compressing a large answer is not the work of the thread that serves everybody', async t => {
  const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()]
  const answer = await ask(http.url(), '/api/digits', { 'accept-encoding': 'br' })
  const [own, all] = [process.threadCpuUsage(thread), process.cpuUsage(whole)]
  t.is(answer.headers['content-encoding'], 'br')
  const share = (own.user + own.system) / (all.user + all.system)
  t.true(share < 0.5, `${Math.round(share * 100)} % of the work`)
})

test('a static file is compressed once for each encoding, has a tag for each, and is not sent to who has it', async t => {
  const path = (layout
    .document(
      {
        caller: undefined,
        reply: { request: { headers: {}, cookies: {} }, header: () => ({}), getHeader: () => undefined },
      } as never,
      { title: 'x', current: '' },
      html``,
    )
    .text.match(/\/static\/\w+\/htmx\.js/) ?? [''])[0]
  const plain = await ask(http.url(), path)
  const tags = new Set([plain.headers.etag])
  for (const encoding of ['br', 'gzip']) {
    const answer = await ask(http.url(), path, { 'accept-encoding': encoding })
    t.deepEqual([answer.headers['content-encoding'], answer.headers.vary], [encoding, 'Accept-Encoding'])
    t.true(answer.body.length < plain.body.length / 2)
    t.is(unpack(answer), String(plain.body))
    tags.add(answer.headers.etag)
    const known = { 'accept-encoding': encoding, 'if-none-match': `"other", W/${answer.headers.etag}` }
    const again = await ask(http.url(), path, known)
    t.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, answer.headers.etag])
    t.is((await ask(http.url(), path, { ...known, 'accept-encoding': 'identity' })).status, 200)
  }
  t.is(tags.size, 3)
})

test('the token of a form is another text in every answer, and each of them fits', async t => {
  const { token } = await auth.login('viewer', 'three', 'x')
  const caller = (await auth.callerOf({ headers: { authorization: `Bearer ${token}` }, cookies: {} } as never))!
  const texts = Array.from({ length: 50 }, () => auth.formToken(caller))
  t.is(new Set(texts).size, 50)
  t.true(texts.every(text => auth.isFormToken(caller, text)))
  for (let i = 0; i < texts[0]!.length - 4; i++) {
    t.true(new Set(texts.map(text => text.slice(i, i + 5))).size > 40, `the same at ${i}`)
  }
  for (const wrong of ['', 'x', texts[0]!.slice(1), `${texts[0]}A`, Buffer.alloc(64).toString('base64url')]) {
    t.false(auth.isFormToken(caller, wrong), wrong)
  }
  t.false(auth.isFormToken({ ...caller, session: 'another' }, texts[0]!))
})
