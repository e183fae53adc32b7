import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from 'ava'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const SECRETS = {
  SERVICE_JWT_SECRET: 'a-secret-of-the-test-of-forty-characters',
  SERVICE_ADMIN_PASSWORD: 'admin-of-the-test',
  SERVICE_AGENT_PASSWORD: 'agent-of-the-test',
}

/** Runs a main to its end. @returns its exit code and what it wrote on standard error */
async function runMain(main: string, env: Record<string, string>, ...args: string[]) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH, HOME, ...COMPILED, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', data => {
    said += data
  })
  const [code] = await once(child, 'close')
  return { code: code as number, said }
}

/** Starts a main that runs until the test ends, and waits until `url` answers. */
async function startMain(t: ExecutionContext, main: string, env: Record<string, string>, url: string) {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [main], { env: { PATH, HOME, ...COMPILED, ...env }, stdio: 'ignore' })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await eventually(`${main} at ${url}`, 60_000, async () => (await fetch(url).catch(() => undefined))?.ok || undefined)
}

test.serial('central and web as two processes: a browser signs in through web and sees the fleet', async t => {
  t.timeout(120_000)
  const [workspace, port] = [await temporaryFolder(t), await freeBase(2)]
  const central = `127.0.0.1:${port}`
  const web = `http://127.0.0.1:${port + 1}`
  const bind = { SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(port) }
  const env = { ...SECRETS, ...bind, SERVICE_WORKSPACE: workspace, SERVICE_MQTT_ENABLED: '0' }
  await startMain(t, 'hub/central/main.ts', env, `http://${central}/api/health`)
  const face = { SERVICE_WEB_BIND: '127.0.0.1', SERVICE_WEB_PORT: String(port + 1), SERVICE_CENTRAL_UPSTREAM: central }
  await startMain(t, 'hub/web/main.ts', face, `${web}/api/health`)

  const body = new URLSearchParams({ username: 'admin', password: SECRETS.SERVICE_ADMIN_PASSWORD, next: '/' })
  const headers = { origin: web, 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${web}/login`, { method: 'POST', body, headers, redirect: 'manual' })
  t.is(answer.status, 303)
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!
  const page = await fetch(`${web}/`, { headers: { cookie, accept: 'text/html' } })
  t.is(page.status, 200)
  t.regex(await page.text(), /<h1[^>]*>Fleet/)
  const foreign = await fetch(`${web}/login`, {
    method: 'POST',
    body,
    headers: { origin: 'http://elsewhere' },
    redirect: 'manual',
  })
  t.is(foreign.status, 403)
})

test.serial('central run once over an empty workspace exits 0', async t => {
  const env = { ...SECRETS, SERVICE_WORKSPACE: await temporaryFolder(t), SERVICE_CENTRAL_BIND: '127.0.0.1' }
  t.deepEqual((await runMain('hub/central/main.ts', env, '--once')).code, 0)
})

test.serial('on a bench without login, results may lie in memory', async t => {
  const open = { SERVICE_DEV_OPEN: '1', SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_RULE_RESULTS_DIR: '/dev/shm/plenum-bench' }
  const env = { ...open, SERVICE_WORKSPACE: await temporaryFolder(t) }
  const { code, said } = await runMain('hub/central/main.ts', env, '--once')
  t.is(code, 0, said)
})

const REFUSALS: { main: string; why: string; env: Record<string, string>; says: RegExp }[] = [
  {
    main: 'hub/central/main.ts',
    why: 'has no secret and listens to everyone',
    env: { SERVICE_MQTT_ENABLED: '0' },
    says: /SERVICE_JWT_SECRET/,
  },
  {
    main: 'hub/central/main.ts',
    why: 'cannot write its workspace',
    env: { ...SECRETS, SERVICE_MQTT_ENABLED: '0', SERVICE_WORKSPACE: '/dev/null/plenum' },
    says: /\/dev\/null is not a folder/,
  },
  {
    main: 'hub/central/main.ts',
    why: 'would keep results in memory',
    env: { ...SECRETS, SERVICE_MQTT_ENABLED: '0', SERVICE_RULE_RESULTS_DIR: '/dev/shm/plenum-results' },
    says: /SERVICE_RULE_RESULTS_DIR: \/dev\/shm\/plenum-results is in memory \(tmpfs\), which a restart empties/,
  },
  {
    main: 'hub/central/main.ts',
    why: 'would keep results in the cache',
    env: {
      ...SECRETS,
      SERVICE_MQTT_ENABLED: '0',
      SERVICE_PARQUET_ROOT: '/srv/parquet',
      SERVICE_RULE_RESULTS_DIR: '/srv/parquet/x',
    },
    says: /SERVICE_RULE_RESULTS_DIR: \/srv\/parquet\/x is in the cache \/srv\/parquet/,
  },
  {
    main: 'hub/central/main.ts',
    why: 'cannot write its results',
    env: { ...SECRETS, SERVICE_MQTT_ENABLED: '0', SERVICE_RULE_RESULTS_DIR: join(process.execPath, 'results') },
    says: /SERVICE_RULE_RESULTS_DIR: \S+ is not a folder/,
  },
  { main: 'hub/main.ts', why: 'has no certificates', env: { ...SECRETS, SERVICE_MQTT_CERT_DIR: '/nowhere' }, says: /\/nowhere/ },
  {
    main: 'hub/main.ts',
    why: 'is given a simulated clock in the open',
    env: { ...SECRETS, SERVICE_SIM_CLOCK: '60@0@0' },
    says: /SERVICE_SIM_CLOCK/,
  },
  {
    main: 'appliance/main.ts',
    why: 'has no site file',
    env: { ...SECRETS, SERVICE_WORKSPACE: '/nowhere' },
    says: /site\.json[^]*for example \{"site_id"/,
  },
  {
    main: 'appliance/fieldbus/main.ts',
    why: 'has no site file',
    env: { SERVICE_WORKSPACE: '/nowhere' },
    says: /site\.json[^]*for example \{"site_id"/,
  },
  {
    main: 'appliance/fieldbus/main.ts',
    why: 'would send nowhere',
    env: { SERVICE_MQTT_ENABLED: '0' },
    says: /SERVICE_CENTRAL_URL/,
  },
  {
    main: 'appliance/bacnet-modbus/main.ts',
    why: 'has no token for central',
    env: { SERVICE_CENTRAL_URL: 'http://127.0.0.1:8080' },
    says: /SERVICE_LOCAL_INGEST_TOKEN/,
  },
  { main: 'hub/mqtt/main.ts', why: 'has no certificates', env: { SERVICE_MQTT_CERT_DIR: '/nowhere' }, says: /\/nowhere/ },
]
for (const { main, why, env, says } of REFUSALS) {
  test.serial(`${main} exits 78 and says so when it ${why}`, async t => {
    const { code, said } = await runMain(main, env)
    t.is(code, 78, said)
    t.regex(said, says)
  })
}

const MAINS = ['appliance', 'appliance/fieldbus', 'appliance/bacnet-modbus', 'hub', 'hub/central', 'hub/web', 'hub/mqtt']
for (const component of MAINS) {
  test.serial(`${component} explains its environment with --help`, async t => {
    const { code, said } = await runMain(join(component, 'main.ts'), {}, '--help')
    t.is(code, 0, said)
  })
}
