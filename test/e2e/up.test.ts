/** `scripts/up` as an operator calls it: recipes as real processes on loopback, which outlive the command. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'
import { assertInOrder, atLeast, AUTH, configure, countingDevice, held } from './field-site.ts'
import { eventually, freeBase, isAlive, temporaryFolder } from './run-start.ts'

const ADMIN = { ...AUTH, SERVICE_ADMIN_PASSWORD: 'admin-of-the-test' }
type Part = { component: string; pid: number; url: string; healthy?: boolean }
type Running = { running: boolean; version: string; pid: number; parts: Part[] }

/** A recipe in a folder of its own, stopped when the test ends. */
async function recipe(
  t: ExecutionContext,
  name: string,
  settings: Record<string, string>,
  given?: { data?: string; base: number },
) {
  const data = given?.data ?? join(await temporaryFolder(t), 'data')
  const base = given?.base ?? (await freeBase(4))
  const options = ['--data', data, '--port-base', String(base)]
  const { PATH = '', HOME = '' } = process.env
  const up = async (...words: string[]) => {
    const env = { PATH, HOME, ...COMPILED, ...settings, PLENUM_NO_SETUP: '1' }
    const child = spawn('scripts/up', [name, ...words, ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => (out += chunk))
    child.stderr.on('data', chunk => (err += chunk))
    const [code] = await once(child, 'close')
    return { code: code as number, out, err }
  }
  t.teardown(() => up('stop'))
  return { data, place: { data, base }, up, status: async () => JSON.parse((await up('status', '--json')).out) as Running }
}

test.serial('standalone starts in order, gathers over MQTTS, keeps its data, and refuses a downgrade', async t => {
  t.timeout(400_000)
  const site = await temporaryFolder(t)
  const device = await countingDevice(t)
  await configure(join(site, 'edge'), device.port)
  const pki = await makeAuthority(join(site, 'certs'))
  const place = { broker_host: '127.0.0.1', broker_port: 8883 }
  await writeKit(await pki.kit({ site_id: 'demo', edge_id: 'edge-1', ...place }), join(site, 'kit'))
  const { data, up, status } = await recipe(t, 'standalone', {
    ...ADMIN,
    SERVICE_SITE_ID: 'demo',
    SERVICE_MQTT_CERT_DIR: join(site, 'certs'),
    SERVICE_EDGE_KIT_DIR: join(site, 'kit'),
    SERVICE_EDGE_WORKSPACE: join(site, 'edge'),
    SERVICE_BACNET_BIND: '127.0.0.1',
    SERVICE_BACNET_PORT: '0',
  })
  t.is((await up('status')).code, 1)
  const started = await up()
  t.is(started.code, 0, started.err)
  const first = await status()
  t.deepEqual(
    first.parts.map(({ component, healthy }) => [component, healthy]),
    ['central', 'mqtt', 'fieldbus', 'web'].map(component => [component, true]),
  )
  const web = first.parts.at(-1)!.url
  await atLeast(web, 3)
  const again = await up()
  t.is(again.code, 3)
  t.regex(again.err, /^standalone runs already in /)

  t.is((await up('stop')).code, 0)
  const pids = [first.pid, ...first.parts.map(({ pid }) => pid)]
  await eventually('the end of all', 30_000, () => (pids.some(isAlive) ? undefined : true))
  t.is((await up('stop')).code, 0, 'a second stop finds nothing to do')
  const before = readdirSync(join(data, 'workspace'))
  writeFileSync(join(data, 'version'), '99.0.0+0123456789ab\n')
  const downgrade = await up()
  t.is(downgrade.code, 3)
  t.regex(downgrade.err, /was written by 99\.0\.0\+0123456789ab, and this is .*: a downgrade is refused/)
  t.deepEqual(readdirSync(join(data, 'workspace')), before, 'nothing was touched')

  writeFileSync(join(data, 'version'), `${first.version.replace(/\+.*/, '+0123456789ab')}\n`)
  const upgraded = await up('upgrade')
  t.is(upgraded.code, 0, upgraded.err)
  const all = await atLeast(web, 6)
  assertInOrder(t, all)
  t.false(
    readdirSync(join(data, 'workspace')).some(name => /^plenum\.db\.v\d+$/.test(name)),
    'no migration ran a second time',
  )
  t.regex((await up('upgrade')).out, /^standalone runs .* already\n$/)
  t.true((await held(web)).length >= all.length)
})

test.serial('a part that ends takes the others with it, and the log says which', async t => {
  t.timeout(200_000)
  const { data, up, status } = await recipe(t, 'csv', ADMIN)
  t.is((await up()).code, 0)
  const { pid, parts } = await status()
  process.kill(parts[0]!.pid, 'SIGKILL')
  await eventually('the end of all', 60_000, () => ([pid, ...parts.map(part => part.pid)].some(isAlive) ? undefined : true))
  t.false((await status()).running)
  t.regex(readFileSync(join(data, 'logs', 'watcher.log'), 'utf8'), /central was ended by SIGKILL/)
})

test.serial('a setting that is missing or wrong ends the start with 78 and its name, and leaves nothing running', async t => {
  t.timeout(200_000)
  const { SERVICE_JWT_SECRET: _secret, ...others } = ADMIN
  const missing = await recipe(t, 'csv', others)
  const refused = await missing.up()
  t.is(refused.code, 78)
  t.regex(refused.err, /^Settings of the recipe csv are missing:\n {2}SERVICE_JWT_SECRET: /)
  t.false(existsSync(missing.data))

  const wrong = await recipe(t, 'csv', { ...ADMIN, QUERY_MEMORY_MB: '1', SERVICE_NGINX_RESOLVER: 'x' })
  const refusedToo = await wrong.up()
  t.is(refusedToo.code, 78)
  t.regex(refusedToo.err, /^Settings of the recipe csv are wrong:\n {2}QUERY_MEMORY_MB: takes a whole number/)
  t.false(existsSync(wrong.data))

  // What only the part itself knows.
  const unfit = await recipe(t, 'csv', { ...ADMIN, SERVICE_SMTP_URL: 'smtp://mail.example' })
  const ended = await unfit.up()
  t.is(ended.code, 78)
  t.regex(ended.err, /^central exited with 78\n.*SERVICE_SMTP_FROM: SERVICE_SMTP_URL needs it/s)
  t.false((await unfit.status()).running)
})

test.serial('what cannot be started where it should is refused in words, and what another recipe runs is left alone', async t => {
  t.timeout(200_000)
  const { data, up, status, place } = await recipe(t, 'csv', ADMIN)
  const noFile = await up('--env-file', join(data, 'none.env'))
  t.is(noFile.code, 78)
  t.regex(noFile.err, /^--env-file: ENOENT/)
  const file = join(await temporaryFolder(t), 'csv.env')
  writeFileSync(file, 'SERVICE_TLS_DRI=/tls\nSERVICE_IMAGE_TAG=nightly\n')
  const started = await up('--env-file', file)
  t.is(started.code, 0)
  t.is(started.err, `${file}: the recipe csv has no setting SERVICE_TLS_DRI\n`)

  const second = await recipe(t, 'csv', ADMIN, { base: place.base })
  const taken = await second.up()
  t.is(taken.code, 3)
  t.regex(taken.err, /^central cannot listen at 127\.0\.0\.1:\d+: another program listens there\nweb cannot listen at/)
  t.false((await second.status()).running)
  const elsewhere = await recipe(t, 'csv', { ...ADMIN, SERVICE_WEB_BIND: '192.0.2.1' })
  const noAddress = await elsewhere.up()
  t.is(noAddress.code, 78)
  t.regex(noAddress.err, /^web cannot listen at 192\.0\.2\.1:\d+: .*EADDRNOTAVAIL/)
  const noFolder = await (await recipe(t, 'csv', ADMIN, { base: place.base + 4, data: join(file, 'data') })).up()
  t.is(noFolder.code, 78)
  t.regex(noFolder.err, /^The folder .* cannot be used: .* is not a folder\n$/)

  const other = await recipe(t, 'ot-edge', { ...ADMIN, SERVICE_LOCAL_INGEST_TOKEN: 'x'.repeat(40) }, place)
  for (const word of ['stop', 'upgrade']) {
    const left = await other.up(word)
    t.is(left.code, 3, word)
    t.is(left.err, `csv runs in ${data}, not ot-edge\n`)
  }
  t.true((await status()).running)
})
