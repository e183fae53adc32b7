/** Boxes that ask without a login: what anybody may send is bounded, and a person decides. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createPendingBoxes, type PublicKit } from '#hub/enrol/pending-boxes.ts'
import { DAY } from '#shared/core/time.ts'
import { makeRequest, requestFingerprint } from '#shared/node/pki/pki.ts'
import { folder } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { makeHubAuthority, openEnrolSite } from '../../support/sites/enrol-site.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'

const isOurs = (tenant_id: string | undefined) => tenant_id === undefined
const csr = async () => ({ csr_pem: (await makeRequest('box')).csr_pem })

test('boxes that wait are bounded by network and together, and one that asks again is the same box', async t => {
  const dir = folder(t)
  let now = Date.now()
  const pending = createPendingBoxes(dir, () => now)
  const first = await csr()
  const asked = await pending.ask({ ...first, edge_id: 'box-1' }, '10.0.0.1')
  t.deepEqual(await pending.ask({ ...first, edge_id: 'other' }, '10.0.0.9'), asked)
  for (let i = 1; i < 10; i++) await pending.ask(await csr(), '10.0.0.1')
  await t.throwsAsync(pending.ask(await csr(), '10.0.0.1'), { message: /10 boxes wait .* 10 of this network/ })
  for (let i = 10; i < 50; i++) await pending.ask(await csr(), `10.0.1.${i}`)
  await t.throwsAsync(pending.ask(await csr(), '10.0.2.1'), { message: /50 boxes wait/ })
  t.is((await pending.waiting(isOurs)).length, 50)

  await pending.decide(asked.fingerprint, { isOurs })
  await t.throwsAsync(pending.decide(asked.fingerprint, { isOurs }), { message: /rejected already/ })
  t.is((await pending.ask(first, '10.0.0.1')).state, 'rejected')
  const again = createPendingBoxes(dir, () => now)
  t.is((await again.waiting(isOurs)).length, 49, 'a restart forgets nothing')
  now += 8 * DAY
  t.is((await again.waiting(isOurs)).length, 0)
  await again.ask(await csr(), '10.0.0.1')
  t.is((JSON.parse(readFileSync(join(dir, 'pending.json'), 'utf8')) as unknown[]).length, 1, 'what is forgotten leaves the disk')
})

test('boxes of two tenants wait apart: neither fills the list of the other, nor decides on its boxes', async t => {
  const pending = createPendingBoxes(folder(t), Date.now)
  const of = (tenant: string | undefined) => (tenant_id: string | undefined) => tenant_id === tenant
  for (let i = 0; i < 50; i++) await pending.ask({ ...(await csr()), tenant_id: 'acme' }, `10.0.1.${i}`)
  await t.throwsAsync(pending.ask({ ...(await csr()), tenant_id: 'acme' }, '10.0.2.1'), { message: /50 boxes wait/ })
  const { fingerprint } = await pending.ask({ ...(await csr()), tenant_id: 'beta' }, '10.0.2.1')
  await pending.ask(await csr(), '10.0.2.1')
  t.deepEqual(
    await Promise.all([undefined, 'acme', 'beta', 'gamma'].map(async tenant => (await pending.waiting(of(tenant))).length)),
    [1, 50, 1, 0],
  )
  await t.throwsAsync(pending.decide(fingerprint, { isOurs: of('acme') }), { message: /No box/ })
  t.is((await pending.decide(fingerprint, { isOurs: of('beta') })).state, 'rejected')
})

test('a decision that fails leaves the box waiting', async t => {
  const pending = createPendingBoxes(folder(t), Date.now)
  const { fingerprint } = await pending.ask(await csr(), '10.0.0.1')
  await t.throwsAsync(pending.decide(fingerprint, { isOurs, issue: () => Promise.reject(new Error('disk full')) }), {
    message: 'disk full',
  })
  t.is((await pending.get(fingerprint)).state, 'pending')
  await t.throwsAsync(pending.get('0'.repeat(32)), { message: /No box/ })
  const kit = { cert_pem: 'x' } as PublicKit
  t.is((await pending.decide(fingerprint, { isOurs, issue: async () => kit })).state, 'accepted')
  t.deepEqual((await pending.get(fingerprint)).kit, kit)
})

test('without a login a box may ask and fetch, not list or decide; what it sends is checked, and asking is throttled', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const site = await openEnrolSite(hub, 8883)
  t.teardown(site.close)
  const post = (path: string, body: unknown) =>
    fetch(site.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const request = await csr()
  const asked = await post('/api/enrolments', { ...request, edge_id: 'box-2' })
  t.is(asked.status, 202)
  const fingerprint = requestFingerprint(request.csr_pem)
  t.like(await asked.json(), { fingerprint, state: 'pending' })
  for (const body of [{}, { csr_pem: 'no request' }, { ...request, edge_id: '../x' }, { ...request, role: 'admin' }]) {
    t.true([400, 422].includes((await post('/api/enrolments', body)).status), JSON.stringify(body))
  }
  const letter = request.csr_pem[120] === 'A' ? 'B' : 'A'
  const other = `${request.csr_pem.slice(0, 120)}${letter}${request.csr_pem.slice(121)}`
  t.is((await post('/api/enrolments', { csr_pem: other })).status, 422, 'the signature is checked')
  for (const path of [`/api/enrolments/${fingerprint}/accept`, `/api/enrolments/${fingerprint}/reject`]) {
    t.is((await post(path, { site_id: 'A', edge_id: 'box-2' })).status, 401)
  }
  t.is((await fetch(`${site.url}/api/enrolments`)).status, 401)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.is((await viewer.get('/api/enrolments')).status, 403)

  const operator = await signedIn(site.url, 'agent', PASSWORDS.agent)
  t.like(await (await operator.get('/api/enrolments')).json(), { boxes: [{ fingerprint, edge_id: 'box-2' }] })
  const accept = { fingerprint, site_id: 'A', edge_id: 'box-2' }
  t.is((await operator.post('/enrol/accept', '/enrol', accept)).status, 303)
  const answer = (await (await fetch(`${site.url}/api/enrolments/${fingerprint}`)).json()) as { kit: object }
  t.like(answer, { state: 'accepted', kit: { edge: { site_id: 'A', edge_id: 'box-2' } } })
  t.deepEqual(Object.keys(answer.kit).toSorted(), ['acl', 'ca_pem', 'cert_pem', 'edge'], 'no token and no key')
  t.is((await operator.post('/enrol/reject', '/enrol', { fingerprint })).status, 409)

  let status = 0
  let tries = 0
  for (; tries < 130 && status !== 429; tries++) status = (await fetch(`${site.url}/api/enrolments/${'0'.repeat(32)}`)).status
  t.is(status, 429)
})
