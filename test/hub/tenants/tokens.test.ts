/** Tokens that the admin of a tenant adds act in that tenant alone, and figures of the hub say nothing of a tenant. */
import test from 'ava'
import { freePort } from '#scripts/lib/free-port.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { openTenantSite, sendAs, type TenantSite } from '../../support/sites/tenant-site.ts'
import { folder } from '../../support/folders.ts'

async function twoTenants(site: TenantSite) {
  for (const id of ['acme', 'rival']) await site.addTenant(id)
  sendAs(site.hub, 'acme', 'e1', edgeModel('HQ', 'acme-hq'), 1)
  sendAs(site.hub, 'rival', 'e1', edgeModel('HQ', 'rival-hq'), 1)
  return { ann: await site.addUser('ann', 'admin', ['acme']), bob: await site.addUser('bob', 'admin', ['rival']) }
}
const add = (site: TenantSite, token: string, more: object = {}) =>
  site.call(token, 'POST', '/api/tokens', { name: 'collector', role: 'operator', scope: 'role', ...more })
const listed = async (site: TenantSite, token: string): Promise<string[]> =>
  (await site.call(token, 'GET', '/api/tokens')).body.tokens.map(({ token_id }: { token_id: string }) => token_id)

test('a token of a tenant acts in that tenant alone, whatever its role', async t => {
  const workspace = folder(t)
  const site = await openTenantSite(t, workspace)
  const { ann, bob } = await twoTenants(site)
  const own = (await add(site, ann, { role: 'admin', days: 3 })).body
  const theirs = (await add(site, bob)).body
  const ofHub = (await add(site, site.admin)).body
  t.like(own.token, { name: 'collector', role: 'admin', scope: 'role', created_by: 'ann', last_used_at: null })
  const me = (await site.call(own.secret, 'GET', '/api/auth/me')).body
  t.like(me, { username: 'token:collector', active_tenant_id: 'acme', tenant_ids: ['acme'] })
  t.deepEqual(
    [await listed(site, ann), await listed(site, bob), await listed(site, site.admin)],
    [[own.token.token_id], [theirs.token.token_id], [ofHub.token.token_id]],
  )
  const buildings = async (token: string) =>
    (await site.call(token, 'GET', '/api/model/buildings')).body.buildings.map((one: { building_id: string }) => one.building_id)
  t.deepEqual(
    [await buildings(own.secret), await buildings(theirs.secret), await buildings(ofHub.secret)],
    [['acme-hq'], ['rival-hq'], []],
  )
  for (const [method, path, body] of [
    ['POST', '/api/tenants/select', { tenant_id: 'rival' }],
    ['GET', '/api/users'],
    ['PATCH', '/api/tenants/acme/budget', { max_bytes: null }],
    ['POST', '/api/tenants/migrate', { tenant_id: 'acme' }],
    ['POST', '/api/tokens', { name: 'successor', role: 'viewer' }],
  ] as const)
    t.like(await site.call(own.secret, method, path, body), { status: 403, body: { code: 'forbidden' } }, path)
  const budgets = (await site.call(own.secret, 'GET', '/api/tenants/budgets')).body.tenants
  t.deepEqual(
    budgets.map(({ tenant_id }: { tenant_id: string }) => tenant_id),
    ['acme'],
  )
  t.is((await add(site, ann, { name: 'one building', building_id: 'rival-hq' })).body.code, 'unknown_building')
  t.is((await add(site, ann)).body.code, 'conflict', 'a name is taken once in a tenant')

  const used = (await site.call(ann, 'GET', '/api/tokens')).body.tokens[0]
  t.true(Math.abs(Date.parse(used.last_used_at) - Date.now()) < 60_000)
  await site.call(own.secret, 'POST', '/api/model/buildings', {
    buildings: [{ building_id: 'new', name: 'New', site_id: 'HQ', timezone: 'UTC', unit_system: 'si' }],
  })
  const rows = async (token: string) => (await site.call(token, 'GET', '/api/audit?limit=1000')).text
  t.true((await rows(ann)).includes('token:collector'))
  t.false((await rows(bob)).includes('token:collector'))
  t.true((await rows(bob)).includes('"add_token"'))

  t.is((await site.call(bob, 'DELETE', `/api/tokens/${own.token.token_id}`)).body.code, 'unknown_token')
  await site.close()
  const again = await openTenantSite(t, workspace)
  t.is((await again.call(own.secret, 'GET', '/api/auth/me')).body.active_tenant_id, 'acme', 'after a restart')
  t.is((await again.call(ann, 'DELETE', `/api/tokens/${own.token.token_id}`)).status, 200)
  t.is((await again.call(own.secret, 'GET', '/api/auth/me')).status, 401)
  t.is((await again.call(theirs.secret, 'GET', '/api/auth/me')).status, 200, 'another one of the same name')
})

test('a revoked token ends its own event stream, and not that of the same name in another tenant', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  const [own, theirs] = [(await add(site, ann)).body, (await add(site, bob)).body]
  const stopped = new AbortController()
  t.teardown(() => stopped.abort())
  const open = async (secret: string, tenant_id: string) => {
    const headers = { authorization: `Bearer ${secret}`, 'last-event-id': '0' }
    const { body } = await fetch(`${site.url}/api/mqtt/monitor/stream`, { headers, signal: stopped.signal })
    const reader = body!.getReader()
    const topic = (n: number) => `tenants/${tenant_id}/buildings/HQ/edges/e${n}/status`
    /** Whether a message that comes now arrives; false when the stream has ended. */
    const hears = async (n: number): Promise<boolean> => {
      site.hub.host!.of(tenant_id)!.monitor.record('received', topic(n), Buffer.from('{}'))
      for (let text = ''; !text.includes(topic(n)); ) {
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
        if (done) return false
        text += Buffer.from(value!).toString()
      }
      return true
    }
    return hears
  }
  const [ownHears, theirsHears] = [await open(own.secret, 'acme'), await open(theirs.secret, 'rival')]
  t.deepEqual([await ownHears(1), await theirsHears(1)], [true, true])
  await site.call(ann, 'DELETE', `/api/tokens/${own.token.token_id}`)
  t.deepEqual([await ownHears(2), await theirsHears(2)], [false, true])
})

test('an admin of a tenant manages its tokens on the page, and sees no people', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  await add(site, bob, { name: 'rival collector' })
  await add(site, ann)
  const page = async (token: string) => (await site.call(token, 'GET', '/users', undefined, { accept: 'text/html' })).text
  const own = await page(ann)
  t.regex(own, /collector/)
  t.regex(own, /Add a token/)
  t.notRegex(own, /rival|Add a person|bob/)
  t.regex(await page(site.admin), /Add a person/)
})

test('figures for Prometheus are of the hub’s own workspace alone', async t => {
  const bind = `127.0.0.1:${await freePort()}`
  const site = await openTenantSite(t, folder(t), { SERVICE_METRICS_BIND: bind })
  await twoTenants(site)
  const text = await (await fetch(`http://${bind}/metrics`)).text()
  t.regex(text, /^plenum_edges 0$/m)
  t.regex(text, /^plenum_ingest_ok 0$/m)
  t.notRegex(text, /acme|rival/)
})
