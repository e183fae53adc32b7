/** A box without time server, network or hub: what a USB stick brings, and how it is erased. `scripts/test --image`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { formatInstant, HOUR } from '#shared/core/time.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { waitForHealth } from '#scripts/lib-start/hub-client.ts'
import { type SiteProcess, startPart } from '#scripts/lib-start/process.ts'
import { makePki, openPki } from '#shared/node/pki/pki-files.ts'
import { Box, UPLINK_HOST } from '#scripts/lib-emulator/box.ts'
import { UPLINK_ADDRESS } from './address.ts'
import { sticksOf } from './sticks.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { STICK_LOG } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-stick-'))
const box = new Box(folder, IMAGE, STICK_LOG)
const { makeStick, taken } = sticksOf(box, folder)
const RESULT_MS = 1_800_000
/** What the clock of a machine whose battery is empty says. */
const NO_BATTERY = '2015-01-01T00:00:00'

let hub: SiteProcess | undefined
test.after.always(async () => {
  await box.cut()
  await hub?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Waits until the clock of the box has reached an instant. */
async function clockFrom(wanted: number): Promise<number> {
  for (const end = Date.now() + RESULT_MS; Date.now() < end; await sleep(2000)) {
    const said = await box.clock()
    if (said >= wanted) return said
  }
  throw new Error(`the clock says ${formatInstant(await box.clock())}`)
}

let first = ''

test.serial('a stick sets the clock where no time server does, and a power cut does not set it back', async t => {
  await box.start(NO_BATTERY)
  await box.signIn()
  first = await box.name()
  // Not later than here: the certificate that it makes when it is erased would not be valid yet.
  const wanted = Date.now()
  const result = await taken(makeStick('clock', { 'clock.txt': formatInstant(wanted) }), first)
  t.regex(result, /clock\.txt: the clock is set to /)
  const said = await clockFrom(wanted)
  t.true(said < wanted + HOUR, formatInstant(said))
  await box.cut()
  await box.start(NO_BATTERY)
  await box.signIn()
  t.true((await box.clock()) >= wanted, formatInstant(await box.clock()))
})

test.serial('a stick that names another box erases nothing, and one that names this box erases everything', async t => {
  await box.put('/api/devices/ahu-1', {
    ...{ device_id: 'ahu-1', name: 'AHU', enabled: false, protocol: 'bacnet' },
    bacnet: { device_instance: 1001, host: '10.0.9.2', port: 47808, max_apdu: 1476 },
    points: [],
  })
  const devices = async () => (await box.get<{ devices: unknown[] }>('/api/devices')).devices.length
  t.is(await devices(), 1)
  t.regex(await taken(makeStick('other', { 'reset.txt': 'plenum-none' }), first), /names "plenum-none" and this box is /)
  t.is(await devices(), 1)
  const before = box.password
  box.forgetConsole()
  box.forgetPassword()
  await box.plugIn(makeStick('reset', { 'reset.txt': first }))
  await box.says(/everything on this box is erased/)
  await box.signIn()
  t.not(box.password, before)
  t.not(await box.name(), first)
  t.is(await devices(), 0)
})

type Edge = { edge_id: string; session: { open: boolean } }

/** A hub on this machine, and what `provisioning pack-usb` makes for a box that belongs to it. */
async function startHub() {
  const [authority, workspace, stick] = ['authority', 'hub', 'kit'].map(name => join(folder, name)) as [string, string, string]
  const [port, web] = [await freePort(), await freePort()]
  await makePki(authority, { name: 'Test', now: Date.now() })
  const pki = await openPki(authority, Date.now)
  await pki.broker({ hosts: [UPLINK_HOST, '127.0.0.1'] })
  await pki.central({ site_id: '*' })
  mkdirSync(workspace)
  const env = {
    ...{ SERVICE_WORKSPACE: workspace, SERVICE_DEV_OPEN: '1', SERVICE_LOG_LEVEL: 'warn' },
    ...{ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(port), SERVICE_MQTT_CERT_DIR: authority },
    ...{ SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(web) },
  }
  hub = startPart('hub', 'hub/main.ts', env, join(folder, 'hub.log'))
  const url = `http://127.0.0.1:${web}`
  if (!(await waitForHealth(url, RESULT_MS, hub.hasEnded))) throw new Error(hub.lastWords().join('\n'))
  const system = join(folder, 'network.json')
  const uplink = { interface: 'eth0', address: `${UPLINK_ADDRESS}/25`, gateway: UPLINK_HOST }
  writeFileSync(system, JSON.stringify({ uplink, ot: { interface: 'eth1' }, hub_port: port }))
  const to = ['--broker-host', UPLINK_HOST, '--broker-port', String(port), '--out', stick, '--system', system]
  const edge = ['--dir', authority, '--site', 'A', '--edge', 'box-1']
  execFileSync(process.execPath, ['provisioning/main.ts', 'pack-usb', ...edge, ...to])
  const edges = async () => ((await (await fetch(`${url}/api/edges`)).json()) as { edges: Edge[] }).edges
  return { edges, file: (name: string) => readFileSync(join(stick, name)) }
}

test.serial('a stick brings network and hub: the box connects, and takes the time from the hub', async t => {
  const { edges, file } = await startHub()
  await box.cut()
  await box.start(NO_BATTERY)
  await box.signIn()
  const name = await box.name()
  box.forgetConsole()
  const sent = { 'plenum.json': file('plenum.json'), 'kit.zip': file('kit.zip') }
  const result = await taken(makeStick('enrol', sent), name)
  t.regex(result, /plenum\.json: network and clock are set/)
  t.regex(result, new RegExp(`kit\\.zip: this box is A/box-1 and sends to ${UPLINK_HOST.replaceAll('.', '\\.')}`))
  let known: Edge[] = []
  for (const end = Date.now() + RESULT_MS; Date.now() < end && !known[0]?.session.open; await sleep(2000)) known = await edges()
  t.like(known[0], { edge_id: 'box-1', session: { open: true } })
  const now = Date.now()
  t.true((await clockFrom(now)) < now + HOUR)
  box.type('status')
  // The console colours addresses.
  t.truthy(await box.says(/\beth0\s[^\n]*10\.0\.8\.15\S*\/25\b/))
})
