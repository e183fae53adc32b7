/** Boxes without a kit and devices of EST come to a tenant by the line of its own page, and no other tenant hears of them. */
import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import test from 'ava'
import { createEstSecrets } from '#hub/enrol/est-secrets.ts'
import { readEnrolmentLine } from '#shared/core/auth/enrolment.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { makeRequest, requestFingerprint } from '#shared/node/pki/pki.ts'
import { folder } from '../../support/folders.ts'
import { makeAuthority } from '../../support/sites/transport-site.ts'
import { openTenantSite } from '../../support/sites/tenant-site.ts'

test('a box asks the people of a tenant, who alone see and accept it; secrets of tenants are their own', async t => {
  const certs = join(folder(t), 'pki')
  const pki = await makeAuthority(certs)
  await pki.central({ site_id: '*', tenants: true })
  const site = await openTenantSite(t, folder(t), {}, certs)
  const { call, admin } = site
  for (const tenant of ['acme', 'beta']) await site.addTenant(tenant)
  const [ann, bob] = [await site.addUser('ann', 'operator', ['acme']), await site.addUser('bob', 'operator', ['beta'])]

  const page = (await call(ann, 'GET', '/enrol')).text
  const line = /<code>(https?:[^<]*#[0-9a-f]{32})<\/code>/.exec(page)![1]!
  const read = readEnrolmentLine(line)!
  t.is(read.tenant_id, 'acme')
  const { csr_pem } = await makeRequest('box')
  const ask = (tenant_id?: string) =>
    call(undefined, 'POST', '/api/enrolments', { csr_pem, edge_id: 'box', ...(tenant_id && { tenant_id }) })
  t.is((await ask('Not A Tenant')).status, 400)
  t.is((await ask(read.tenant_id)).status, 202)
  const fingerprint = requestFingerprint(csr_pem)
  const boxes = async (token: string) => (await call(token, 'GET', '/api/enrolments')).body.boxes.length
  t.deepEqual([await boxes(ann), await boxes(bob), await boxes(admin)], [1, 0, 0])
  const accept = { site_id: 'HQ', edge_id: 'box' }
  t.is((await call(bob, 'POST', `/api/enrolments/${fingerprint}/accept`, accept)).status, 404)
  t.is((await call(admin, 'POST', `/api/enrolments/${fingerprint}/reject`, {})).status, 404)
  t.is((await call(ann, 'POST', `/api/enrolments/${fingerprint}/accept`, accept)).status, 200)
  const { kit } = (await call(undefined, 'GET', `/api/enrolments/${fingerprint}`)).body as { kit: Kit }
  t.is(new X509Certificate(kit.cert_pem).subject, 'CN=edge:acme:HQ:box')
  t.is(kit.edge.topic_base, 'tenants/acme/buildings/HQ/edges/box')
  const listed = async (token: string) => (await call(token, 'GET', '/api/mqtt/certificates')).body.certificates.length
  t.deepEqual([await listed(ann), await listed(bob), await listed(admin)], [1, 0, 0])

  const stray = await makeRequest('stray')
  t.is((await call(undefined, 'POST', '/api/enrolments', { csr_pem: stray.csr_pem, tenant_id: 'nobody' })).status, 202)
  t.deepEqual([await boxes(ann), await boxes(bob), await boxes(admin)], [0, 0, 1], 'it does not wait unseen')

  // One-time secrets of two tenants for the same site and edge are two, and each enrols into its own.
  const ids = { site_id: 'HQ', edge_id: 'box' }
  const made = await Promise.all([ann, bob, admin].map(async token => (await call(token, 'POST', '/api/est/secrets', ids)).body))
  t.deepEqual(
    made.map(({ username }) => username),
    ['acme/HQ/box', 'beta/HQ/box', 'HQ/box'],
  )
  const waiting = async (token: string) => (await call(token, 'GET', '/api/est/secrets')).body.secrets
  t.like(await waiting(ann), [{ ...ids, username: 'acme/HQ/box' }])
  t.false(JSON.stringify(await waiting(ann)).includes(made[0].password))
  const secrets = createEstSecrets(certs, Date.now)
  t.deepEqual(await secrets.use('acme/HQ/box', made[0].password, async edge => edge), { tenant_id: 'acme', ...ids })
  t.is(await secrets.use('acme/HQ/box', made[0].password, async edge => edge), undefined, 'used once')
  t.deepEqual(await waiting(ann), [])

  const withdraw = (token: string) => call(token, 'DELETE', '/api/est/secrets/HQ/box')
  t.is((await withdraw(ann)).status, 404)
  t.is((await withdraw(bob)).status, 200)
  t.is(await secrets.use('beta/HQ/box', made[1].password, async edge => edge), undefined)
  t.deepEqual(await secrets.use('HQ/box', made[2].password, async edge => edge), ids)
})
