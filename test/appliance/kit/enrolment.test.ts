/** A box without a kit comes to a hub over the wire: it asks, a person accepts, it connects to the broker. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import { openEnrolment } from '#appliance/kit/enrolment.ts'
import { enrolmentLine } from '#shared/core/auth/enrolment.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { authorityFingerprint } from '#shared/node/pki/fingerprint.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { openPki } from '#shared/node/pki/pki-files.ts'
import { folder, until } from '../../support/folders.ts'
import { signedIn } from '../../support/signed-in.ts'
import { makeHubAuthority, openEnrolSite } from '../../support/sites/enrol-site.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'
import { silent, startBroker } from '../../support/sites/transport-site.ts'

/** How often a box asks. */
const POLL_MS = 200

async function openHub(t: ExecutionContext) {
  const { hub } = await makeHubAuthority(folder(t))
  const broker = await startBroker(hub)
  t.teardown(broker.stop)
  const site = await openEnrolSite(hub, broker.port())
  t.teardown(site.close)
  const line = enrolmentLine(site.url, authorityFingerprint((await openPki(hub, Date.now)).ca_pem))
  return { ...site, line, broker, operator: await signedIn(site.url, 'agent', PASSWORDS.agent) }
}

/** @param site_id of the box before it is enrolled */
async function openBox(t: ExecutionContext, site_id = 'local') {
  const dir = folder(t)
  mkdirSync(join(dir, 'workspace', 'config'), { recursive: true })
  const siteFile = join(dir, 'workspace', 'config', 'site.json')
  writeFileSync(siteFile, JSON.stringify({ site_id, edge_id: 'plenum-ab12', building: {} }))
  const restarts: number[] = []
  const places = { kit: join(dir, 'kit'), workspace: join(dir, 'workspace'), settings: join(dir, 'settings.env') }
  const open = async () => {
    const box = await openEnrolment({
      ...{ hub: undefined, edge: { site_id, edge_id: 'plenum-ab12' }, places, isAvailable: true, folder: join(dir, 'store') },
      ...{ restart: () => void restarts.push(1), pollMs: POLL_MS, log: silent },
    })
    await box.service.start()
    t.teardown(() => box.service.stop())
    return box
  }
  return { dir, places, open, restarts, site: () => JSON.parse(readFileSync(siteFile, 'utf8')) as Record<string, unknown> }
}

/** As `until`, for what has to be asked. */
async function untilSo(isSo: () => Promise<boolean>, what: string, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

const fingerprintOf = (state: object): string => ('fingerprint' in state ? String(state.fingerprint) : '')

test('a box asks, survives a restart while it waits, and becomes the edge as which a person has accepted it', async t => {
  const hub = await openHub(t)
  const { dir, places, open, restarts, site } = await openBox(t)
  const before = await open()
  t.deepEqual(before.state(), { state: 'idle' })
  await t.throwsAsync(before.ask('https://hub.example/'), { message: /is not the line/ })
  await before.ask(hub.line)
  const fingerprint = fingerprintOf(before.state())
  t.is(statSync(join(dir, 'store', 'enrolment.json')).mode & 0o777, 0o600)
  await before.service.stop()

  const box = await open()
  t.like(box.state(), { state: 'waiting', fingerprint })
  const listed = async () => ((await (await hub.operator.get('/api/enrolments')).json()) as { boxes: object[] }).boxes
  await untilSo(async () => (await listed()).length === 1, 'the hub shows the box', 20_000)
  t.like((await listed())[0], { fingerprint, edge_id: 'plenum-ab12' })
  await hub.operator.post('/enrol/accept', '/enrol', { fingerprint, site_id: 'plant-7', edge_id: 'box-2' })
  await until(() => restarts.length === 1, 'the box restarts', 20_000)
  t.is(box.state().state, 'restarting')
  t.like(site(), { site_id: 'plant-7', edge_id: 'box-2' })
  t.is(readFileSync(places.settings, 'utf8'), 'SERVICE_MQTT_ENABLED=1\n')
  t.false(existsSync(join(dir, 'store', 'enrolment.json')), 'the key is in the kit alone')

  const { cert_pem: cert, key_pem: key, ca_pem: ca, edge } = await readKit(places.kit, Date.now())
  const options = { cert, key, ca, clientId: commonName({ kind: 'edge', ...edge }), reconnectPeriod: 0 }
  const client = await connectAsync(`mqtts://${edge.broker_host}:${edge.broker_port}`, options, false)
  t.deepEqual(hub.broker.sessions(), ['edge:plant-7:box-2'])
  await client.endAsync(true)
})

test('an authority other than that of the line is not taken, nor another edge than the box is', async t => {
  const hub = await openHub(t)
  const accept = async (fingerprint: string, edge_id: string) => {
    await untilSo(async () => (await (await hub.operator.get('/enrol')).text()).includes(fingerprint), 'the box is shown', 20_000)
    await hub.operator.post('/enrol/accept', '/enrol', { fingerprint, site_id: 'plant-7', edge_id })
  }
  const problem = (state: object) => ('problem' in state ? String(state.problem) : '')
  const misled = await openBox(t)
  const first = await misled.open()
  await first.ask(hub.line.replace(/.{4}$/, '0000'))
  await accept(fingerprintOf(first.state()), 'box-3')
  await until(() => /another authority/.test(problem(first.state())), 'the authority is checked', 20_000)

  const other = await openBox(t, 'plant-9')
  const second = await other.open()
  await second.ask(hub.line)
  await accept(fingerprintOf(second.state()), 'box-4')
  await until(() => /this box is plant-9\/plenum-ab12/.test(problem(second.state())), 'the edge is checked', 20_000)
  for (const { places, restarts } of [misled, other]) t.deepEqual([existsSync(places.kit), restarts.length], [false, 0])
})

test('a box that is given the line again and again does not ask the hub more often', async t => {
  let requests = 0
  const hub = createServer((_request, reply) => {
    requests++
    reply.writeHead(503).end()
  })
  await new Promise<void>(resolve => hub.listen(0, '127.0.0.1', resolve))
  t.teardown(() => hub.close())
  const { port } = hub.address() as AddressInfo
  const box = await (await openBox(t)).open()
  const line = enrolmentLine(`http://127.0.0.1:${port}`, 'ab'.repeat(16))
  for (let times = 0; times < 8; times++) await box.ask(line)
  await until(() => requests >= 8, 'each line is tried at once', 20_000)
  const [before, since] = [requests, performance.now()]
  await new Promise(resolve => setTimeout(resolve, 2000))
  const polls = (performance.now() - since) / POLL_MS
  t.true(requests - before <= polls + 1, `${requests - before} requests within ${polls.toFixed(1)} pauses`)
})

test('a box that is rejected says so and can ask anew; a hub that is away is tried again', async t => {
  const hub = await openHub(t)
  const { open } = await openBox(t)
  const box = await open()
  await box.ask('http://127.0.0.1:1/#00112233445566778899aabbccddeeff')
  await until(() => JSON.stringify(box.state()).includes('does not answer'), 'the problem is shown', 20_000)
  await box.cancel()
  t.deepEqual(box.state(), { state: 'idle' })
  await box.ask(hub.line)
  const fingerprint = fingerprintOf(box.state())
  await untilSo(async () => (await (await hub.operator.get('/enrol')).text()).includes(fingerprint), 'the box is shown', 20_000)
  await hub.operator.post('/enrol/reject', '/enrol', { fingerprint })
  await until(() => box.state().state === 'rejected', 'the box knows', 20_000)
  await box.cancel()
  await box.ask(hub.line)
  t.not(fingerprintOf(box.state()), fingerprint)
})
