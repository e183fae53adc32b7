/** The session against faulty servers on real sockets: every failure names its step, and nothing hangs or crashes. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import test from 'ava'
import type { HaystackAuth } from '#appliance/drivers/haystack/core/address.ts'
import { HaystackFailure, type Step } from '#appliance/drivers/haystack/core/failure.ts'
import { issueServer, makeCa } from '#shared/node/pki/pki.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { PROFILES } from '#scripts/simulator/haystack/server.ts'
import type { SimLoginFault } from '#scripts/simulator/haystack/login.ts'
import { HTTP_FAULTS, type HttpFault } from '#scripts/simulator/haystack/http-faults.ts'
import { accessOf, IMPATIENCE, NEVER, openClient, openServer, RETRY_POLICY } from './harness.ts'

type Expected = [step: Step, kind: 'silent' | 'fault', message: RegExp, advice?: RegExp]

const EXPECTED: Record<HttpFault, Expected> = {
  silent: ['op', 'silent', /no answer from 127\.0\.0\.1:\d+ within 2500 ms/],
  reset: ['op', 'silent', /closed the connection/],
  'no HTTP': ['op', 'fault', /does not speak HTTP/, /https/],
  'headers without end': ['op', 'fault', /does not speak HTTP/],
  'status 500 with a page': ['op', 'fault', /about was answered with status 500/],
  'status 503 without a body': ['op', 'fault', /status 503/],
  'a page instead of a grid': ['op', 'fault', /answered with text\/html.*not a grid/, /path of the endpoint/],
  'a wrong content type': ['op', 'fault', /image\/png/],
  'no content type': ['op', 'fault', /no content type/],
  'an error grid': ['op', 'fault', /about: sys::Err: the database is closed/],
  'an error grid with status 400': ['op', 'fault', /UnknownOpErr/],
  forbidden: ['auth', 'fault', /403/, /read access/],
  'not found': ['op', 'fault', /status 404/, /path of the endpoint/],
  'a redirect to another host': ['op', 'fault', /redirected to https:\/\/other\.example\/api\/demo\/about$/, /not followed/],
  'a redirect to the login page': ['op', 'fault', /redirected to http:\/\/127\.0\.0\.1:\d+\/user\/login/, /wants a login/],
  'a body that is cut off': ['op', 'silent', /the answer ended early/],
  'a grid that ends within a row': ['parse', 'fault', /ends in the middle of a row/],
  'invalid UTF-8': ['parse', 'fault', /not valid UTF-8/],
  'no grid at all': ['parse', 'fault', /./],
  'two columns of one name': ['parse', 'fault', /two columns "id"/],
  'JSON of Haystack 3': ['parse', 'fault', /JSON of Haystack 3/],
  'half a JSON': ['parse', 'fault', /cannot be read as JSON/],
  'lists as deep as the sea': ['parse', 'fault', /cannot be read as Zinc/],
  'damaged gzip': ['op', 'fault', /cannot be decompressed/],
  'an unknown packing': ['op', 'fault', /compressed with br/],
  'a gzip bomb': ['op', 'fault', /more than 8 MiB/],
  'a body without end': ['op', 'fault', /more than 8 MiB/],
  'a body drop by drop': ['op', 'silent', /stalled, or took more than 25000 ms/],
  'headers, then nothing': ['op', 'silent', /stalled/],
}
/** Faults that end only by the timeout of the client. */
const SLOW = new Set<HttpFault>(['silent', 'a body drop by drop', 'headers, then nothing'])

for (const how of Object.keys(HTTP_FAULTS) as HttpFault[]) {
  test(`the failure names its step: ${how}`, async t => {
    const server = await openServer(t, PROFILES.nhaystack)
    const { client } = openClient(t, accessOf(server, 'basic'))
    const options = SLOW.has(how) ? IMPATIENCE : RETRY_POLICY
    await client.about(RETRY_POLICY)
    server.misbehave(how)
    const [step, kind, message, advice] = EXPECTED[how]
    const error = await t.throwsAsync<HaystackFailure>(client.about(options), { instanceOf: HaystackFailure, message })
    t.like(error, { step, kind })
    if (advice) t.regex(error!.advice!, advice)
    server.behave()
    t.is((await client.about(RETRY_POLICY)).serverName, 'Sim')
  })
}

