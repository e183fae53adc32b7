/** Budgets of tenants over real HTTP: who sees and sets them, and what is refused beyond them. */
import test from 'ava'
import { openTenantSite, sendAs, type TenantSite } from '../../support/sites/tenant-site.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../../support/packages/packages.ts'

async function twoTenants(site: TenantSite) {
  for (const id of ['acme', 'beta']) await site.addTenant(id)
  return { ann: await site.addUser('ann', 'admin', ['acme']), bob: await site.addUser('bob', 'admin', ['beta']) }
}
const setBudget = (site: TenantSite, token: string, body: object, tenant_id = 'acme') =>
  site.call(token, 'PATCH', `/api/tenants/${tenant_id}/budget`, body)

test('an admin of the hub sees and sets the budget of every tenant, an admin of a tenant sees the own', async t => {
  const site = await openTenantSite(t)
  const { ann } = await twoTenants(site)
  sendAs(site.hub, 'acme', 'e1', edgeModel('HQ'), 1)
  const set = await setBudget(site, site.admin, { max_series: 5, max_requests_per_minute: 1000 })
  const limits = { max_bytes: null, max_series: 5, max_requests_per_minute: 1000 }
  t.like(set, { status: 200, body: { ok: true, tenant_id: 'acme', limits } })
  const all = (await site.call(site.admin, 'GET', '/api/tenants/budgets')).body.tenants
  t.deepEqual(
    all.map(({ tenant_id }: { tenant_id: string }) => tenant_id),
    ['acme', 'beta'],
  )
  const own = (await site.call(ann, 'GET', '/api/tenants/budgets')).body.tenants
  t.is(own.length, 1)
  t.like(own[0], { tenant_id: 'acme', limits, use: { series: 1, requests_per_minute: own[0].use.requests_per_minute } })
  t.true(own[0].use.bytes > 4096)
  t.true(own[0].use.requests_per_minute >= 1)
  t.like(await setBudget(site, ann, { max_series: null }), { status: 403, body: { code: 'forbidden' } })
  t.like(await setBudget(site, site.admin, {}, 'nobody'), { status: 404, body: { code: 'unknown_tenant' } })
  t.like(await setBudget(site, site.admin, { max_bytes: 1 }, 'legacy'), { status: 409, body: { code: 'conflict' } })
  for (const bad of [{ max_bytes: -1 }, { max_bytes: 1.5 }, { max_requests_per_minute: 0 }, { max_rows: 1 }, { max_series: '5' }])
    t.like(await setBudget(site, site.admin, bad), { status: 400, body: { code: 'bad_request' } })
  const row = (await site.call(site.admin, 'GET', '/api/audit?action=set_budget')).body.rows[0]
  t.like(row, { actor: 'admin', subject: 'acme', before: { max_series: null }, after: { max_series: 5 } })
  t.is((await site.call(ann, 'GET', '/api/health/details')).body.tenant_budgets, true)
})

test('beyond its budget a tenant imports nothing, and another tenant does', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  const upload = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const body = zipForm(await zipOf(airHandler(table(rows(12)))))
    const response = await fetch(`${site.url}/api/csv/import/preflight`, { method: 'POST', headers, body })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const staged = (await upload(ann)).body
  const execute = (token: string, session_id: string | undefined) =>
    site.call(token, 'POST', '/api/csv/import/execute', { session_id, confirm: true, mode: 'merge' })
  await setBudget(site, site.admin, { max_series: 1 })
  t.like(await execute(ann, staged['session_id']), { status: 507, body: { code: 'tenant_over_budget' } })
  await setBudget(site, site.admin, { max_series: null, max_bytes: 1 })
  t.like(await execute(ann, staged['session_id']), { status: 507, body: { code: 'tenant_over_budget' } })
  t.like(await upload(ann), { status: 507, body: { code: 'tenant_over_budget' } })
  t.is((await site.call(ann, 'GET', '/api/tenants/budgets')).body.tenants[0].use.series, 0)
  t.is((await execute(bob, (await upload(bob)).body['session_id'])).status, 200)
  await setBudget(site, site.admin, { max_bytes: null })
  t.is((await execute(ann, staged['session_id'])).status, 200, 'the staged package is still there')
})

test('beyond its requests a minute a tenant waits, over all its tokens, and another tenant does not', async t => {
  const site = await openTenantSite(t)
  const { ann, bob } = await twoTenants(site)
  const second = await site.addUser('nina', 'viewer', ['acme'])
  await setBudget(site, site.admin, { max_requests_per_minute: 10 })
  const refusals = []
  for (const [path, accept] of [
    ['/api/auth/me', 'application/json'],
    ['/', 'text/html'],
  ] as const) {
    let answered = 0
    let refused
    // The minute of the clock may change meanwhile.
    for (let i = 0; i < 60 && !refused; i++) {
      const answer = await site.call(i % 2 ? ann : second, 'GET', path, undefined, { accept })
      if (answer.status === 429) refused = answer
      else answered++
    }
    t.true(answered <= 30, `${answered} answered`)
    const secs = Number(refused?.headers.get('retry-after') ?? Number.NaN)
    t.true(secs >= 1 && secs <= 60, `Retry-After ${secs} for ${path}`)
    refusals.push(refused)
  }
  t.is(refusals[0]?.body.code, 'too_many_requests')
  t.is((await site.call(bob, 'GET', '/api/auth/me')).status, 200)
  const inAcme = (await site.call(site.admin, 'POST', '/api/tenants/select', { tenant_id: 'acme' })).body.token
  t.is((await setBudget(site, inAcme, { max_requests_per_minute: null })).status, 200, 'from within the tenant')
  t.is((await site.call(ann, 'GET', '/api/auth/me')).status, 200)
})
