/** Who may enter which tenant, and who administers the hub. */
import test from 'ava'
import { folder } from '../../support/folders.ts'
import { startCentral } from '../../support/sites/central-site.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { openTenantSite, OWN_PASSWORD, sendAs } from '../../support/sites/tenant-site.ts'

test('a user enters the tenants of which an admin of the hub has made a member, and changes between them', async t => {
  const site = await openTenantSite(t)
  const { call, login, admin } = site
  t.is((await site.addTenant('acme')).status, 200)
  t.like((await site.addTenant('acme')).body, { code: 'conflict' })
  t.like((await site.addTenant('../acme')).body, { code: 'invalid' })
  t.like((await site.addTenant('legacy')).body, { code: 'conflict' })
  await site.addTenant('beta')
  const first = (await call(admin, 'POST', '/api/users', { username: 'nina', role: 'viewer' })).body.first_password
  t.like((await login('nina', first)).body, { status: 403, code: 'forbidden' }, 'a member of no tenant')

  await site.addUser('ann', 'operator', ['acme', 'beta'])
  const signedIn = (await login('ann', OWN_PASSWORD)).body
  t.like(signedIn, { multi_tenant: true, active_tenant_id: 'acme' })
  const me = async (token: string) => (await call(token, 'GET', '/api/auth/me')).body
  t.like(await me(signedIn.token), { multi_tenant: true, active_tenant_id: 'acme', tenant_ids: ['acme', 'beta'] })
  const select = (token: string, tenant_id: string) => call(token, 'POST', '/api/tenants/select', { tenant_id })
  const selected = await select(signedIn.token, 'beta')
  t.is(selected.status, 200)
  t.like(selected.body, { ok: true, token_type: 'Bearer', role: 'operator', subject: 'ann', active_tenant_id: 'beta' })
  t.is(selected.body.expires_at.slice(0, 16), signedIn.expires_at.slice(0, 16), 'it does not last longer')
  t.like(await me(selected.body.token), { active_tenant_id: 'beta' })

  sendAs(site.hub, 'beta', 'e1', edgeModel('HQ'), 1)
  const buildings = async (token: string) => (await call(token, 'GET', '/api/model/buildings')).body.buildings.length
  t.deepEqual([await buildings(signedIn.token), await buildings(selected.body.token)], [0, 1])
  const [known, unknown] = [await select(signedIn.token, 'legacy'), await select(signedIn.token, 'nobody')]
  t.deepEqual([known.status, unknown.status], [403, 403])
  t.is(known.body.detail.replace('legacy', ''), unknown.body.detail.replace('nobody', ''))

  t.is((await call(admin, 'DELETE', '/api/tenants/beta/members/ann')).status, 200)
  t.is((await call(selected.body.token, 'GET', '/api/auth/me')).status, 401, 'tokens end with the membership')
  t.like((await login('ann', OWN_PASSWORD)).body, { active_tenant_id: 'acme' })
})

test('an admin of a tenant administers the tenant alone, an admin of the hub all of it', async t => {
  const site = await openTenantSite(t)
  const { call, admin } = site
  await site.addTenant('acme')
  const ann = await site.addUser('ann', 'admin', ['acme'])
  for (const [method, path, body] of [
    ['GET', '/api/users'],
    ['POST', '/api/tenants', { tenant_id: 'mine', name: 'Mine' }],
    ['GET', '/api/tenants/acme/members'],
    ['PUT', '/api/tenants/legacy/members/ann'],
    ['GET', '/api/config/effective'],
    ['POST', '/api/auth/logout-everywhere', { username: 'admin' }],
  ] as const) {
    const { status, body: answer } = await call(ann, method, path, body)
    t.deepEqual([status, answer.code], [403, 'forbidden'], path)
  }
  t.is((await call(ann, 'GET', '/api/audit')).status, 200)
  const list = async (token: string) =>
    (await call(token, 'GET', '/api/tenants')).body.tenants.map(({ tenant_id }: { tenant_id: string }) => tenant_id)
  t.deepEqual(await list(ann), ['acme'])
  t.deepEqual(await list(admin), ['legacy', 'acme'])

  const agent = (await call(ann, 'POST', '/api/auth/agent-token')).body
  t.like(agent, { active_tenant_id: 'acme' })
  t.deepEqual(await list(agent.token), ['acme'])
  t.is((await call(agent.token, 'POST', '/api/tenants/select', { tenant_id: 'legacy' })).status, 403)

  const inAcme = (await call(admin, 'POST', '/api/tenants/select', { tenant_id: 'acme' })).body.token
  t.is((await call(inAcme, 'GET', '/api/users')).status, 200, 'from within a tenant')
  t.is((await call(inAcme, 'DELETE', '/api/users/ann')).status, 200)
  t.deepEqual((await call(inAcme, 'GET', '/api/tenants/acme/members')).body.members, [], 'a user of this name enters anew')
})

test('tenants and members outlast a restart, and health names the tenant only to who is in it', async t => {
  const workspace = folder(t)
  const before = await openTenantSite(t, workspace)
  await before.addTenant('acme')
  await before.addUser('ann', 'viewer', ['acme'])
  sendAs(before.hub, 'acme', 'e1', edgeModel('HQ'), 1)
  await before.close()
  const site = await openTenantSite(t, workspace)
  const ann = (await site.login('ann', OWN_PASSWORD)).body.token
  t.is((await site.call(ann, 'GET', '/api/model/buildings')).body.buildings.length, 1)
  const details = (await site.call(ann, 'GET', '/api/health/details')).body
  t.like(details, { multi_tenant: true, active_tenant_id: 'acme', historian_prefix: 'tenants/acme', edges: 1 })
  const open = (await site.call(undefined, 'GET', '/api/health')).body
  t.like(open, { multi_tenant: true, active_tenant_id: 'legacy', historian_prefix: '', edges: 0, ingest_ok: 0 })
  t.is((await site.call(undefined, 'GET', '/api/building/snapshot')).status, 401)
  t.is((await site.call(ann, 'GET', '/api/building/snapshot')).status, 200)
})

test('without tenants there is one, and selecting it changes nothing', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  const listed = (await site.call('viewer', 'GET', '/api/tenants')).body
  t.like(listed, { multi_tenant: false, active_tenant_id: 'legacy' })
  t.deepEqual(listed.tenants, [{ tenant_id: 'legacy', name: 'legacy' }])
  const selected = await site.call('viewer', 'POST', '/api/tenants/select', { tenant_id: 'whatever' })
  t.is(selected.status, 200)
  t.like(selected.body, { role: 'viewer', subject: 'viewer', multi_tenant: false, active_tenant_id: 'legacy' })
  const bearer = { authorization: `Bearer ${selected.body.token}` }
  t.is((await site.call('nobody', 'GET', '/api/model/buildings', undefined, bearer)).status, 200)
  t.like((await site.call('admin', 'POST', '/api/tenants', { tenant_id: 'acme', name: 'Acme' })).body, {
    code: 'tenants_disabled',
  })
  t.is((await site.call('nobody', 'GET', '/api/building/snapshot')).status, 200)
})
