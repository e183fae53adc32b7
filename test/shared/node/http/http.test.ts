import { Type } from '@sinclair/typebox'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { request as rawRequest } from 'node:http'
import { createServer } from 'node:net'
import pino from 'pino'
import { html } from '#shared/node/http/html.ts'
import { Problem } from '#shared/core/problem.ts'
import type { AuditRow } from '#shared/core/stores.ts'
import { jsonDepth } from '#shared/core/json-depth.ts'
import { type HttpOptions, openHttp } from '#shared/node/http/server.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import { openAuth } from '#shared/node/auth/token.ts'

const SECRET = 'a-secret-for-tests-only-0123456789abcdef'
const log = pino({ level: 'silent' })
const auth = openAuth({
  settings: { secret: SECRET, passwords: { admin: 'one', agent: 'two', viewer: 'three' }, trustedProxies: [] },
  epochs: { get: () => 0, set: () => undefined },
  now: Date.now,
})
const bearer = async () => ({ authorization: `Bearer ${(await auth.agentToken(3600)).token}` })

const ROUTES: Route[] = [
  route({
    method: 'POST',
    path: '/api/things/:thing_id',
    auth: 'public',
    summary: 'Takes a thing',
    params: strict({ thing_id: Type.String({ maxLength: 128 }) }),
    query: strict({ dry_run: Type.Optional(Type.Boolean()), n: Type.Optional(Type.Integer({ minimum: 1 })) }),
    body: strict({ confirm: Type.Boolean(), size: Type.Optional(Type.Number()), kind: Type.Optional(oneOf(['a', 'b'])) }),
    action: 'take',
    handle: ({ body, query, params, audit }) => {
      audit({ subject: params.thing_id, after: body })
      return { ok: true, body, query, params }
    },
  }),
  route({ method: 'GET', path: '/api/broken', auth: 'public', summary: 'Throws', handle: () => fail() }),
  route({
    method: 'GET',
    path: '/page',
    auth: 'public',
    summary: 'A page',
    handle: ({ query }) => html`<p>${JSON.stringify(query)}</p>`,
  }),
  route({
    method: 'POST',
    path: '/api/locked',
    auth: 'operator',
    summary: 'Needs a role',
    body: strict({}),
    handle: () => ({ ok: true }),
  }),
  route({
    method: 'POST',
    path: '/api/counted',
    auth: 'public',
    summary: 'Counts its calls',
    body: strict({ fails: Type.Boolean() }),
    idempotent: true,
    handle: ({ body }) => {
      calls++
      if (body.fails) throw new Problem('conflict', `call ${calls}`)
      return { ok: true, calls }
    },
  }),
  route({
    method: 'POST',
    path: '/form',
    auth: 'viewer',
    summary: 'A form',
    takes: 'form',
    body: strict({ hours: Type.Integer(), text: Type.String() }),
    handle: ({ body }) => ({ ok: true, body }),
  }),
]
let calls = 0
const fail = (): never => {
  throw new Error('the password is hunter2')
}

async function open(more: Partial<HttpOptions> = {}) {
  const rows: AuditRow[] = []
  const audit = { add: (row: AuditRow) => void rows.push(row) }
  const base = {
    name: 'test',
    host: '127.0.0.1',
    port: 0,
    routes: ROUTES,
    auth,
    audit,
    log,
    version: '1.2.3',
    trustedProxies: [],
  }
  return { http: await openHttp({ ...base, ...more }), rows }
}
const json = { 'content-type': 'application/json' }

