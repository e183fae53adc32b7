/** Tokens of scripts: made, used, limited and revoked, over real HTTP and a real database. */
import anyTest, { type TestFn } from 'ava'
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { Route } from '#shared/node/http/route.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const test = anyTest as TestFn<{ site: TestCentral }>
test.before(async t => {
  const site = await startCentral({ pages: true })
  for (const building_id of ['school', 'library']) {
    const building = { building_id, name: building_id, site_id: 'site-1', timezone: 'UTC', unit_system: 'si' } as const
    const ahu = { equipment_id: `${building_id}-ahu`, building_id, name: '', equipment_type: 'ahu' } as const
    site.central.context.model.put({ building, equipment: [ahu] })
  }
  t.context = { site }
})
test.after.always(t => t.context.site.close())

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const as = (site: TestCentral, token: string, method: string, path: string, body?: unknown) =>
  site.call('nobody', method, path, body, bearer(token))
const make = async (site: TestCentral, given: object) => {
  const { body } = await site.call('admin', 'POST', '/api/tokens', given)
  return { secret: body.secret as string, token_id: body.token?.token_id as string, body }
}

test('a token is shown once, stored as a hash, and opens what its role opens', async t => {
  const { site } = t.context
  const { secret, body } = await make(site, { name: 'nightly import', role: 'operator', scope: 'role', days: 30 })
  t.regex(secret, /^plenum_[0-9a-f]{12}_[\w-]{43}$/)
  t.like(body.token, {
    name: 'nightly import',
    role: 'operator',
    scope: 'role',
    building_id: null,
    last_used_at: null,
    created_by: 'admin',
  })
  t.true(Math.abs(Date.parse(body.token.expires_at) - Date.now() - 30 * DAY) < MINUTE)
  t.like((await as(site, secret, 'GET', '/api/auth/me')).body, { username: 'token:nightly import', role: 'operator' })
  const stored = site.central.db.prepare('SELECT * FROM api_tokens').all()
  // The secret may have underscores of its own.
  const part = secret.replace(/^plenum_[0-9a-f]{12}_/, '')
  t.false(JSON.stringify(stored).includes(part))
  t.false((await site.call('admin', 'GET', '/api/tokens')).text.includes(part))
  t.false(JSON.stringify(site.central.context.audit.list({ limit: 1000 })).includes(part))
})

test('a revoked, expired, altered or invented token is refused', async t => {
  const { site } = t.context
  const { apiTokens } = site.central.context
  const revoked = await make(site, { name: 'revoked', role: 'viewer' })
  t.is((await as(site, revoked.secret, 'GET', '/api/auth/me')).status, 200)
  t.is((await site.call('admin', 'DELETE', `/api/tokens/${revoked.token_id}`)).status, 200)
  t.is((await as(site, revoked.secret, 'GET', '/api/auth/me')).status, 401)
  t.is((await site.call('admin', 'DELETE', `/api/tokens/${revoked.token_id}`)).body.code, 'unknown_token')

  const { secret, token_id } = await make(site, { name: 'expired', role: 'viewer' })
  const altered = `${secret.slice(0, -2)}${secret.at(-2) === 'A' ? 'B' : 'A'}${secret.at(-1)}`
  t.is((await as(site, altered, 'GET', '/api/auth/me')).status, 401)
  const stored = apiTokens.get(token_id)!
  apiTokens.remove(token_id)
  apiTokens.add({ ...stored, expires_at: Date.now() - 1 })
  const answer = await as(site, secret, 'GET', '/api/auth/me')
  t.deepEqual([answer.status, answer.body.detail], [401, 'The token has expired'])
  t.is((await as(site, `plenum_${'0'.repeat(12)}_${'A'.repeat(43)}`, 'GET', '/api/auth/me')).status, 401)
})

test('the last use is known to a minute, and is not written with every request', async t => {
  const { site } = t.context
  const { apiTokens } = site.central.context
  const { secret, token_id } = await make(site, { name: 'used', role: 'viewer' })
  await as(site, secret, 'GET', '/api/auth/me')
  const first = apiTokens.get(token_id)!.last_used_at!
  t.true(Math.abs(Date.now() - first) < MINUTE)
  apiTokens.used(token_id, first - MINUTE / 2)
  await as(site, secret, 'GET', '/api/auth/me')
  t.is(apiTokens.get(token_id)!.last_used_at, first - MINUTE / 2)
  apiTokens.used(token_id, first - 2 * MINUTE)
  await as(site, secret, 'GET', '/api/auth/me')
  t.true(apiTokens.get(token_id)!.last_used_at! >= first)
})

