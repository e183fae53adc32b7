/** Reports of refused logins, and guesses at secrets other than passwords. */
import test from 'ava'
import { PassThrough } from 'node:stream'
import pino from 'pino'
import { MINUTE } from '#shared/core/time.ts'
import { openRefusedLogins } from '#shared/node/auth/refused-logins.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { auditStore, refusedLoginStore } from '#shared/node/store/audit.ts'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const silent = pino({ level: 'silent' })
type Line = { msg: string; user: string; address: string; throttled: boolean }

/** A central that trusts its clients to say who they are, so that they can come from anywhere. */
async function start() {
  const lines: Line[] = []
  const to = new PassThrough().on('data', line => lines.push(JSON.parse(String(line))))
  const site = await startCentral({ trustedProxies: ['127.0.0.1'], log: pino({ level: 'warn' }, to) })
  return { site, lines: () => lines.filter(({ msg }) => msg.startsWith('login refused')) }
}
const login = (site: TestCentral, from: string, username: string, password: string) =>
  site.call('nobody', 'POST', '/api/auth/login', { username, password }, { 'x-forwarded-for': from })
const refusedRows = async (site: TestCentral) =>
  (await site.call('admin', 'GET', '/api/audit')).body.rows.filter(({ action }: { action: string }) => action === 'login_refused')

test('every refused login is a line of the log, and one audit row counts those of a user and a network', async t => {
  const { site, lines } = await start()
  t.teardown(site.close)
  for (let i = 0; i < 10; i++) await login(site, `2001:db8::${i + 1}`, 'admin', 'wrong')
  await login(site, '::ffff:10.0.0.1', 'hunter2', 'wrong')
  await login(site, '10.0.0.1', 'viewer', 'wrong')
  t.is(lines().length, 12)
  t.deepEqual(
    lines().map(({ user, throttled }) => [user, throttled]),
    [
      ...Array.from({ length: 8 }, () => ['admin', false]),
      ['admin', true],
      ['admin', true],
      ['unknown user', false],
      ['viewer', false],
    ],
  )
  t.notRegex(JSON.stringify(lines()), /hunter2/)
  await site.call('admin', 'GET', '/api/health')
  const { db } = site.central
  const rows = () =>
    auditStore(db)
      .list({ limit: 100 })
      .filter(({ action }) => action === 'login_refused')
  t.deepEqual(
    rows()
      .map(({ subject }) => subject)
      .toSorted(),
    ['admin from 2001:db8:0:0::/64', 'unknown user from 10.0.0.1', 'viewer from 10.0.0.1'],
  )
  t.is((await refusedRows(site)).length, 3)
})

test('figures of refused logins are in the audit when the process has stopped', t => {
  const db = openDatabase(':memory:')
  const clock = { now: Date.UTC(2026, 2, 1) }
  const refused = openRefusedLogins(refusedLoginStore(db), silent, () => clock.now)
  const add = (throttled: boolean) => refused.add({ user: 'admin', address: '10.0.0.1', network: '10.0.0.1', throttled })
  for (let i = 0; i < 3; i++) add(false)
  clock.now += 1000
  for (let i = 0; i < 4; i++) add(true)
  refused.flush()
  clock.now += 15 * MINUTE
  add(false)
  const after = auditStore(db)
    .list({ limit: 10 })
    .map(row => row.after)
  t.deepEqual(after, [
    { wrong: 1, throttled: 0, first_at: '2026-03-01T00:15:01Z', last_at: '2026-03-01T00:15:01Z' },
    { wrong: 3, throttled: 4, first_at: '2026-03-01T00:00:00Z', last_at: '2026-03-01T00:00:01Z' },
  ])
})