for (const [what, payload, status, code, pointer] of [
  ['a body as it should be', '{"confirm":true,"size":1.5,"kind":"a"}', 200, undefined, undefined],
  ['a text for a flag', '{"confirm":"true"}', 400, 'bad_request', '/confirm'],
  ['a number for a flag', '{"confirm":1}', 400, 'bad_request', '/confirm'],
  ['an unknown field', '{"confirm":true,"force":true}', 400, 'bad_request', '/force'],
  ['a missing field', '{}', 400, 'bad_request', ''],
  ['a word that is not on the list', '{"confirm":true,"kind":"c"}', 400, 'bad_request', '/kind'],
  ['a list for an object', '[]', 400, 'bad_request', ''],
  ['no body', '', 400, 'bad_request', ''],
  ['half a JSON text', '{"confirm":tr', 400, 'bad_request', undefined],
  ['a prototype', '{"confirm":true,"__proto__":{"admin":true}}', 400, 'bad_request', undefined],
  ['33 levels', `{"confirm":true,"size":${'['.repeat(32)}${']'.repeat(32)}}`, 400, 'bad_request', undefined],
  ['more than a MiB', `{"confirm":true,"kind":"${'a'.repeat(1024 * 1024)}"}`, 413, 'too_large', undefined],
] as const) {
  test(`a request with ${what} is answered with ${status}`, async t => {
    const { http } = await open()
    const answer = await http.app.inject({ method: 'POST', url: '/api/things/x', payload, headers: json })
    t.is(answer.statusCode, status, answer.body)
    if (status === 200) return
    t.is(answer.headers['content-type'], 'application/problem+json')
    const body = answer.json()
    t.is(body.code, code)
    t.is(body.ok, false)
    t.is(body.error, body.detail)
    t.is(body.instance, '/api/things/x')
    t.is(body.request_id, answer.headers['x-request-id'])
    if (pointer !== undefined) t.is(body.errors[0].pointer, pointer)
  })
}

test('a start compiles no schema: one that cannot be compiled fails its own requests and no start', async t => {
  const bad = route({
    method: 'POST',
    path: '/api/bad',
    auth: 'public',
    summary: 'Has a schema of an unknown format',
    body: strict({ at: Type.String({ format: 'no-such-format' }) }),
    handle: () => ({ ok: true }),
  })
  const { http } = await open({ routes: [...ROUTES, bad] })
  const post = (url: string, body: object) => http.app.inject({ method: 'POST', url, payload: body })
  t.is((await post('/api/bad', { at: 'x' })).statusCode, 500)
  t.is((await post('/api/things/x', { confirm: true })).statusCode, 200)
})

test('what does not fit is named with what would and with what was given, unless that is long or a secret', async t => {
  const secrets = route({
    method: 'POST',
    path: '/api/secrets',
    auth: 'public',
    summary: 'Takes a secret',
    body: strict({ password: Type.Optional(Type.String({ pattern: '^x' })), api_key: Type.Optional(Type.Number()) }),
    handle: () => ({ ok: true }),
  })
  const { http } = await open({ routes: [...ROUTES, secrets] })
  const said = async (url: string, payload: object) =>
    (await http.app.inject({ method: 'POST', url, payload })).json().errors.map((error: { message: string }) => error.message)
  t.deepEqual(await said('/api/things/x', { confirm: true, kind: 'c' }), ['must be one of a, b, not "c"'])
  t.deepEqual(await said('/api/things/x', { confirm: 'true' }), ['must be boolean, not "true"'])
  t.deepEqual(await said('/api/things/x?n=0', { confirm: true }), ['must be >= 1, not 0'])
  t.deepEqual(await said('/api/things/x', { confirm: true, kind: 'c'.repeat(61) }), ['must be one of a, b'])
  t.deepEqual(await said('/api/things/x', { confirm: true, size: [1, 2] }), ['must be number'])
  t.deepEqual(await said('/api/secrets', { password: 'hunter2', api_key: 'k' }), ['must match pattern "^x"', 'must be number'])
})

for (const [query, status, read] of [
  ['?dry_run=true&n=3', 200, { dry_run: true, n: 3 }],
  ['?dry_run=0', 200, { dry_run: false }],
  ['?n=x', 400, undefined],
  ['?n=', 400, undefined],
  ['?n=1.5', 400, undefined],
  ['?dry_run=yes', 400, undefined],
  ['?dryrun=true', 400, undefined],
  ['?n=1&n=2', 400, undefined],
] as const) {
  test(`the query ${query} is answered with ${status}`, async t => {
    const { http } = await open()
    const answer = await http.app.inject({
      method: 'POST',
      url: `/api/things/x${query}`,
      payload: '{"confirm":true}',
      headers: json,
    })
    t.is(answer.statusCode, status)
    if (read) t.deepEqual(answer.json().query, read)
  })
}