const AUTHS: [HaystackAuth, RegExp][] = [
  ['basic', /^Basic /],
  ['bearer', /^Bearer key-of-the-site$/],
  ['bearer-haystack', /^BEARER authToken=key-of-the-site$/],
  ['scram', /^BEARER authToken=[0-9a-f]+$/],
]
for (const [auth, header] of AUTHS) {
  test(`auth ${auth} is accepted, and a wrong key is reported as such`, async t => {
    const server = await openServer(t, { ...PROFILES.haxall, auth })
    const { client } = openClient(t, accessOf(server, auth))
    t.is((await client.about(RETRY_POLICY)).productName, 'Simulated')
    t.regex(server.asked.at(-1)!.headers.authorization!, header)
    const { client: stranger } = openClient(t, accessOf(server, auth, { secret: 'wrong' }))
    const error = await t.throwsAsync<HaystackFailure>(stranger.about(RETRY_POLICY), { instanceOf: HaystackFailure })
    t.is(error!.step, 'auth')
    t.regex(error!.advice!, /check/)
  })
}

const LOGINS: [SimLoginFault, Step, RegExp, RegExp?][] = [
  ['wrong signature', 'auth', /did not prove that it knows the password/, /another server/],
  ['wrong nonce', 'auth', /nonce does not begin/],
  ['few iterations', 'auth', /asks for 1 iterations/],
  ['sha-512', 'hello', /SHA-512/],
  ['basic only', 'hello', /offers basic, not SCRAM/, /set auth to basic/],
  ['no token', 'auth', /without a token/],
  ['hello 200', 'hello', /answered HELLO with status 200/, /path of the endpoint/],
  ['stops after first', 'auth', /did not continue SCRAM.*403/],
  ['not ready', 'auth', /did not continue SCRAM.*503/],
  ['plaintext only', 'hello', /offers plaintext, not SCRAM/, /not sent in plain text/],
  ['anonymous', 'hello', /answered HELLO with status 200/, /asks for no login: set auth to bearer/],
]
for (const [fault, step, message, advice] of LOGINS) {
  test(`a failed login names its step, and no further request is sent: ${fault}`, async t => {
    const server = await openServer(t)
    server.login.fault(fault)
    const { client } = openClient(t, accessOf(server, 'scram'))
    const error = await t.throwsAsync<HaystackFailure>(client.ops(RETRY_POLICY), { instanceOf: HaystackFailure, message })
    t.is(error!.step, step)
    if (advice) t.regex(error!.advice!, advice)
    t.false(server.ops().includes('ops'))
  })
}

test('schemes and parameters of a login are known in any case and with any space', async t => {
  const server = await openServer(t)
  server.login.fault('capitals')
  const { client } = openClient(t, accessOf(server, 'scram'))
  t.true((await client.ops(RETRY_POLICY)).has('read'))
})

test('one login serves many requests, with its cookie', async t => {
  const server = await openServer(t)
  const { client } = openClient(t, accessOf(server, 'scram'))
  for (let i = 0; i < 3; i++) await client.about(RETRY_POLICY)
  t.is(server.login.logins(), 1)
  t.is(server.asked.at(-1)!.headers.cookie, 'session=s1')
  t.is(server.connections(), 1)
})

for (const how of ['forbidden', 'a redirect to the login page'] as const) {
  test(`an expired session is renewed once: ${how}`, async t => {
    const server = await openServer(t)
    const { client } = openClient(t, accessOf(server, 'scram'))
    await client.about(RETRY_POLICY)
    server.misbehave(how, 'ops', 1)
    t.true((await client.ops(RETRY_POLICY)).has('read'))
    t.is(server.login.logins(), 2)
    server.misbehave(how, 'ops')
    await t.throwsAsync(client.ops(RETRY_POLICY), { instanceOf: HaystackFailure })
    t.is(server.login.logins(), 3)
  })
}

test('a token that expires during a session is renewed', async t => {
  const server = await openServer(t)
  const { client } = openClient(t, accessOf(server, 'scram'))
  await client.about(RETRY_POLICY)
  server.login.expire()
  t.true((await client.ops(RETRY_POLICY)).has('watchSub'))
  t.is(server.login.logins(), 2)
})