test('a flood from everywhere leaves a hundred rows and one, and years of it ten thousand', t => {
  const db = openDatabase(':memory:')
  db.pragma('synchronous = OFF')
  const clock = { now: 0 }
  const refused = openRefusedLogins(refusedLoginStore(db), silent, () => clock.now)
  const flood = (networks: number) => {
    for (let i = 0; i < networks; i++) refused.add({ user: 'admin', address: 'x', network: `network ${i}`, throttled: false })
    refused.flush()
  }
  flood(5000)
  const audit = auditStore(db)
  t.is(audit.list({ limit: 1000 }).length, 101)
  t.like(
    audit.list({ limit: 1000 }).find(({ subject }) => subject === 'further networks'),
    { after: { wrong: 4900 } },
  )
  audit.add({
    at: 0,
    actor: 'admin',
    role: 'admin',
    action: 'put_config',
    subject: 'config',
    building_id: null,
    before: null,
    after: null,
    request_id: 'r',
  })
  for (let i = 0; i < 120; i++) {
    clock.now += 15 * MINUTE
    flood(101)
  }
  t.is(db.prepare("SELECT count(*) FROM audit WHERE action = 'login_refused'").pluck().get(), 10_000)
  t.is(db.prepare("SELECT count(*) FROM audit WHERE action = 'put_config'").pluck().get(), 1)
})

test('a database that cannot be written keeps nobody from an answer', t => {
  const fail = () => {
    throw new Error('disk full')
  }
  const refused = openRefusedLogins({ begin: fail, update: fail }, silent, Date.now)
  t.notThrows(() => refused.add({ user: 'admin', address: 'x', network: 'x', throttled: false }))
  t.notThrows(refused.flush)
})

test('the address of a client counts only as a trusted proxy tells it', async t => {
  const site = await startCentral()
  t.teardown(site.close)
  for (let i = 0; i < 8; i++) t.is((await login(site, `10.0.0.${i}`, 'admin', 'wrong')).status, 401)
  const { status, headers, body } = await login(site, '10.0.0.99', 'admin', PASSWORDS.admin)
  t.deepEqual([status, body.code], [429, 'login_throttled'])
  t.true(Number(headers.get('retry-after')) > 0)
})

test('the key of the older API can be guessed 8 times from one network, then even the right one waits', async t => {
  const { site } = await start()
  t.teardown(site.close)
  const ask = (key: string, from: string) =>
    site.call('nobody', 'GET', '/config', undefined, { authorization: `Bearer ${key}`, 'x-forwarded-for': from })
  for (let i = 0; i < 20; i++) t.is((await ask('a-misconfigured-script', '10.0.0.1')).status, 401)
  for (let i = 0; i < 7; i++) t.is((await ask(`guess-${i}`, '10.0.0.1')).status, 401)
  const late = await ask('key-of-the-older-api', '10.0.0.1')
  t.is(late.status, 429)
  t.true(Number(late.headers.get('retry-after')) > 0)
  t.is((await ask('key-of-the-older-api', '10.0.0.2')).status, 200)
  t.is((await site.call('admin', 'GET', '/config', undefined, { 'x-forwarded-for': '10.0.0.1' })).status, 200)
  t.true((await refusedRows(site)).some(({ subject }: { subject: string }) => subject === 'SERVICE_API_KEY from 10.0.0.1'))
})

test('wrong tokens are counted and refused, a right one always passes, and a browser is led to sign in', async t => {
  const { site } = await start()
  t.teardown(site.close)
  const me = (headers: Record<string, string>) =>
    site.call('nobody', 'GET', '/api/auth/me', undefined, { 'x-forwarded-for': '10.0.0.1', ...headers })
  for (let i = 0; i < 8; i++) t.is((await me({ authorization: `Bearer ${i}.x.y` })).status, 401)
  t.is((await me({ authorization: 'Bearer z.x.y' })).status, 429)
  t.is((await me({ cookie: 'plenum_session=z.x.y' })).status, 401)
  t.is((await site.call('viewer', 'GET', '/api/auth/me', undefined, { 'x-forwarded-for': '10.0.0.1' })).status, 200)
  t.is((await login(site, '10.0.0.1', 'viewer', PASSWORDS.viewer)).status, 200)
})
