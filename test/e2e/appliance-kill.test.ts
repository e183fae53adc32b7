/** An appliance that is killed while it reads, and stopped while its rules run: box and hub hold the same. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { openHubClient } from '../../scripts/lib-start/hub-client.ts'
import { warmRule } from '../support/rule-texts.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'
import { assertInOrder, atLeast, AUTH, configure, countingDevice, held, loopback, PASSWORDS, program } from './field-site.ts'
import { eventually, freeBase, temporaryFolder } from './run-start.ts'

const PORTS = { box: 0, hub: 1, broker: 2 }
/** A minute in 200 ms: half an hour of warm air passes in six seconds. */
const SPEED = 300

async function post(url: string, path: string, token: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function operatorToken(url: string): Promise<string> {
  const answer = await post(url, '/api/auth/login', '', { username: 'agent', password: PASSWORDS.agent })
  return ((await answer.json()) as { token: string }).token
}

/** Ids of what the rule of this test has found. */
const findingsOf = async (url: string): Promise<string[]> => {
  const viewer = await openHubClient(url, PASSWORDS.viewer)
  return (await viewer.findings()).flatMap(({ finding_id, rule_id }) => (rule_id === 'TEST-WARM' ? [finding_id] : []))
}

test('through kills and a stop in the middle of a run, the hub holds what the box holds', async t => {
  t.timeout(400_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(3)]
  const device = await countingDevice(t)
  await configure(join(dir, 'box'), device.port, 60)
  // No scheduled run may say again what the stop has cut off.
  await writeFile(join(dir, 'box', 'config', 'platform.json'), JSON.stringify({ rule_interval_hours: 24 }))
  const pki = await makeAuthority(join(dir, 'pki'))
  const place = { broker_host: '127.0.0.1', broker_port: base + PORTS.broker }
  await writeKit(await pki.kit({ site_id: 'demo', edge_id: 'edge-1', ...place }), join(dir, 'kit'))
  const clock = `${SPEED}@${Date.UTC(2026, 2, 1)}@${Date.now()}`
  const common = { ...AUTH, SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_SITE_ID: 'demo', SERVICE_SIM_CLOCK: clock }
  const hub = program(t, 'hub', {
    main: 'hub/main.ts',
    url: loopback(base + PORTS.hub),
    logs: dir,
    env: {
      ...common,
      SERVICE_CENTRAL_PORT: String(base + PORTS.hub),
      SERVICE_WORKSPACE: join(dir, 'hub'),
      SERVICE_MQTT_BIND: '127.0.0.1',
      SERVICE_MQTT_PORT: String(base + PORTS.broker),
      SERVICE_MQTT_CERT_DIR: join(dir, 'pki'),
    },
  })
  const box = program(t, 'appliance', {
    main: 'appliance/main.ts',
    url: loopback(base + PORTS.box),
    logs: dir,
    env: {
      ...common,
      SERVICE_CENTRAL_PORT: String(base + PORTS.box),
      SERVICE_WORKSPACE: join(dir, 'box'),
      SERVICE_EDGE_STORE_DIR: join(dir, 'store'),
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
      SERVICE_MQTT_ENABLED: '1',
      SERVICE_EDGE_KIT_DIR: join(dir, 'kit'),
    },
  })
  await Promise.all([hub.start(), box.start()])
  for (const count of [10, 25]) {
    await atLeast(box.url, count)
    await box.kill()
    await box.start()
  }
  await atLeast(box.url, 60)
  const token = await operatorToken(box.url)
  const rules = [{ filename: 'warm.yaml', yaml: warmRule() }]
  t.is((await post(box.url, '/api/rules/batch', token, { confirm: true, rules })).status, 200)
  const trigger = join(dir, 'box', 'config', '.run_fdd_now')
  await writeFile(trigger, '')
  // The file goes before the run begins, and a run takes the start of a process: it is under way at the stop.
  await eventually('a run', 30_000, () => (existsSync(trigger) ? undefined : true))
  t.is(await box.stop(), 'exited with 0')

  await box.start()
  // On a slow machine the stop has ended the run, or came before it: what was asked for runs then.
  const onBox = await eventually('the finding on the box', 120_000, async () => {
    const ids = await findingsOf(box.url)
    return ids.length > 0 ? ids : undefined
  })
  t.deepEqual(
    await eventually('the finding at the hub', 60_000, async () => {
      const ids = await findingsOf(hub.url)
      return ids.length > 0 ? ids : undefined
    }),
    onBox,
  )
  device.misbehave('silent')
  const same = await eventually('the same at box and hub', 60_000, async () => {
    const [here, there] = [await held(box.url), await held(hub.url)]
    return here.join() === there.join() ? here : undefined
  })
  assertInOrder(t, same)
})
