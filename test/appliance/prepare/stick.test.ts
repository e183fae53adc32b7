import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { firstSite } from '#appliance/prepare/identity.ts'
import { lastUpdateLines, resultSince, takeStick } from '#appliance/prepare/stick.ts'
import { STICK_FILES } from '#shared/core/system/stick-files.ts'
import { makeKit } from '#shared/node/pki/kit-make.ts'
import { zipKit } from '#shared/node/pki/kit-write.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { makeCa } from '#shared/node/pki/pki.ts'
import { folder } from '../../support/folders.ts'

const NAME = 'plenum-ab12'
const NOW = Date.now()
const clockAt = (now: number) => ({ now, isSynced: false, notBefore: Date.UTC(2025, 0, 1) })

async function box(t: ExecutionContext) {
  const at = folder(t)
  const places = {
    stick: join(at, 'stick'),
    system: join(at, 'system'),
    kit: join(at, 'kit'),
    workspace: join(at, 'workspace'),
    settings: join(at, 'settings.env'),
    updates: join(at, 'updates'),
  }
  for (const path of [places.stick, places.system, places.kit, places.updates]) mkdirSync(path)
  await firstSite(places, NAME)
  const put = (file: string, content: string | Buffer) => writeFileSync(join(places.stick, file), content)
  const site = () => JSON.parse(readFileSync(join(places.workspace, 'config/site.json'), 'utf8')) as Record<string, unknown>
  return { places, put, site }
}

async function kitZip(site_id: string, edge_id: string, now = NOW): Promise<Buffer> {
  const ca = await makeCa({ name: 'authority', now })
  return zipKit(await makeKit(ca, { site_id, edge_id, broker_host: 'hub.example', broker_port: 8883, now, days: 30 }))
}

test('a kit makes a new box that edge, which sends to the hub from the next start', async t => {
  const { places, put, site } = await box(t)
  writeFileSync(places.settings, 'SERVICE_SMTP_HOST=mail.example\nSERVICE_MQTT_ENABLED=0\n')
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1'))
  const { lines, wish } = await takeStick(places, NAME, clockAt(NOW))
  t.deepEqual(lines, ['kit.zip: this box is plant-7/ahu-box-1 and sends to hub.example'])
  t.is(wish, 'restart')
  t.like(site(), { site_id: 'plant-7', edge_id: 'ahu-box-1', building: { building_id: 'building-1' } })
  t.is((await readKit(places.kit, NOW)).edge.edge_id, 'ahu-box-1')
  t.is(statSync(join(places.kit, 'edge.key.pem')).mode & 0o777, 0o600)
  t.is(readFileSync(places.settings, 'utf8'), 'SERVICE_SMTP_HOST=mail.example\nSERVICE_MQTT_ENABLED=1\n')
})

test('an edge takes a new certificate, and does not become another edge', async t => {
  const { places, put, site } = await box(t)
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1'))
  await takeStick(places, NAME, clockAt(NOW))
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1', NOW + 1000))
  t.is((await takeStick(places, NAME, clockAt(NOW + 2000))).wish, 'restart')
  const certificate = readFileSync(join(places.kit, 'edge.cert.pem'), 'utf8')
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-2'))
  const { lines, wish } = await takeStick(places, NAME, clockAt(NOW + 2000))
  t.regex(
    lines[0]!,
    /^kit\.zip is not used: it is of plant-7\/ahu-box-2, and this box is plant-7\/ahu-box-1; reset the box first$/,
  )
  t.is(wish, 'nothing')
  t.is(readFileSync(join(places.kit, 'edge.cert.pem'), 'utf8'), certificate)
  t.is(site()['edge_id'], 'ahu-box-1')
})

test('a box whose clock is years behind takes a kit that was written today', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1'))
  t.is((await takeStick(places, NAME, clockAt(Date.UTC(2024, 0, 1)))).wish, 'restart')
})

test('a box whose clock is years ahead takes a kit too, and says what its clock makes of it', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1'))
  const { lines, wish } = await takeStick(places, NAME, clockAt(Date.UTC(2060, 0, 1)))
  t.is(wish, 'restart')
  t.regex(lines[0]!, /^kit\.zip: this box is plant-7\/ahu-box-1 .*; by the clock of this box the certificate ended at 20/)
})

test('a stick from a drawer does not replace a newer kit', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1', NOW))
  await takeStick(places, NAME, clockAt(NOW))
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1', NOW - 86_400_000))
  const { lines, wish } = await takeStick(places, NAME, clockAt(NOW))
  t.deepEqual(lines, ['kit.zip is not used: the kit of this box is newer'])
  t.is(wish, 'nothing')
})

test('each file that cannot be used is a line, and what can be used is taken', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.system, JSON.stringify({ uplink: { interface: 'eth0', address: '10.0.0.5/24' } }))
  put(STICK_FILES.kit, 'no ZIP')
  const { lines, wish } = await takeStick(places, NAME, clockAt(NOW))
  t.is(lines[0], 'plenum.json: network and clock are set')
  t.regex(lines[1]!, /^kit\.zip is not used: .*neither a folder nor a ZIP/)
  t.is(wish, 'restart')
  t.deepEqual(JSON.parse(readFileSync(join(places.system, 'system.json'), 'utf8')), {
    uplink: { interface: 'eth0', address: '10.0.0.5/24' },
  })
})