test('an expired cookie is dropped, and the request is repeated without it', async t => {
  const server = await openServer(t, { ...PROFILES.nhaystack, cookie: true })
  const { client } = openClient(t, accessOf(server, 'basic'))
  await client.about(RETRY_POLICY)
  await client.about(RETRY_POLICY)
  t.is(server.asked.at(-1)!.headers.cookie, 'session=s1')
  server.misbehave('a redirect to the login page', 'ops', 1)
  t.true((await client.ops(RETRY_POLICY)).has('read'))
  t.deepEqual(
    server.asked.slice(-2).map(({ headers }) => headers.cookie),
    ['session=s1', undefined],
  )
})

test('closing a session logs out', async t => {
  const server = await openServer(t)
  const { client, session } = openClient(t, accessOf(server, 'scram'))
  await client.about(RETRY_POLICY)
  t.is(server.login.open(), 1)
  await session.close()
  t.is(server.login.open(), 0)
})

test('an idle connection that the server closes at the moment of its reuse is no failure', async t => {
  const server = await openServer(t, PROFILES.nhaystack)
  server.closeIdle()
  const { client } = openClient(t, accessOf(server, 'basic'))
  for (let i = 0; i < 10; i++) t.is((await client.about(RETRY_POLICY)).serverName, 'Sim')
})

test('all sessions together have one request in flight at a server', async t => {
  const server = await openServer(t, PROFILES.nhaystack)
  const inTurn = createSerialQueue()
  const clients = [1, 2, 3].map(() => openClient(t, accessOf(server, 'basic'), Date.now, inTurn).client)
  await Promise.all(Array.from({ length: 21 }, (_, i) => clients[i % 3]!.about(RETRY_POLICY)))
  t.is(server.asked.length, 21)
  t.is(server.busiest(), 1)
  // On a busy machine an idle connection may expire, and another one is opened.
  t.true(server.connections() >= 3 && server.connections() < 21, String(server.connections()))
})

test('a request without an answer is repeated as often as `retries` says', async t => {
  const server = await openServer(t, PROFILES.nhaystack)
  const { client } = openClient(t, accessOf(server, 'basic'))
  server.misbehave('reset', 'about', 2)
  t.is((await client.about({ ...RETRY_POLICY, retries: 2 })).serverName, 'Sim')
  server.misbehave('reset', 'about', 3)
  await t.throwsAsync(client.about({ ...RETRY_POLICY, retries: 1 }), { message: /closed the connection/ })
})

test('every op sends its arguments, in Zinc and in Hayson', async t => {
  for (const profile of [PROFILES.skyspark, PROFILES.haxall]) {
    const server = await openServer(t, profile)
    const { client, session } = openClient(t, accessOf(server, 'scram'))
    t.is((await client.about(RETRY_POLICY)).haystackVersion, '3.0')
    t.true((await client.ops(RETRY_POLICY)).has('watchPoll'))
    t.true((await client.formats(RETRY_POLICY)).includes('application/vnd.haystack+json'))
    t.is((await client.read('dis == "Point a1"', 2, RETRY_POLICY)).rows.length, 1)
    t.is((await client.readIds(['a1', 'none', 'a2'], RETRY_POLICY)).rows.length, 3)
    const { watch, rows } = await client.watchSub(['a1', 'none'], 90_000, undefined, RETRY_POLICY)
    t.like(watch, { watchId: 'w-1', leaseMs: 120_000 })
    t.is(rows.length, 2)
    t.is((await client.watchPoll(watch.watchId, RETRY_POLICY)).rows.length, 0)
    await client.watchUnsub(watch.watchId, RETRY_POLICY)
    t.is(server.watches.size, 0)
    await session.close()
    t.is(server.login.open(), 0)
    t.deepEqual(
      new Set(server.asked.filter(({ headers }) => !/BEARER/.test(headers.authorization ?? '')).map(({ op }) => op)),
      new Set(['about']),
    )
  }
})

test('an older server lists its formats by another op', async t => {
  const server = await openServer(t, PROFILES.nhaystack)
  const { client } = openClient(t, accessOf(server, 'basic'))
  t.deepEqual(await client.formats(RETRY_POLICY), ['text/zinc'])
})

test('Zinc is requested first; a server without it is asked in Hayson from then on', async t => {
  const server = await openServer(t, { ...PROFILES.haxall, auth: 'bearer' })
  const { client } = openClient(t, accessOf(server, 'bearer'))
  await client.readIds(['a1'], RETRY_POLICY)
  await client.readIds(['a1'], RETRY_POLICY)
  t.deepEqual(
    server.asked.map(({ headers }) => [headers.accept, headers['content-type']]),
    [
      ['text/zinc', undefined],
      ['application/vnd.haystack+json;version=4', undefined],
      ['application/vnd.haystack+json;version=4', 'application/vnd.haystack+json;version=4'],
      ['application/vnd.haystack+json;version=4', 'application/vnd.haystack+json;version=4'],
    ],
  )
})

