/** Files of processes are readable by their own user alone, also when they are started with umask 000 over files that were open. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { AUTH, atLeast, configure, countingDevice, loopback } from './field-site.ts'
import { airHandler, rows, table, zipForm, zipOf } from '../support/packages/packages.ts'
import { warmRule } from '../support/rule-texts.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const ADMIN = 'admin-of-the-test'
const TOKEN = 'local-token-for-tests-0123456789abcdef'

/** Everything below a folder, and itself, with its permissions; `undefined` for what is gone meanwhile. */
function modes(folder: string): Record<string, string> {
  const paths = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]
  return Object.fromEntries(
    paths.flatMap(name => {
      const stat = lstatSync(join(folder, name), { throwIfNoEntry: false })
      return stat ? [[name, (stat.mode & 0o777).toString(8)] as const] : []
    }),
  )
}
const openOnes = (folder: string) => Object.entries(modes(folder)).filter(([, mode]) => !/^[0-7]00$/.test(mode))

/** A main as somebody starts it whose umask takes nothing away. */
async function startOpenly(t: ExecutionContext, main: string, env: Record<string, string>, url: string) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('/bin/sh', ['-c', 'umask 000; exec "$0" "$1"', process.execPath, main], {
    env: { PATH, HOME, SERVICE_LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await eventually(`${main} at ${url}`, 60_000, async () => (await fetch(`${url}/api/health`).catch(() => undefined)) && true)
}

/** Files of an earlier version, which anybody could read. */
function leaveOpen(folder: string, names: string[]): void {
  for (const name of names) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), name.endsWith('.json') ? '{}' : '')
    chmodSync(join(folder, name), 0o666)
    chmodSync(join(folder, name, '..'), 0o777)
  }
  chmodSync(folder, 0o777)
}

test('with umask 000, workspace and edge store are 700 and all of their files 600, also what was open before', async t => {
  t.timeout(240_000)
  const [dir, port] = [await temporaryFolder(t), await freeBase(2)]
  const [workspace, field, store] = [join(dir, 'central'), join(dir, 'field'), join(dir, 'store')]
  leaveOpen(workspace, ['plenum.db', 'lock.db', 'config/old.txt', 'rules/old.txt', '.cache/parquet/old.txt'])
  leaveOpen(store, ['outbox/rejected/old.json', 'priority-scan.json'])
  const device = await countingDevice(t)
  await configure(field, device.port)
  leaveOpen(field, ['config/old.txt'])
  const central = loopback(port)
  await startOpenly(
    t,
    'hub/central/main.ts',
    {
      ...AUTH,
      SERVICE_ADMIN_PASSWORD: ADMIN,
      SERVICE_SITE_ID: 'demo',
      SERVICE_CENTRAL_BIND: '127.0.0.1',
      SERVICE_CENTRAL_PORT: String(port),
      SERVICE_WORKSPACE: workspace,
      SERVICE_MQTT_ENABLED: '0',
      SERVICE_LOCAL_INGEST_TOKEN: TOKEN,
    },
    central,
  )
  await startOpenly(
    t,
    'appliance/fieldbus/main.ts',
    {
      SERVICE_WORKSPACE: field,
      SERVICE_MQTT_ENABLED: '0',
      SERVICE_SITE_ID: 'demo',
      SERVICE_EDGE_STORE_DIR: store,
      SERVICE_EDGE_PORT: String(port + 1),
      SERVICE_CENTRAL_URL: central,
      SERVICE_LOCAL_INGEST_TOKEN: TOKEN,
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
      SERVICE_PRIORITY_SCAN_ENABLED: '1',
    },
    loopback(port + 1),
  )
  await atLeast(central, 2)

  const login = await fetch(`${central}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: ADMIN }),
  })
  const { token } = (await login.json()) as { token: string }
  const call = async (method: string, path: string, body: object) => {
    const isForm = body instanceof FormData
    const headers = { authorization: `Bearer ${token}`, ...(!isForm && { 'content-type': 'application/json' }) }
    const answer = await fetch(central + path, { method, headers, body: isForm ? body : JSON.stringify(body) })
    t.true(answer.ok, `${method} ${path}: ${await answer.clone().text()}`)
    return (await answer.json()) as Record<string, string>
  }
  // Uploads, Parquet files, a deployed rule, settings, states of the engine and a run: every kind of file that there is.
  const { session_id } = await call('POST', '/api/csv/import/preflight', zipForm(await zipOf(airHandler(table(rows(900))))))
  t.deepEqual(openOnes(workspace), [])
  await call('POST', '/api/csv/import/execute', { session_id, confirm: true })
  await call('POST', '/api/rules/batch', { confirm: true, rules: [{ filename: 'warm.yaml', yaml: warmRule() }] })
  await call('PUT', '/config', { rule_interval_hours: 2 })
  await call('POST', '/api/fdd/run', { building_id: 'b1', from: '2026-03-01T06:00:00Z', to: '2026-03-04T06:00:00Z' })

  const kept = Object.keys(modes(workspace))
  for (const wanted of [
    /plenum\.db-wal$/,
    /\.parquet$/,
    /rules\/warm\.yaml$/,
    /platform\.json$/,
    /session\.json$/,
    /rules\.parsed$/,
  ]) {
    t.true(
      kept.some(name => wanted.test(name)),
      `${wanted} is there to be looked at: ${kept.join(' ')}`,
    )
  }
  t.deepEqual(openOnes(workspace), [])
  t.true(Object.keys(modes(store)).some(name => name.endsWith('.jsonl')))
  t.deepEqual(openOnes(store), [])
  t.deepEqual(openOnes(field), [])
})