test('a network with a mistake changes nothing and names the field', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.system, JSON.stringify({ uplink: { interface: 'eth0', address: '10.0.0.5' } }))
  const { lines, wish } = await takeStick(places, NAME, clockAt(NOW))
  t.regex(lines[0]!, /^plenum\.json is not used: \/uplink\/address: /)
  t.is(wish, 'nothing')
  t.throws(() => statSync(join(places.system, 'system.json')))
})

test('an update is handed on whole, and restarts nothing before it was checked', async t => {
  const { places, put } = await box(t)
  const bytes = Buffer.alloc(300_000, 7)
  put(STICK_FILES.update, bytes)
  t.is((await takeStick(places, NAME, clockAt(NOW))).wish, 'nothing')
  t.deepEqual(readFileSync(join(places.updates, 'bundle.raucb')), bytes)
  t.is(readFileSync(join(places.updates, 'install'), 'utf8'), 'newer\n')
})

test('a reset has to name the box, and nothing else of the stick is taken then', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.system, JSON.stringify({ uplink: { interface: 'eth0' } }))
  put(STICK_FILES.reset, 'plenum-zz99\n')
  const other = await takeStick(places, NAME, clockAt(NOW))
  t.is(other.wish, 'nothing')
  t.regex(other.lines[0]!, /it names "plenum-zz99" and this box is plenum-ab12/)
  t.throws(() => statSync(join(places.system, 'system.json')))
  put(STICK_FILES.reset, `${NAME}\r\n`)
  t.is((await takeStick(places, NAME, clockAt(NOW))).wish, 'reset')
})

test('the result says what became of the last update, with the reason and the end of its log', t => {
  t.deepEqual(lastUpdateLines(undefined), [])
  const last = { state: 'rolled_back', version: '1.2.0+aa', slot: 'A', reason: 'no page', at: '2026-01-02T03:04:05Z' } as const
  const line = 'last update: rolled_back 1.2.0+aa 2026-01-02T03:04:05Z no page'
  t.deepEqual(lastUpdateLines(last), [line])
  t.deepEqual(lastUpdateLines({ ...last, log: ['one', 'two'] }), [line, 'its log: one', 'its log: two'])
})

test('a stick that was taken before gets what has become of the update since, once', t => {
  const last = { state: 'refused', version: '', slot: 'A', reason: 'it is not signed', at: '2026-01-02T03:04:05Z' } as const
  const before = 'plenum-ab12\r\nupdate.raucb: it is received\r\n'
  t.is(resultSince(before, undefined), undefined)
  for (const state of ['installing', 'installed', 'trying'] as const)
    t.is(resultSince(before, { ...last, state }), undefined, state)
  const after = resultSince(before, { ...last, log: ['one'] })!
  t.is(after, `${before}last update: refused 2026-01-02T03:04:05Z it is not signed\r\nits log: one\r\n`)
  t.is(resultSince(after, last), undefined)
})

test('an empty stick says what it could have', async t => {
  const { places } = await box(t)
  t.deepEqual(await takeStick(places, NAME, clockAt(NOW)), {
    lines: ['none of reset.txt, clock.txt, plenum.json, kit.zip, update.raucb is there'],
    wish: 'nothing',
  })
})

test('a clock is set to the instant of the file, and the kit is judged by it', async t => {
  const { places, put } = await box(t)
  put(STICK_FILES.clock, '2026-11-24T13:50:00Z\r\n')
  const { lines, wish, clock } = await takeStick(places, NAME, clockAt(Date.UTC(1970, 0, 1)))
  t.deepEqual(lines, ['clock.txt: the clock is set to 2026-11-24T13:50:00Z'])
  t.is(wish, 'nothing')
  t.is(clock, Date.UTC(2026, 10, 24, 13, 50))
  put(STICK_FILES.clock, new Date(NOW).toISOString())
  put(STICK_FILES.kit, await kitZip('plant-7', 'ahu-box-1'))
  const both = await takeStick(places, NAME, clockAt(Date.UTC(2060, 0, 1)))
  t.is(both.lines[1], 'kit.zip: this box is plant-7/ahu-box-1 and sends to hub.example')
})

test('a clock is not set to what is no instant, is before the version was made, or where a time server sets it', async t => {
  const { places, put } = await box(t)
  for (const [text, isSynced, reason] of [
    ['', false, '"" is no instant in UTC, as 2026-11-24T13:50:00Z'],
    ['24.11.2026 13:50', false, '"24.11.2026 13:50" is no instant in UTC, as 2026-11-24T13:50:00Z'],
    ['2024-12-31T23:59:59Z', false, 'it is before the version of the box was made, 2025-01-01T00:00:00Z'],
    ['2026-11-24T13:50:00Z', true, 'a time server sets the clock'],
  ] as const) {
    put(STICK_FILES.clock, text)
    const { lines, clock } = await takeStick(places, NAME, { ...clockAt(NOW), isSynced })
    t.deepEqual(lines, [`clock.txt is not used: ${reason}`])
    t.is(clock, undefined)
  }
})