test('a server that answers in Hayson, and refuses Zinc with any status, is asked in Hayson', async t => {
  for (const refuses of [400, 500]) {
    const server = await openServer(t, { ...PROFILES.haxall, auth: 'bearer', readsOnly: refuses })
    const { client } = openClient(t, accessOf(server, 'bearer'))
    t.is((await client.readIds(['a1'], RETRY_POLICY)).rows.length, 1, String(refuses))
  }
})

test('a redirect does not send the key to another host', async t => {
  const other = createServer()
  let reached = 0
  other.on('connection', socket => {
    reached++
    socket.destroy()
  })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => void other.close())
  const server = await openServer(t, PROFILES.nhaystack)
  server.misbehave('a redirect to another host')
  const { client } = openClient(t, accessOf(server, 'basic'))
  await t.throwsAsync(client.about(RETRY_POLICY), { message: /redirected/ })
  t.is(reached, 0)
})

test('a certificate is verified against the given authority', async t => {
  const now = Date.now()
  const ca = await makeCa({ name: 'Test', now })
  const stranger = await makeCa({ name: 'Stranger', now })
  const right = await issueServer(ca, { hosts: ['127.0.0.1'], now })
  const other = await issueServer(ca, { hosts: ['other.example'], now })
  const old = await issueServer(ca, { hosts: ['127.0.0.1'], now: now - 500 * 86_400_000 })
  const open = async ({ cert_pem, key_pem }: typeof right) =>
    openServer(t, PROFILES.nhaystack, { tls: { cert: cert_pem, key: key_pem } })
  const good = await open(right)
  const { client } = openClient(t, accessOf(good, 'basic', { ca: ca.cert_pem }))
  t.is((await client.about(RETRY_POLICY)).serverName, 'Sim')

  for (const [server, trusted, message, advice] of [
    [good, undefined, /authority that is not trusted/, /SERVICE_HAYSTACK_CA_FILE/],
    [good, stranger.cert_pem, /authority that is not trusted|self-signed/, /SERVICE_HAYSTACK_CA_FILE/],
    [await open(other), ca.cert_pem, /another host name/, /name/],
    [await open(old), ca.cert_pem, /expired/, /clock/],
  ] as const) {
    const { client: doubtful } = openClient(t, accessOf(server, 'basic', { ca: trusted }))
    const error = await t.throwsAsync<HaystackFailure>(doubtful.about(RETRY_POLICY), { message })
    t.like(error, { step: 'tls', kind: 'fault' })
    t.regex(error!.advice!, advice)
    t.is(server.asked.filter(({ headers }) => headers.authorization !== undefined).length, server === good ? 1 : 0)
  }
})

test('the failure names its step: no TLS at an https endpoint, a closed port, an unknown name', async t => {
  const server = await openServer(t, PROFILES.nhaystack)
  const plain = await openServer(t, PROFILES.nhaystack)
  await plain.close()
  for (const [endpoint, step, message, advice] of [
    [server.endpoint.replace('http:', 'https:'), 'tls', /does not speak TLS/, /http:\/\//],
    [plain.endpoint, 'tcp', /connection refused/, /host and port/],
    ['http://no-such-host.invalid/api/', 'dns', /unknown host name|no name server/, /name/],
  ] as const) {
    const { client } = openClient(t, accessOf({ endpoint }, 'basic'))
    const error = await t.throwsAsync<HaystackFailure>(client.about(RETRY_POLICY), { message })
    t.is(error!.step, step)
    t.regex(error!.advice!, advice)
  }
})

test('the failure names its step: a server that accepts connections and never answers the TLS handshake', async t => {
  const mute = createServer(() => undefined)
  mute.listen(0, '127.0.0.1')
  await once(mute, 'listening')
  t.teardown(() => void mute.close())
  const { port } = mute.address() as { port: number }
  const { client } = openClient(t, accessOf({ endpoint: `https://127.0.0.1:${port}/` }, 'basic'))
  const error = await t.throwsAsync<HaystackFailure>(client.about({ ...IMPATIENCE, signal: NEVER }), {
    message: /no TLS handshake/,
  })
  t.like(error, { step: 'tls', kind: 'silent' })
})