for (const [what, method, url, headers, status, code, allow] of [
  [
    'another media type',
    'POST',
    '/api/things/x',
    { 'content-type': 'application/zip' },
    415,
    'unsupported_media_type',
    undefined,
  ],
  [
    'a form for JSON',
    'POST',
    '/api/things/x',
    { 'content-type': 'application/x-www-form-urlencoded' },
    415,
    'unsupported_media_type',
    undefined,
  ],
  ['another method', 'DELETE', '/api/things/x', {}, 405, 'method_not_allowed', 'POST'],
  ['a read of what is only written', 'GET', '/api/things/x', {}, 405, 'method_not_allowed', 'POST'],
  ['a write of what is only read', 'PUT', '/api/broken', {}, 405, 'method_not_allowed', 'GET, HEAD'],
  ['a path that is not there', 'GET', '/api/nothing', {}, 404, 'not_found', undefined],
  ['a path that is none', 'GET', '/api/things/%zz', {}, 400, 'bad_request', undefined],
] as const) {
  test(`${what} is answered with ${status}`, async t => {
    const { http } = await open()
    const payload = method === 'POST' ? { payload: 'x=1' } : {}
    const answer = await http.app.inject({ method, url, headers, ...payload })
    t.is(answer.statusCode, status)
    t.is(answer.json().code, code)
    t.is(answer.headers.allow, allow)
  })
}

test('an error of the program tells its number and nothing of itself', async t => {
  const { http } = await open()
  const answer = await http.app.inject('/api/broken')
  t.is(answer.statusCode, 500)
  t.is(answer.json().code, 'internal')
  t.notRegex(answer.body, /hunter2/)
  t.true(answer.json().detail.includes(answer.headers['x-request-id']))
})

test('the role is checked before the body is read', async t => {
  const { http } = await open()
  const payload = '{"broken'
  const without = await http.app.inject({ method: 'POST', url: '/api/locked', payload, headers: json })
  t.is(without.statusCode, 401)
  t.is(without.headers['www-authenticate'], 'Bearer')
  const withRole = await http.app.inject({
    method: 'POST',
    url: '/api/locked',
    payload,
    headers: { ...json, ...(await bearer()) },
  })
  t.is(withRole.statusCode, 400)
})

test('an upload that announces too much is refused before it comes', async t => {
  const upload = route({
    method: 'POST',
    path: '/api/upload',
    auth: 'public',
    summary: 'Takes a file',
    takes: 'upload',
    bodyMax: 1000,
    handle: () => ({ ok: true }),
  })
  const { http } = await open({ routes: [upload] })
  await http.start()
  t.teardown(http.stop)
  const headers = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '300000000' }
  const status = await new Promise((resolve, reject) => {
    const sent = rawRequest(`${http.url()}/api/upload`, { method: 'POST', headers }, answer => resolve(answer.statusCode))
    sent.on('error', reject)
    sent.write('--x\r\n')
    t.teardown(() => sent.destroy())
  })
  t.is(status, 413)
})

