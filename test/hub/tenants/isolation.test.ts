/** Two tenants with one building id and one edge id: no route answers one with anything of the other, not even that it exists. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { openTenantSite, sendAs, type TenantSite } from '../../support/sites/tenant-site.ts'

/** In every text of the other tenant. */
const MARK = 'rival-secret'
/** An id of the other tenant, and one that nobody has, of one length. */
const [THEIRS, NOBODYS] = ['rival-secret-id', 'made-up-id-none']

function modelOf(building_id: string, name: string) {
  const model = edgeModel('HQ', building_id)
  return {
    ...model,
    name,
    building: { ...model.building, name },
    equipment: model.equipment.map(one => ({ ...one, name })),
    points: model.points.map(one => ({ ...one, name })),
  }
}

/** Admins of both tenants, who have the same building and edge; the other tenant has more beside. */
async function twoTenants(site: TenantSite) {
  for (const id of ['acme', MARK]) await site.addTenant(id)
  const ann = await site.addUser('ann', 'admin', ['acme'])
  const bob = await site.addUser(`bob-${MARK}`, 'admin', [MARK])
  sendAs(site.hub, 'acme', 'e1', modelOf('HQ', 'Acme headquarters'), 1)
  sendAs(site.hub, MARK, 'e1', modelOf('HQ', `${MARK} headquarters`), 2)
  sendAs(site.hub, MARK, THEIRS, modelOf(THEIRS, `${MARK} annex`), 3)
  const quantity = { quantity_id: THEIRS, building_id: THEIRS }
  await site.call(bob, 'POST', '/api/model/quantities', quantity)
  await site.call(bob, 'POST', '/api/tokens', { name: `${MARK} collector`, role: 'viewer' })
  await site.call(bob, 'PUT', `/rules/${THEIRS}.yaml`, undefined)
  return { ann, bob }
}

const PARAM = /:([a-z_]+)/g
const fill = (path: string, id: string) => path.replaceAll(PARAM, id)
/** Without what differs in any two answers: ids of requests, times, free space and what the caller uses. */
const plain = (text: string, id: string) =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/name="csrf" value="[^"]*"/g, 'CSRF')
    .replaceAll(/"[a-z_]*(ms|secs|mb)":\d+/g, 'SPAN')
    .replaceAll(/"(bytes|used_percent|requests_per_minute)":\d+/g, 'USE')
    .replaceAll(/<time[^>]*>[^<]*<\/time>(, \d+\ss ago)?/g, 'TIME')
    .replaceAll(/\d+\s(s|min)\b/g, 'AGE')
    .replaceAll(id, 'ID')

const QUERIES = [
  '',
  '?building_id=ID',
  '?building_id=ID&equipment_id=ID',
  '?building_id=ID&point_id=ID',
  '?site_id=ID',
  '?edge_id=ID',
  // As pages name them.
  '?building=ID',
  '?building=ID&equipment=ID',
  '?building=ID&points=ID',
  '?q=ID',
  '?site=ID',
]
/** They leave the session, or stream for ever, which has a test of its own. */
const NOT_WALKED = [
  '/api/mqtt/monitor/stream',
  '/api/auth/logout',
  '/api/auth/logout-everywhere',
  '/logout',
  '/logout/everywhere',
  '/static/:name',
]

