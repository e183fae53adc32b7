/** The field catalogue while it is in use: changed by people, by scripts, and followed by polling. */
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Problem } from '#shared/core/problem.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { simulatedClock } from '#shared/node/clock.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { factOfPoint, fieldCatalogue } from '#appliance/services/field-catalogue.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import type { DeviceCatalogue, DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { ConfigError } from '#appliance/store/json-file.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { until } from '../../support/folders.ts'
import { catalogue, memoryCatalogue, SILENT, site } from '../../support/sites/catalogue-site.ts'

const bind = { address: '127.0.0.1', port: 0 }
const CHECKS = [bacnetProtocol({ bind, now: Date.now, log: SILENT }), modbusProtocol({ now: Date.now })]

async function openFile(t: ExecutionContext, held: DeviceCatalogue | undefined = catalogue) {
  const dir = await mkdtemp(join(tmpdir(), 'plenum-catalogue-'))
  t.teardown(() => rm(dir, { recursive: true }))
  const path = join(dir, 'field-devices.json')
  const write = (content: unknown) => writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  if (held) await write(held)
  const file = fieldCatalogue(await openCatalogue(dir, site, CHECKS), SILENT)
  const seen: number[] = []
  file.onChange(({ devices }) => void seen.push(devices.length))
  const settle = async () => {
    await file.checkFile()
    await file.checkFile()
  }
  return { path, write, file, seen, settle, onDisk: async () => JSON.parse(await readFile(path, 'utf8')) as DeviceCatalogue }
}
const without = (device_id: string) => (held: DeviceCatalogue) => ({
  devices: held.devices.filter(one => one.device_id !== device_id),
})
const renamed = (name: string) => (held: DeviceCatalogue) => ({ devices: held.devices.map(one => ({ ...one, name })) })

test('a change is on disk, in use and told, in the order of the calls', async t => {
  const { file, seen, onDisk } = await openFile(t)
  const [one, two] = await Promise.all([file.change(without('ahu-1')), file.change(renamed('Two'))])
  t.is(one.devices[0]!.name, 'Meter')
  t.is(two.devices[0]!.name, 'Two')
  t.deepEqual(await onDisk(), file.current())
  t.deepEqual(seen, [1, 1])
})

test('a change that is wrong names every place and changes nothing', async t => {
  const { file, seen, onDisk } = await openFile(t)
  const wrong = (held: DeviceCatalogue) => ({
    devices: held.devices.map(one => ({ ...one, points: one.points.map(point => ({ ...point, unit: '°F' })) })),
  })
  const error = await t.throwsAsync(file.change(wrong), { instanceOf: ConfigError })
  t.deepEqual(
    error.complaints.map(({ pointer }) => pointer),
    ['/devices/0/points/0/unit', '/devices/0/points/1/unit', '/devices/1/points/0/unit'],
  )
  t.deepEqual(await onDisk(), catalogue)
  t.deepEqual(seen, [])
  await t.notThrowsAsync(file.change(without('ahu-1')))
})

test('a change that cannot be followed is taken back, on disk and by those that followed already', async t => {
  const { file, seen, onDisk } = await openFile(t)
  file.onChange(({ devices }) => {
    if (devices.length === 1) throw new Error('port 47808 is taken')
  })
  await t.throwsAsync(file.change(without('ahu-1')), { message: /47808/ })
  t.deepEqual(seen, [1, 2])
  t.deepEqual(await onDisk(), catalogue)
  t.deepEqual(file.current(), catalogue)
})

test("a script's file is in use once it has stayed the same from one look to the next", async t => {
  const { file, write, seen, settle } = await openFile(t)
  await settle()
  t.deepEqual(seen, [])
  await write(without('ahu-1')(catalogue))
  await file.checkFile()
  t.is(file.current().devices.length, 2)
  await file.checkFile()
  t.is(file.current().devices.length, 1)
  await settle()
  t.deepEqual(seen, [1])
})

test('a file of the same size and time is another all the same', async t => {
  const { file, path, write, settle } = await openFile(t)
  const { atime, mtime } = await stat(path)
  await write(JSON.stringify(catalogue).replace('"Meter"', '"Metre"'))
  await utimes(path, atime, mtime)
  await settle()
  t.is(file.current().devices[1]!.name, 'Metre')
})

