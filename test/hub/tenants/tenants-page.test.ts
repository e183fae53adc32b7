/** The page of tenants: its forms do what the API does, for admins of the hub alone. */
import test from 'ava'
import { signedIn } from '../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openTenantSite, OWN_PASSWORD } from '../../support/sites/tenant-site.ts'

test('a tenant is added, limited and given people by the page, and each change is in the audit log', async t => {
  const site = await openTenantSite(t)
  const { get, post } = await signedIn(site.url, 'admin', PASSWORDS.admin)
  t.regex(await (await get('/tenants')).text(), /No tenant yet/)
  t.regex(await (await get('/setup')).text(), /href="\/tenants"/)
  t.is((await post('/tenants', '/tenants', { tenant_id: 'acme', name: 'Acme <b>' })).status, 303)
  t.is((await post('/tenants', '/tenants', { tenant_id: 'acme', name: 'Again' })).status, 409)
  t.is((await post('/tenants', '/tenants', { tenant_id: 'No Id', name: 'No' })).status, 422)
  const limits = { tenant_id: 'acme', max_bytes: '', max_series: '500', max_requests_per_minute: '600' }
  t.is((await post('/tenants/budget', '/tenants', limits)).status, 303)
  t.is((await post('/tenants/budget', '/tenants', { ...limits, max_requests_per_minute: '9' })).status, 422)
  t.is((await post('/tenants/budget', '/tenants', { ...limits, max_series: '-1' })).status, 400)
  t.is((await post('/tenants/members', '/tenants', { tenant_id: 'acme', username: 'viewer' })).status, 303)
  t.is((await post('/tenants/members', '/tenants', { tenant_id: 'acme', username: 'nobody' })).status, 404)
  const page = await (await get('/tenants')).text()
  t.regex(page, /Acme &lt;b&gt;/)
  t.regex(page, /\d bytes <span class="muted">no limit/)
  t.regex(page, /0 <span class="muted">of 500<\/span>/)
  t.regex(page, /<div>viewer<\/div>/)
  const { body } = await site.call(site.admin, 'GET', '/api/tenants/budgets')
  t.deepEqual(body.tenants[0].limits, { max_bytes: null, max_series: 500, max_requests_per_minute: 600 })
  t.is((await post('/tenants/members/remove', '/tenants', { tenant_id: 'acme', username: 'viewer' })).status, 303)
  t.deepEqual((await site.call(site.admin, 'GET', '/api/tenants/acme/members')).body.members, [])
  const actions = site.hub.central.context.audit.list({ limit: 20 }).map(({ action }) => action)
  for (const action of ['add_tenant', 'set_budget', 'add_member', 'remove_member']) t.true(actions.includes(action), action)
})

test('an admin of a tenant and a viewer of the hub do not open the page', async t => {
  const site = await openTenantSite(t)
  await site.addTenant('acme')
  await site.addUser('ann', 'admin', ['acme'])
  for (const [name, password] of [
    ['ann', OWN_PASSWORD],
    ['viewer', PASSWORDS.viewer],
  ] as const) {
    const { get } = await signedIn(site.url, name, password)
    t.is((await get('/tenants')).status, 403, name)
    t.notRegex(await (await get('/setup')).text(), /href="\/tenants"/, name)
  }
})

test('an appliance and a hub without tenants have no such entry', async t => {
  const site = await openSite({ product: 'hub' })
  t.teardown(site.close)
  const { get } = await signedIn(site.url, 'admin', PASSWORDS.admin)
  t.notRegex(await (await get('/setup')).text(), /href="\/tenants"/)
})
