import test from 'ava'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import pino from 'pino'
import { refuseBytes } from '#shared/node/http/errors.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { route, strict } from '#shared/node/http/route.ts'
import { openAuth } from '#shared/node/auth/token.ts'

const routes = [
  route({ method: 'GET', path: '/api/thing', auth: 'public', summary: 'A thing', handle: () => ({ ok: true }) }),
  route({
    method: 'POST',
    path: '/api/thing',
    auth: 'public',
    summary: 'Takes it',
    body: strict({}),
    handle: () => ({ ok: true }),
  }),
]

async function open() {
  return openHttp({
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    routes,
    auth: openAuth({
      settings: { secret: 'a'.repeat(40), passwords: { admin: 'a', agent: 'b', viewer: 'c' }, trustedProxies: [] },
      epochs: { get: () => 0, set: () => undefined },
      now: Date.now,
    }),
    audit: undefined,
    log: pino({ level: 'silent' }),
    version: '1.2.3',
    trustedProxies: [],
  })
}

/** Sends bytes as they are. @returns what came back until the server hung up */
async function send(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  socket.on('data', data => {
    text += data
  })
  socket.write(bytes)
  await once(socket, 'close')
  return text
}

const REST = 'Host: x\r\nConnection: close\r\n\r\n'
for (const [what, bytes, status, code, allow] of [
  ['TRACE', `TRACE /api/thing HTTP/1.1\r\n${REST}`, 405, 'method_not_allowed', 'GET, POST'],
  ['PROPFIND', `PROPFIND /api/thing HTTP/1.1\r\n${REST}`, 405, 'method_not_allowed', 'GET, POST'],
  ['a method that is a path’s own matter', `PATCH /api/thing HTTP/1.1\r\n${REST}`, 405, 'method_not_allowed', 'GET, HEAD, POST'],
  ['a method that nobody knows', `FETCH /api/thing HTTP/1.1\r\n${REST}`, 400, 'bad_request', undefined],
  ['what is no HTTP', 'hello there\r\n\r\n', 400, 'bad_request', undefined],
  ['a header line without a colon', `GET /api/thing HTTP/1.1\r\nbroken\r\n${REST}`, 400, 'bad_request', undefined],
  ['a header too long', `GET /api/thing HTTP/1.1\r\nx: ${'y'.repeat(20_000)}\r\n${REST}`, 431, 'headers_too_large', undefined],
] as const) {
  test(`${what} is answered with ${status} and a problem`, async t => {
    const http = await open()
    await http.start()
    t.teardown(http.stop)
    const [head = '', body = ''] = (await send(http.url(), bytes)).split('\r\n\r\n')
    t.regex(head, new RegExp(`^HTTP/1\\.1 ${status} `))
    t.regex(head, /content-type: application\/problem\+json/i)
    const problem = JSON.parse(body)
    t.deepEqual([problem.status, problem.code, problem.ok], [status, code, false])
    t.true(head.includes(problem.request_id))
    t.is(/^allow: (.*)$/im.exec(head)?.[1], allow)
  })
}

for (const [code, status, problem] of [
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'request_timeout'],
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', 'headers_too_large'],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'bad_request'],
] as const) {
  test(`bytes that end with ${code} are answered with ${status} and the connection is closed`, async t => {
    const server = createServer(socket => refuseBytes(Object.assign(new Error(code), { code }) as never, socket))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const answer = String(Buffer.concat(await socket.toArray()))
    t.true(answer.startsWith(`HTTP/1.1 ${status}\r\n`), answer)
    t.regex(answer, /\r\nconnection: close\r\n/)
    t.is(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).code, problem)
  })
}
