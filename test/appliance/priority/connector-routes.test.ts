import assert from 'node:assert/strict'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { connectorsRoutes } from '#shared/central/api/connectors.ts'
import { HISTORY_SCHEMA, HistoryAnswer } from '#shared/core/priority/priority-wire.ts'
import { PROBLEMS } from '#shared/core/problem.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { schemaErrors } from '#shared/node/http/schema-check.ts'
import { openAuth } from '#shared/node/auth/token.ts'
import type { HistoryService } from '#appliance/priority/history-service.ts'
import { openPriorityApi } from '#appliance/priority/priority-api.ts'
import { connectorRoutes } from '#appliance/priority/connector-routes.ts'
import { inspectionConnectorRoutes } from '#appliance/system/inspection-routes.ts'
import { inspectionService } from '#appliance/system/inspection-service.ts'
import { folder } from '../../support/folders.ts'
import { openEdge, silent, VISIT_ID } from '../../support/sites/priority-edge.ts'

const TOKEN = 'token-of-this-edge-0123456789abcdefghijklmnop'
const BASE = '/api/connector/priority-history'
const schema = HISTORY_SCHEMA

async function serve(t: ExecutionContext, service: HistoryService, token: string | undefined, secret?: string) {
  const passwords = { admin: 'admin-password-1', agent: undefined, viewer: undefined }
  const settings = { secret, passwords, trustedProxies: [] }
  const auth = openAuth({ settings, epochs: { get: () => 0, set: () => undefined }, now: Date.now })
  const http = await openHttp({
    ...{ name: 'edge', host: '127.0.0.1', port: 0, version: '0', log: silent, trustedProxies: [], audit: undefined },
    routes: connectorRoutes(service, token),
    auth,
  })
  await http.start()
  t.teardown(() => http.stop())
  const call = async (bearer: string | undefined, method: string, path: string, body?: unknown) => {
    const response = await fetch(http.url() + path, {
      method,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as any }
  }
  const admin = secret === undefined ? undefined : (await auth.login('admin', passwords.admin, '127.0.0.1')).token
  return { call, admin, url: http.url() }
}

const ASKS: [string, string, unknown, number][] = [
  ['POST', BASE, { schema }, 200],
  ['POST', `${BASE}/trigger`, {}, 202],
  ['GET', `${BASE}/visits/${VISIT_ID}`, undefined, 200],
]

test('the token of the edge opens its routes, and nothing else does', async t => {
  const { service, fill, triggered } = await openEdge(t)
  await fill(1, 2)
  const { call, admin } = await serve(t, service, TOKEN, randomBytes(32).toString('hex'))
  for (const [method, path, body] of ASKS) {
    t.is((await call(undefined, method, path, body)).status, 401, path)
    t.is((await call(`${TOKEN}x`, method, path, body)).status, 401, path)
    t.is((await call(admin, method, path, body)).status, 403, path)
  }
  t.deepEqual(triggered, [])
  for (const [method, path, body, status] of ASKS) t.is((await call(TOKEN, method, path, body)).status, status, path)
  const { body } = await call(TOKEN, 'POST', BASE, { schema, page_size: 1 })
  t.deepEqual(schemaErrors(HistoryAnswer, body), [])
  t.is((await call(TOKEN, 'POST', BASE, { schema, page_size: 1, cursor: body.next_cursor })).body.records[0].seq, 1)
})

test('history and trigger accept no body, an empty body and an empty object', async t => {
  const { service, fill, set, triggered } = await openEdge(t)
  await fill(1, 2)
  const { url } = await serve(t, service, TOKEN)
  const authorization = `Bearer ${TOKEN}`
  const json = { authorization, 'content-type': 'application/json' }
  for (const init of [
    { headers: { authorization } },
    { headers: json },
    { headers: json, body: '' },
    { headers: json, body: '{}' },
  ]) {
    const page = await fetch(url + BASE, { method: 'POST', ...init })
    t.is(page.status, 200)
    t.is(((await page.json()) as HistoryAnswer).records.length, 2)
    t.is((await fetch(`${url}${BASE}/trigger`, { method: 'POST', ...init })).status, 202)
    set({ state: 'idle' })
  }
  t.is(triggered.length, 4)
  for (const body of ['[]', '"x"', '1', '{"extra":1}', '{']) {
    t.is((await fetch(url + BASE, { method: 'POST', headers: json, body })).status, 400, body)
    t.is((await fetch(`${url}${BASE}/trigger`, { method: 'POST', headers: json, body })).status, 400, body)
  }
})

test('without a token every request is refused, also where this machine needs no login', async t => {
  const { service } = await openEdge(t)
  for (const secret of [undefined, randomBytes(32).toString('hex')]) {
    const { call, admin } = await serve(t, service, undefined, secret)
    for (const [method, path, body] of ASKS) {
      for (const bearer of [undefined, TOKEN, 'undefined', admin]) {
        const answer = await call(bearer, method, path, body)
        t.deepEqual([answer.status, answer.body.code], [403, 'forbidden'], path)
        t.regex(answer.body.detail, /edge\.token of the kit is not set/)
      }
    }
  }
})

test('an edge answers only for itself, and an HTTPS port without certificate refuses the start', async t => {
  const { journal, schedule } = await openEdge(t)
  const settings = {
    SERVICE_EDGE_KIT_DIR: '/mqtt',
    SERVICE_EDGE_STORE_DIR: folder(t),
    SERVICE_CONNECTOR_PORT: undefined as number | undefined,
    SERVICE_CONNECTOR_BIND: '127.0.0.1',
  }
  const identity = { site_id: 'A', edge_id: 'edge-1', kit: undefined, version: '0' }
  const parts = { history: { journal, schedule }, levels: levelMeanings, ...identity, log: silent }
  const { own, services } = await openPriorityApi({ settings, ...parts })
  t.deepEqual(services, [])
  t.deepEqual((await own.ask({ edge_id: 'edge-1' }, 'priority_history', { schema })).records, [])
  for (const other of [{ edge_id: 'edge-2' }, { edge_id: 'edge-1', site_id: 'B' }]) {
    await t.throwsAsync(own.ask(other, 'priority_history', { schema }), { message: /no edge edge-/ })
  }
  const withPort = openPriorityApi({ settings: { ...settings, SERVICE_CONNECTOR_PORT: 1 }, ...parts })
  await t.throwsAsync(withPort, { message: 'SERVICE_CONNECTOR_PORT: there is no kit' })
})

test('API.md of the appliance lists the routes of the edge with their role and problems', async t => {
  const { service } = await openEdge(t)
  const text = readFileSync(new URL('../../../appliance/API.md', import.meta.url), 'utf8')
  const told = text.split('\n').filter(line => line.includes('`/api/connector/'))
  const inspection = inspectionService(() => assert.fail('nothing is asked'), Date.now)
  const wanted = [...connectorRoutes(service, TOKEN), ...inspectionConnectorRoutes(inspection, TOKEN)]
  t.is(told.length, wanted.length)
  for (const { method, path, auth, problems = [] } of wanted) {
    const row = told.find(line => line.startsWith(`| ${method} | \`${path}\` | ${auth} |`))
    t.truthy(row, path)
    t.deepEqual([...row!.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!).toSorted(), [...problems].toSorted())
    for (const code of problems) t.true(code in PROBLEMS)
  }
})

test('a trigger leaves an audit row, and reading a page leaves none', t => {
  const routes = connectorsRoutes({ nameOf: () => '', ask: () => Promise.reject(new Error('not asked')) })
  t.deepEqual(
    routes.map(({ method, path, auth, action }) => [method, path.split('/').at(-1), auth, action]),
    [
      ['POST', 'priority-history', 'viewer', undefined],
      ['POST', 'trigger', 'operator', 'priority_trigger'],
      ['GET', ':visit_id', 'viewer', undefined],
    ],
  )
})