test('every route answers with nothing of another tenant, and like for an id that nobody has', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  const openapi = (await site.call(ann, 'GET', '/api/openapi.json')).body
  const api = Object.entries(openapi.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => ({ method: method.toUpperCase(), path: path.replaceAll(/\{([a-z_]+)\}/g, ':$1') })),
  )
  const pages = [
    '/',
    '/fleet/part',
    '/faults',
    '/analytics',
    '/points',
    '/coverage',
    '/params',
    '/baselines',
    '/quantities',
    '/runs',
    '/mqtt',
    '/users',
    '/audit',
    '/audit.csv',
    '/alerts',
    '/backups',
    '/faults.csv',
    '/buildings',
    '/search',
    '/search/part',
    '/trends',
    '/import',
    '/rules',
    '/updates',
    '/enrol',
    '/analytics/operations',
    '/analytics/anomalies',
    '/analytics/economizer',
    '/analytics/operations.csv',
    '/commission',
    '/setup',
    '/settings',
  ]
  const more = [
    '/twins/:building_id',
    '/buildings/:building_id',
    '/buildings/:building_id/figures',
    '/buildings/:building_id/tree',
    '/buildings/:building_id/equipment/:equipment_id',
    '/buildings/:building_id/points/:point_id',
    '/faults/:id',
    '/edges/:edge_id',
    '/edges/:edge_id/part',
    '/edges/:edge_id/overrides',
    '/edges/:edge_id/overrides.csv',
    '/login',
    '/config',
    '/rules',
    '/rules/:file',
    '/run-fdd/status',
    '/nowhere',
    '/health',
  ]
  const routes = [...api, ...[...pages, ...more].map(path => ({ method: 'GET', path }))]
  t.true(routes.length > 90, String(routes.length))
  const browser = { accept: 'text/html' }
  const absent = await Promise.all(
    pages.map(async path => [path, (await site.call(bob, 'GET', path, undefined, browser)).status] as const),
  )
  t.deepEqual(
    absent.filter(([, status]) => status === 404),
    [],
    'each page is there',
  )
  const faults: string[] = []
  let seenByBob = 0
  for (const { method, path } of routes.filter(one => !NOT_WALKED.includes(one.path))) {
    for (const query of method === 'GET' ? QUERIES : ['']) {
      const body = method === 'GET' || method === 'DELETE' ? undefined : {}
      const [asked, madeUp] = [
        fill(path, THEIRS) + query.replaceAll('ID', THEIRS),
        fill(path, NOBODYS) + query.replaceAll('ID', NOBODYS),
      ]
      const accept = { accept: path.startsWith('/api/') ? 'application/json' : 'text/html' }
      const answer = await site.call(ann, method, asked, body, accept)
      const other = await site.call(ann, method, madeUp, body, accept)
      const what = `${method} ${asked}`
      const [text, ofNobody] = [plain(answer.text, THEIRS), plain(other.text, NOBODYS)]
      if (text.includes(MARK)) faults.push(`${what} names the other tenant: ${text}`)
      if (answer.status !== other.status || text !== ofNobody) faults.push(`${what} differs:\n${text}\n${ofNobody}`)
      if (answer.status >= 500) faults.push(`${what} ${answer.status}: ${text}`)
      if (
        method === 'GET' &&
        query === QUERIES[1] &&
        (await site.call(bob, method, asked, body, accept)).text.includes(`${MARK} `)
      )
        seenByBob++
    }
  }
  t.deepEqual(faults, [])
  t.true(seenByBob > 10, `the other tenant itself sees its data in ${seenByBob} answers`)
})

test('the same building and edge id hold each tenant’s own data, and a cursor of one list is none of the other', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  const names = async (token: string) =>
    (await site.call(token, 'GET', '/api/model/buildings')).body.buildings.map(({ name }: { name: string }) => name)
  t.deepEqual(await names(ann), ['Acme headquarters'])
  t.deepEqual(await names(bob), [`${MARK} headquarters`, `${MARK} annex`])
  const first = (await site.call(bob, 'GET', '/api/model/buildings?limit=1')).body
  const next = Buffer.from(THEIRS).toString('base64url')
  for (const cursor of [next, first.next_cursor]) {
    const answer = await site.call(ann, 'GET', `/api/model/buildings?cursor=${cursor}`)
    t.false(answer.text.includes(MARK), answer.text)
  }
  for (const token of [ann, bob]) {
    const edge = (await site.call(token, 'GET', '/api/edges/e1')).body.edge
    t.is(edge.name, token === ann ? 'Acme headquarters' : `${MARK} headquarters`)
  }
  const audit = async (token: string) => (await site.call(token, 'GET', '/api/audit')).text
  t.false((await audit(ann)).includes(MARK))
  t.false((await site.call(site.admin, 'GET', '/api/model/buildings')).text.includes('HQ'), 'the hub’s own workspace is one more')
})

test('the messages of a tenant are shown to nobody else', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  const topic = `tenants/${MARK}/buildings/HQ/edges/e1/status`
  site.hub.host!.of(MARK)!.monitor.record('received', topic, Buffer.from('{}'))
  const seen = async (token: string) => (await site.call(token, 'GET', '/api/mqtt/monitor')).body.recent.length
  t.deepEqual([await seen(ann), await seen(bob), await seen(site.admin)], [0, 1, 0])
  const ended = new AbortController()
  const first = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'last-event-id': '0' }
    const { body } = await fetch(`${site.url}/api/mqtt/monitor/stream`, { headers, signal: ended.signal })
    const { value } = await body!.getReader().read()
    return Buffer.from(value!).toString()
  }
  t.false((await first(ann)).includes(MARK))
  ended.abort()
})

test('files lie in the folder of their tenant', async t => {
  const site = await openTenantSite(t)
  await twoTenants(site)
  await site.close()
  t.deepEqual(readdirSync(join(site.workspace, 'tenants')).toSorted(), ['acme', MARK])
  for (const dir of ['', 'tenants/acme']) {
    const path = join(site.workspace, dir, 'plenum.db')
    const found = readFileSync(path).includes(`${MARK} headquarters`)
    t.false(found, path)
  }
})