test('a token that only reads gets answers from every GET of its role, and changes nothing', async t => {
  const { site } = t.context
  const { secret } = await make(site, { name: 'reader', role: 'admin' })
  for (const route of site.central.routes.filter(({ auth }) => auth !== 'public')) {
    const { status, body } = await as(site, secret, route.method, route.path.replace(/:\w+/g, 'x.yaml'))
    const refused = status === 403 && body.code === 'forbidden'
    const changes = route.action !== undefined && !route.changesNothing
    t.is(refused, changes, `${route.method} ${route.path}: ${status}`)
    t.not(status, 401)
  }
  const rows = site.central.context.audit.list({ limit: 1000 })
  t.deepEqual(
    rows.filter(({ actor }) => actor === 'token:reader'),
    [],
  )
})

const nameOf = ({ method, path }: Route) => `${method} ${path}`
/** What a token of one building may call without naming a building. */
const OF_NO_BUILDING = [
  'GET /api/auth/me',
  'GET /api/fault-definitions',
  'GET /api/fdd-rules',
  'GET /api/ingest/contract',
  'GET /api/model/quantities/schema',
  'GET /api/version',
]

test('a token of one building is refused by every route that does not name it, also by pages', async t => {
  const { site } = t.context
  const { secret } = await make(site, { name: 'school only', role: 'admin', scope: 'role', building_id: 'school' })
  const { context, routes } = site.central
  t.deepEqual(
    routes
      .filter(({ anyBuilding }) => anyBuilding)
      .map(nameOf)
      .toSorted(),
    OF_NO_BUILDING,
  )
  // With a body that does not fit its schema the answer is 400, before the building is looked at.
  const open = routes.filter(({ auth, anyBuilding }) => auth !== 'public' && !anyBuilding)
  for (const route of open) {
    const { status } = await as(site, secret, route.method, route.path.replace(/:\w+/g, 'x.yaml'))
    t.true([400, 403, 415].includes(status), `${nameOf(route)}: ${status}`)
  }
  for (const page of ['/', '/faults', '/points?building=school', '/users']) {
    const { status } = await as(site, secret, 'GET', page)
    t.true([403, 404].includes(status), page)
  }
  const get = async (path: string) => (await as(site, secret, 'GET', path)).status
  t.is(await get('/api/model/equipment?building_id=school'), 200)
  t.is(await get('/api/model/equipment?building_id=library'), 403)
  t.deepEqual(
    (await as(site, secret, 'GET', '/api/model/buildings?building_id=school')).body.buildings.map(
      (one: { building_id: string }) => one.building_id,
    ),
    ['school'],
  )
  const run = (building_id: string) => as(site, secret, 'POST', '/api/fdd/run', { building_id })
  t.is((await run('library')).status, 403)
  t.not((await run('school')).status, 403)
  const setting = { building_id: 'school', rule_id: 'x', param: 'y', scope: 'site', value: 1 }
  t.is((await as(site, secret, 'PUT', '/api/fdd/params', setting)).status, 403)
  t.is(context.paramSettings.list().length, 0)
})

test('a token of one building reaches runs of this building alone', async t => {
  const { site } = t.context
  const { secret } = await make(site, { name: 'runs of the school', role: 'viewer', building_id: 'school' })
  for (const [building_id, status] of [
    ['school', 200],
    ['library', 403],
  ] as const) {
    const { run_id } = (await site.call('operator', 'POST', '/api/fdd/run', { building_id })).body
    t.is((await as(site, secret, 'GET', `/api/fdd/runs/${run_id}`)).status, status)
  }
})