test("a script's file that is wrong is refused with its places and the list from before goes on, until it is mended", async t => {
  const { file, write, settle, onDisk } = await openFile(t)
  const wrong = structuredClone(catalogue)
  wrong.devices[1]!.points[0]!.poll_secs = 0
  await write(wrong)
  await settle()
  t.regex(file.refusal()!.reason, /\/devices\/1\/points\/0\/poll_secs/)
  t.deepEqual(file.current(), catalogue)
  const error = await t.throwsAsync(file.change(renamed('X')), { instanceOf: Problem })
  t.like(error, { code: 'conflict' })
  t.deepEqual(await onDisk(), wrong, 'what the script wrote is not lost')
  await write(renamed('Mended')(catalogue))
  await settle()
  t.is(file.refusal(), undefined)
  t.is(file.current().devices[0]!.name, 'Mended')
  await t.notThrowsAsync(file.change(renamed('Y')))
})

test("a change takes in a script's file first, so that neither is lost", async t => {
  const { file, write, onDisk } = await openFile(t)
  await write(renamed('Script')(catalogue))
  await file.change(held => ({ devices: held.devices.map(one => ({ ...one, enabled: false })) }))
  t.true((await onDisk()).devices.every(({ name, enabled }) => name === 'Script' && !enabled))
})

test('a file that is removed changes nothing, and the next change writes it anew', async t => {
  const { file, path, settle, onDisk } = await openFile(t)
  await rm(path)
  await settle()
  t.like(file.refusal(), { isGone: true })
  t.regex(file.refusal()!.reason, /no such file/)
  t.deepEqual(file.current(), catalogue)
  await file.change(renamed('Anew'))
  t.is(file.refusal(), undefined)
  t.is((await onDisk()).devices[0]!.name, 'Anew')
})

test('what was known of a point stays known when it leaves the list', async t => {
  const held = memoryCatalogue(catalogue)
  const protocolOf = factOfPoint(held, (_point, { protocol }) => protocol)
  await held.change(() => ({ devices: [] }))
  t.is(protocolOf('meter.power'), 'modbus')
  t.is(protocolOf('never'), undefined)
})

async function openPolling(t: ExecutionContext) {
  const sims = await Promise.all(
    [1, 2, 3].map(n =>
      openBacnetDevice({
        device_instance: 1000 + n,
        name: `d${n}`,
        objects: [1, 2].map(instance => ({
          type: OBJECT_TYPES.AI,
          instance,
          name: `p${instance}`,
          value: () => 10 * n + instance,
        })),
      }),
    ),
  )
  t.teardown(() => Promise.all(sims.map(sim => sim.close())))
  const entry = (n: number, points = [1]): DeviceEntry => ({
    device_id: `d${n}`,
    name: `Device ${n}`,
    enabled: true,
    protocol: 'bacnet',
    bacnet: { device_instance: 1000 + n, host: '127.0.0.1', port: sims[n - 1]!.port },
    timeout_ms: 1000,
    points: points.map(i => ({
      point_id: `d${n}.${i}`,
      address: `analog-input,${i}`,
      name: `P${i}`,
      unit: 'degC',
      kind: 'number',
      poll_secs: 60,
    })),
  })
  // A minute in half a second.
  const clock = simulatedClock({ speed: 120, epochMs: Date.UTC(2026, 2, 1), atMs: Date.now() })
  const kept: Reading[] = []
  const protocols = [bacnetProtocol({ bind, now: clock.now, log: SILENT })]
  const list = memoryCatalogue({ devices: [entry(1), entry(2)] })
  const sinks = [{ write: async (readings: Reading[]) => void kept.push(...readings) }]
  const service = new PollService({ catalogue: list.current(), protocols, sinks, clock, log: SILENT })
  list.onChange(next => service.reload(next))
  t.teardown(() => service.stop())
  const until = async (ready: () => boolean) => {
    for (let tries = 0; tries < 1500 && !ready(); tries++) await new Promise(resolve => setTimeout(resolve, 20))
    t.true(ready(), 'it did not come to pass within 30 s')
  }
  const times = (id: string) => kept.filter(reading => reading.id === id).map(reading => reading.t)
  return { sims, entry, list, service, kept, times, until }
}

