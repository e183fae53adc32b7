import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { runCommand } from '#provisioning/commands.ts'
import { folder } from '../../../support/folders.ts'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, rows, table } from '../../../support/packages/packages.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

const PASSPHRASE = 'a passphrase of the test'

async function siteWithHistory(t: ExecutionContext, given: Parameters<typeof startCentral>[0] = {}): Promise<TestCentral> {
  const site = await startCentral(given)
  t.teardown(site.close)
  await importer(() => site).imported(airHandler(table(rows(2_000))))
  return site
}

async function download(site: TestCentral, body: object): Promise<{ status: number; name: string; bytes: Buffer }> {
  const login = await site.call('nobody', 'POST', '/api/auth/login', { username: 'admin', password: PASSWORDS.admin })
  const response = await fetch(`${site.url}/api/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${login.body.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? ''
  return { status: response.status, name, bytes: Buffer.from(await response.arrayBuffer()) }
}

async function restore(t: ExecutionContext, bytes: Buffer): Promise<string> {
  const dir = folder(t)
  const [file, passphrase, workspace] = [join(dir, 'file'), join(dir, 'passphrase'), join(dir, 'workspace')]
  writeFileSync(file, bytes)
  writeFileSync(passphrase, `${PASSPHRASE}\n`)
  const done = await runCommand(['restore', '--file', file, '--passphrase-file', passphrase, '--dir', workspace], Date.now)
  t.is(done.exit, 0, done.text)
  return workspace
}

const pointsOf = async (site: TestCentral) => (await site.call('viewer', 'GET', '/api/model/points?building_id=b1')).body.points
async function historyOf(site: TestCentral) {
  const point_ids = (await pointsOf(site)).map(({ point_id }: { point_id: string }) => point_id)
  const series = await site.central.historian.read({ building_id: 'b1', point_ids, from: 0, to: 4e12 })
  return series.map(({ ts, values }) => [[...ts], [...values]])
}

test('a backup that is restored by the command of another machine has the model, the history and the rules', async t => {
  const site = await siteWithHistory(t)
  mkdirSync(join(site.workspace, 'rules'), { recursive: true })
  writeFileSync(join(site.workspace, 'rules', 'own.yaml'), '# a rule of the site\n')
  const { status, name, bytes } = await download(site, { passphrase: PASSPHRASE })
  t.is(status, 200)
  t.regex(name, /^plenum-site-1-\d{8}T\d{6}Z\.backup$/)
  t.false(bytes.includes('SQLite format'), 'nothing of it can be read without the passphrase')

  const workspace = await restore(t, bytes)
  t.is(readFileSync(join(workspace, 'rules', 'own.yaml'), 'utf8'), '# a rule of the site\n')
  const other = await startCentral({ workspace })
  t.teardown(other.close)
  t.deepEqual(await pointsOf(other), await pointsOf(site))
  const history = await historyOf(other)
  t.deepEqual(history, await historyOf(site))
  t.true(history.some(([ts]) => ts!.length === 2_000))
  const { body } = await site.call('admin', 'GET', '/api/audit?limit=5')
  t.true(body.rows.some(({ action, subject }: { action: string; subject: string }) => action === 'backup' && subject === name))
  t.deepEqual(readdirSync(join(site.workspace, '.cache', 'parquet', '.scratch')), [], 'the copies are gone')
})

test('a backup needs a passphrase of 12 characters, and the role of an administrator', async t => {
  const site = await startCentral({ pages: true })
  t.teardown(site.close)
  t.like(await site.call('admin', 'POST', '/api/backup', {}), {
    status: 422,
    body: { code: 'invalid', errors: [{ pointer: '/passphrase' }] },
  })
  t.is((await site.call('admin', 'POST', '/api/backup', { passphrase: 'too short' })).status, 400)
  for (const who of ['operator', 'viewer'] as const) {
    t.is((await site.call(who, 'POST', '/api/backup', { passphrase: PASSPHRASE })).status, 403)
    t.is((await site.call(who, 'GET', '/api/backups')).status, 403)
  }
  t.deepEqual((await site.call('admin', 'GET', '/api/backups')).body, { ok: true, scheduled: false, backups: [] })

  const { get, post } = await signedIn(site.url, 'admin', PASSWORDS.admin)
  t.regex(await (await get('/backups')).text(), /No backups are scheduled\. Set <code>SERVICE_BACKUP_DIR<\/code>/)
  t.is((await post('/backups', '/backups', { passphrase: PASSPHRASE, again: 'another passphrase' })).status, 422)
  const sent = await post('/backups', '/backups', { passphrase: PASSPHRASE, again: PASSPHRASE })
  t.is(sent.status, 200)
  await restore(t, Buffer.from(await sent.arrayBuffer()))
})

test('while one backup is being sent another is refused; one whose reader leaves is cleared away', async t => {
  const site = await siteWithHistory(t)
  const { backups } = site.central.context
  const { stream } = await backups.create(PASSPHRASE)
  await t.throwsAsync(backups.create(PASSPHRASE), { code: 'backup_in_progress' })
  for await (const _first of stream) break
  t.deepEqual(readdirSync(join(site.workspace, '.cache', 'parquet', '.scratch')), [])
  await t.notThrowsAsync(async () => {
    for await (const _bytes of (await backups.create(PASSPHRASE)).stream);
  })
})

test('scheduled backups are stored, verified by restoring them, and the oldest are deleted', async t => {
  const dir = folder(t)
  const at = { now: Date.UTC(2026, 10, 20, 12) }
  const wakes: (() => void)[] = []
  const sleeps: number[] = []
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>(resolve => {
      sleeps.push(ms)
      wakes.push(resolve)
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  const clock = {
    now: () => at.now,
    sleep: (ms: number, signal?: AbortSignal) => (ms === 0 ? Promise.resolve() : sleep(ms, signal)),
  }
  writeFileSync(join(dir, 'plenum-site-1-20200101T000000Z.backup.tmp'), 'what a killed process left')
  const backups = { folder: dir, passphrase: PASSPHRASE, everyHours: 24, keep: 2 }
  const site = await startCentral({ clock, backups })
  t.teardown(site.close)
  const stored = () => readdirSync(dir).toSorted()
  const until = async (condition: () => boolean) => {
    while (!condition()) await wallClock.sleep(20, undefined as never)
  }
  await until(() => stored().length === 1 && sleeps.includes(24 * HOUR))
  t.deepEqual(stored(), ['plenum-site-1-20261120T120000Z.backup'])
  t.like((await site.call('nobody', 'GET', '/api/health')).body.checks.backup, { status: 'ok', newest_age_secs: 0 })
  for (const day of [21, 22]) {
    at.now = Date.UTC(2026, 10, day, 12)
    for (const wake of wakes.splice(0)) wake()
    await until(() => stored().at(-1)!.includes(`202611${day}`) && !stored().some(name => name.endsWith('.tmp')))
  }
  await until(() => stored().length === 2)
  t.deepEqual(stored(), ['plenum-site-1-20261121T120000Z.backup', 'plenum-site-1-20261122T120000Z.backup'])
  const { body } = await site.call('admin', 'GET', '/api/backups')
  t.like(body, { scheduled: true, every_hours: 24, keep: 2 })
  t.deepEqual(
    body.backups.map(({ created_at }: { created_at: string }) => created_at),
    ['2026-11-22T12:00:00Z', '2026-11-21T12:00:00Z'],
  )
  await restore(t, readFileSync(join(dir, stored()[1]!)))
  t.true(
    sleeps.every(ms => ms !== 15 * MINUTE),
    'none failed',
  )
})