test('a token of one building changes saved views of this building alone', async t => {
  const { site } = t.context
  const { secret } = await make(site, { name: 'views of the school', role: 'operator', scope: 'role', building_id: 'school' })
  const { savedTrends } = site.central.context
  for (const [building_id, status] of [
    ['school', 200],
    ['library', 403],
  ] as const) {
    const trend_id = `view-${building_id}`
    const span = { days: 1 }
    savedTrends.put({ trend_id, building_id, name: 'Cooling', point_ids: ['p'], span, created_by: 'agent', created_at: 0 })
    const path = `/api/saved-trends/${trend_id}`
    t.is((await as(site, secret, 'PATCH', path, { name: 'Heating' })).status, status)
    t.is((await as(site, secret, 'GET', `/api/saved-trends?building_id=${building_id}`)).status, status)
    t.is((await as(site, secret, 'DELETE', path)).status, status)
    t.is(savedTrends.get(trend_id)?.name, status === 200 ? undefined : 'Cooling')
  }
})

test('a token makes neither users nor tokens, and does not sign out', async t => {
  const { site } = t.context
  const { secret, token_id } = await make(site, { name: 'root script', role: 'admin', scope: 'role' })
  for (const [method, path, body] of [
    ['POST', '/api/users', { username: 'mallory', role: 'admin' }],
    ['POST', '/api/tokens', { name: 'successor', role: 'admin', scope: 'role' }],
    ['DELETE', `/api/tokens/${token_id}`, undefined],
    ['POST', '/api/auth/agent-token', {}],
  ] as const) {
    t.is((await as(site, secret, method, path, body)).status, 403, `${method} ${path}`)
  }
  t.is((await as(site, secret, 'POST', '/api/auth/logout')).body.code, 'invalid')
  t.is((await as(site, secret, 'POST', '/api/auth/logout-everywhere')).body.code, 'invalid')
  t.is((await as(site, secret, 'GET', '/api/users')).status, 200)
})

for (const [what, given, status] of [
  ['a name that is taken, in other letters', { name: 'NIGHTLY IMPORT 2', role: 'viewer' }, 409],
  ['a building that is not there', { name: 'b', role: 'viewer', building_id: 'nowhere' }, 404],
  ['a role of edges', { name: 'b', role: 'edge' }, 400],
  ['no days', { name: 'b', role: 'viewer', days: 0 }, 400],
  ['367 days', { name: 'b', role: 'viewer', days: 367 }, 400],
  ['markup in its name', { name: '<b>', role: 'viewer' }, 400],
] as const) {
  test(`a token with ${what} is refused with ${status}`, async t => {
    const { site } = t.context
    if (status === 409) await make(site, { name: 'nightly import 2', role: 'viewer' })
    t.is((await site.call('admin', 'POST', '/api/tokens', given)).status, status)
  })
}

test('wrong tokens are counted, and a right one passes all the same', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const { secret } = await make(site, { name: 'right', role: 'viewer' })
  const statuses: number[] = []
  for (let i = 0; i < 10; i++) {
    const wrong = `plenum_${String(i).padStart(12, '0')}_${'A'.repeat(43)}`
    statuses.push((await as(site, wrong, 'GET', '/api/auth/me')).status)
  }
  t.deepEqual(statuses, [...Array(8).fill(401), 429, 429])
  t.is((await as(site, secret, 'GET', '/api/auth/me')).status, 200)
  const rows = site.central.context.audit.list({ limit: 100 })
  t.true(rows.some(({ action, subject }) => action === 'login_refused' && subject.startsWith('token from')))
})

test('what a token changes is in the audit under its name, and so are its making and its end', async t => {
  const { site } = t.context
  const { secret, token_id } = await make(site, { name: 'auditor', role: 'operator', scope: 'role' })
  await as(site, secret, 'PUT', '/api/model/prices', { building_id: 'school', currency: 'EUR', electricity: 0.3 })
  await site.call('admin', 'DELETE', `/api/tokens/${token_id}`)
  const rows = site.central.context.audit.list({ limit: 1000 })
  const of = (action: string, actor: string) => rows.find(row => row.action === action && row.actor === actor)
  t.like(of('put_prices', 'token:auditor'), { role: 'operator', subject: 'school' })
  t.truthy(rows.find(({ action, subject, after }) => action === 'add_token' && subject === 'auditor' && after !== null))
  t.truthy(rows.find(({ action, subject, before }) => action === 'revoke_token' && subject === 'auditor' && before !== null))
})