test('polling follows the list: what is new is read, what is gone is not asked, and the rest is not disturbed', async t => {
  const { sims, entry, list, service, times, until } = await openPolling(t)
  await service.start()
  await until(() => service.pollStatus().points_ok === 2)
  await until(() => times('d1.1').length > 2)
  const [before] = service.pollStatus().devices

  await list.change(({ devices }) => ({ devices: [{ ...devices[0]!, name: 'Other name' }, entry(3, [1, 2])] }))
  await until(() => service.pollStatus().points_ok === 3)
  const after = service.pollStatus().devices
  t.deepEqual(
    after.map(({ device_id }) => device_id),
    ['d1', 'd3'],
  )
  t.true(after[0]!.reads >= before!.reads, 'a device that is only renamed keeps what is known of it')
  t.is(after[0]!.since, before!.since)
  t.deepEqual(
    service.pointStatus('d3').map(({ point_id, state, last }) => [point_id, state, last?.v]),
    [
      ['d3.1', 'ok', 31],
      ['d3.2', 'ok', 32],
    ],
  )
  t.deepEqual(service.pointStatus('d2'), [])
  t.deepEqual(
    ['d3.2', 'd2.1'].map(point_id => service.newestReading(point_id)?.v),
    [32, undefined],
  )
  const asked = sims[1]!.requests()
  const read = times('d1.1').length
  await until(() => times('d1.1').length > read + 2)
  t.is(sims[1]!.requests(), asked)
})

test('a device can be switched off and on, gain a point, and the list can begin and end empty', async t => {
  const { sims, entry, list, service, until } = await openPolling(t)
  await list.change(() => ({ devices: [] }))
  await service.start()
  t.deepEqual(service.pollStatus().devices, [])
  await list.change(() => ({ devices: [entry(1)] }))
  await until(() => service.pollStatus().points_ok === 1)
  await list.change(() => ({ devices: [{ ...entry(1), enabled: false }] }))
  t.like(service.pollStatus(), { enabled: false, devices: [{ state: 'disabled' }] })
  const asked = sims[0]!.requests()
  await list.change(() => ({ devices: [entry(1, [1, 2])] }))
  await until(() => service.pollStatus().points_ok === 2)
  t.true(sims[0]!.requests() > asked)
  await list.change(() => ({ devices: [] }))
  t.like(service.pollStatus(), { running: true, devices: [] })
})

test('a list that changes before polling starts is the one that is polled', async t => {
  const { entry, list, service, until } = await openPolling(t)
  await list.change(() => ({ devices: [entry(3)] }))
  t.like(service.pollStatus(), { running: false, devices: [{ device_id: 'd3' }] })
  await service.start()
  await until(() => service.pollStatus().points_ok === 1)
})

test('a port that is taken refuses the first BACnet device, and the old list goes on', async t => {
  const { entry, service, list } = await openPolling(t)
  const taken = await openBacnetDevice({ device_instance: 1, name: 'x', objects: [] })
  t.teardown(() => taken.close())
  const protocols = [bacnetProtocol({ bind: { address: '127.0.0.1', port: taken.port }, now: Date.now, log: SILENT })]
  const clock = simulatedClock({ speed: 1, epochMs: 0, atMs: Date.now() })
  const mine = memoryCatalogue({ devices: [] })
  const other = new PollService({ catalogue: mine.current(), protocols, sinks: [], clock, log: SILENT })
  mine.onChange(next => other.reload(next))
  t.teardown(() => other.stop())
  await other.start()
  await t.throwsAsync(
    mine.change(() => ({ devices: [entry(1)] })),
    { instanceOf: Problem, code: 'conflict', message: /^List not changed: BACnet\/IP cannot use UDP port \d+ of 127/ },
  )
  t.deepEqual(mine.current(), { devices: [] })
  t.deepEqual(other.pollStatus().devices, [])
  t.is(list.current().devices.length, 2)
  await service.stop()
})

test('a port that is taken at the start leaves its devices in fault with the reason, and they are read once it is free', async t => {
  const { entry } = await openPolling(t)
  const taken = await openBacnetDevice({ device_instance: 1, name: 'x', objects: [] })
  const { port } = taken
  const protocols = [bacnetProtocol({ bind: { address: '127.0.0.1', port }, now: Date.now, log: SILENT })]
  const clock = simulatedClock({ speed: 1, epochMs: 0, atMs: Date.now() })
  const list = memoryCatalogue({ devices: [entry(1)] })
  const service = new PollService({ catalogue: list.current(), protocols, sinks: [], clock, log: SILENT })
  list.onChange(next => service.reload(next))
  t.teardown(() => service.stop())
  await service.start()
  const device = () => service.pollStatus().devices[0]!
  await until(() => device().last_error !== null, 'the device says why it is not read')
  t.regex(device().last_error!, new RegExp(`^BACnet/IP cannot use UDP port ${port} of 127\\.0\\.0\\.1: bind EADDRINUSE`))
  await list.change(() => ({ devices: [entry(1), entry(2)] }))
  t.is(service.pollStatus().points_ok, 0)
  await taken.close()
  await until(() => service.pollStatus().points_ok === 2, 'both devices are read')
  t.is(device().state, 'ok')
})
