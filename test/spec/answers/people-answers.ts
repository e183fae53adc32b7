/** Logins, users, tokens and tenants, on a hub with tenants. */
import type { ExecutionContext } from 'ava'
import { PASSWORDS } from '../../support/sites/central-site.ts'
import { BUILDING, POINTS } from '../../support/page-fixture.ts'
import { openSite } from '../../support/sites/page-site.ts'
import { openSpecHub } from '../spec-site.ts'
import { type Asked, openAsking } from './asking.ts'

const OWN = 'a password of my own'

export async function peopleAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const { url, addTenant } = await openSpecHub(t, { SERVICE_MULTI_TENANT: '1' })
  await addTenant('acme')
  const { ask, askAs } = await openAsking(t, url, asked)
  const login = async (username: string, password: string): Promise<string> =>
    (await ask('POST', '/api/auth/login', { username, password })).token

  await ask('GET', '/api/auth/status')
  t.is((await ask('GET', '/api/auth/me')).username, 'admin')
  await ask('POST', '/api/auth/agent-token', { ttl_secs: 60 })
  const { user, first_password } = await ask('POST', '/api/users', { username: 'ann', role: 'viewer' })
  t.is(user.username, 'ann')
  await ask('GET', '/api/users')
  await ask('GET', '/api/users/ann')
  await ask('PATCH', '/api/users/ann', { role: 'operator' })
  const again = (await ask('POST', '/api/users/ann/reset-password', {})).first_password
  t.not(again, first_password)
  await ask('PUT', '/api/tenants/acme/members/ann')
  t.deepEqual((await ask('GET', '/api/tenants/acme/members')).members, ['ann'])
  const first = askAs(await login('ann', again))
  t.is((await first('GET', '/api/auth/me')).must_change_password, true)
  await first('POST', '/api/auth/password', { password: again, new_password: OWN })

  await ask('POST', '/api/tenants', { tenant_id: 'rival', name: 'Rival' })
  t.is((await ask('GET', '/api/tenants?limit=1')).tenants.length, 1)
  await ask('PATCH', '/api/tenants/acme/budget', { max_series: 100 })
  await ask('GET', '/api/tenants/budgets')
  await ask('POST', '/api/tenants/select', { tenant_id: 'acme' })
  await ask('POST', '/api/tenants/migrate', { tenant_id: 'acme' })
  await ask('DELETE', '/api/tenants/acme/members/ann')

  const before = (await ask('GET', '/api/preferences')).language
  t.not((await ask('PUT', '/api/preferences', { language: 'de', unit_system: 'si' })).language, before)
  await askAs(await login('viewer', PASSWORDS.viewer))('POST', '/api/auth/logout', {})
  await ask('POST', '/api/auth/logout-everywhere', { username: 'viewer' })
  await ask('DELETE', '/api/users/ann')
}

/** Scores of anomalies, and a backup that is restored. */
export async function restoreAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const site = await openSite({ product: 'hub', api: true, restore: true, screening: true })
  t.teardown(site.close)
  const { ask, headers } = await openAsking(t, site.url, asked)
  const { building_id } = BUILDING
  const point = POINTS.find(({ kind, role }) => kind === 'number' && role !== undefined)!
  const scores = `/api/analytics/sql-anomaly/scores?building_id=${building_id}`
  t.is((await ask('GET', scores)).series, undefined)
  t.is((await ask('GET', `${scores}&point_id=${point.point_id}`)).series?.length ?? 0, 0)
  t.is((await ask('GET', '/api/analytics/sql-anomaly/status')).screened.length, 1)

  const passphrase = 'a passphrase of some length'
  const made = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ passphrase }),
  }
  const backup = await (await fetch(`${site.url}/api/backup`, made)).blob()
  const form = new FormData()
  form.set('passphrase', passphrase)
  form.set('file', backup, 'x.backup')
  t.is((await ask('POST', '/api/restore', form)).restore.phase, 'staged')
  await ask('GET', '/api/restore')
  await ask('POST', '/api/restore/confirm', { confirm: true })
  await ask('GET', '/api/restore')
  await ask('DELETE', '/api/restore')
}

/** Tokens, and what those ask who look after the process. */
export async function processAnswers(t: ExecutionContext, asked: Asked): Promise<void> {
  const { url } = await openSpecHub(t)
  const { ask } = await openAsking(t, url, asked)
  const { token } = await ask('POST', '/api/tokens', { name: 'script', role: 'viewer', days: 1 })
  t.is((await ask('GET', '/api/tokens')).tokens.length, 1)
  await ask('DELETE', `/api/tokens/${token.token_id}`)
  await ask('GET', '/api/health')
  await ask('GET', '/api/health/details')
  await ask('GET', '/api/version')
  t.true((await ask('GET', '/api/config/effective')).settings.length > 10)
  await ask('GET', '/api/log?limit=5')
  await ask('PUT', '/api/log/level', { level: 'warn' })
  await ask('GET', '/api/bacnet/poll/status')
}