test('answers carry headers that keep other sites out', async t => {
  const { http } = await open()
  const { headers } = await http.app.inject('/page')
  t.regex(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
  t.is(headers['x-content-type-options'], 'nosniff')
  t.is(headers['cache-control'], 'no-store')
  t.is(headers['content-type'], 'text/html; charset=utf-8')
})

test('a page takes any query, an API route only what it names', async t => {
  const { http } = await open()
  t.is((await http.app.inject('/page?anything=1')).statusCode, 200)
  t.is((await http.app.inject('/api/broken?anything=1')).statusCode, 400)
})

test('a failed page goes to whoever draws pages, a failed API call never does', async t => {
  const { http } = await open({
    problemPage: ({ code }, _request, reply) => {
      reply.code(404).type('text/html').send(`page of ${code}`)
      return true
    },
  })
  const accept = { accept: 'text/html,*/*' }
  t.is((await http.app.inject({ url: '/nowhere', headers: accept })).body, 'page of not_found')
  t.is((await http.app.inject({ url: '/nowhere' })).json().code, 'not_found')
  t.is((await http.app.inject({ url: '/api/nowhere', headers: accept })).json().code, 'not_found')
})

test('a repeated key gets the first answer, another body with it is a conflict, a failure may be tried again', async t => {
  const { http } = await open()
  const send = async (key: string, fails = false) =>
    http.app.inject({ method: 'POST', url: '/api/counted', payload: { fails }, headers: { 'idempotency-key': key } })
  const [first, again] = await Promise.all([send('k1'), send('k1')])
  t.deepEqual(again.json(), first.json())
  t.is((await send('k1', true)).statusCode, 409)
  t.not((await send('k2')).json().calls, first.json().calls)
  const failed = await send('k3', true)
  t.not((await send('k3', true)).json().detail, failed.json().detail)
  t.is((await send('ü')).statusCode, 400)
})

test('a write leaves an audit row with who, what and the request', async t => {
  const { http, rows } = await open()
  const answer = await http.app.inject({ method: 'POST', url: '/api/things/x', payload: '{"confirm":true}', headers: json })
  const [{ at: _at, ...row }] = rows as [AuditRow]
  const request_id = answer.headers['x-request-id']
  t.deepEqual(row, {
    actor: 'nobody',
    role: 'public',
    action: 'take',
    subject: 'x',
    before: null,
    building_id: null,
    after: { confirm: true },
    request_id,
  } as never)
})

test('a form needs the token of its own session and comes as numbers and texts', async t => {
  const { http } = await open()
  const headers = { ...(await bearer()), 'content-type': 'application/x-www-form-urlencoded' }
  const send = (payload: string, more = {}) =>
    http.app.inject({ method: 'POST', url: '/form', payload, headers: { ...headers, ...more } })
  t.is((await send('hours=4&text=5')).statusCode, 403)
  t.is((await send('hours=4&text=5&csrf=wrong')).statusCode, 403)
  const caller = await auth.callerOf({ headers, cookies: {} } as never)
  const csrf = auth.formToken(caller!)
  const answer = await send(`hours=4&text=5&csrf=${csrf}`)
  t.deepEqual(answer.json().body, { hours: 4, text: '5' })
  t.is((await send(`hours=four&text=5&csrf=${csrf}`)).statusCode, 400)
  const other = await auth.agentToken(60)
  t.is((await send(`hours=4&text=5&csrf=${csrf}`, { authorization: `Bearer ${other.token}` })).statusCode, 403)
})

test('a port that is taken is an error that names host and port', async t => {
  const taken = createServer()
  await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
  t.teardown(() => taken.close())
  const { port } = taken.address() as { port: number }
  const { http } = await open({ port })
  t.teardown(http.stop)
  const error = await t.throwsAsync(http.start())
  t.is(error.message, `cannot listen on 127.0.0.1:${port}: another process uses this port`)
})

test('the depth of JSON counts lists and objects outside of texts', t => {
  t.is(jsonDepth('{"a":[{"b":"[[[\\"[["}]}', 99), 3)
  t.is(jsonDepth(String.raw`{"\\":[{"c":"[\\"}]}`, 99), 3)
  t.is(jsonDepth('["[[', 99), 1)
  t.is(jsonDepth('1', 99), 0)
  t.is(jsonDepth('[[[[]]]]', 2), 3)
})

test('a request that may change something is answered when the change is kept, and one that only reads at once', async t => {
  const kept = Promise.withResolvers<void>()
  const { http } = await open({ settled: () => kept.promise })
  const read = await http.app.inject({ method: 'GET', url: '/api/openapi.json' })
  t.is(read.statusCode, 200, read.body.slice(0, 200))
  let isAnswered = false
  const payload = '{"confirm":true}'
  const answer = http.app.inject({ method: 'POST', url: '/api/things/x', payload, headers: json }).then(reply => {
    isAnswered = true
    return reply
  })
  await sleep(50)
  t.false(isAnswered)
  kept.resolve()
  t.is((await answer).statusCode, 200)
})
