/** From the catalogue to the sinks, over real sockets. */
import test, { type ExecutionContext } from 'ava'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { Historian } from '#shared/core/ports.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { simulatedClock, wallClock } from '#shared/node/clock.ts'
import { misdatedStore } from '#shared/node/store/misdated.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { modbusProtocol } from '#appliance/drivers/modbus/protocol.ts'
import { modelSync } from '#appliance/services/model-sync.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import { historianSink } from '#appliance/sinks/historian-sink.ts'
import type { DeviceCatalogue } from '#appliance/store/catalogue-schema.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '#scripts/simulator/bacnet/objects.ts'
import { openModbusDevice } from '#scripts/simulator/modbus/device.ts'
import { temporaryDatabase } from '../../support/sites/workspace.ts'
import { catalogue, memoryCatalogue, SILENT, site } from '../../support/sites/catalogue-site.ts'

/** Polls until `ready`, for at most 30 s. */
async function until(t: ExecutionContext, ready: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1500; tries++) {
    if (ready()) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  t.fail('it did not come to pass within 30 s')
}

async function openDevices(t: ExecutionContext, sat = () => 55.5) {
  const air = await openBacnetDevice({
    device_instance: 1001,
    name: 'ahu-1',
    cov: true,
    objects: [
      { type: OBJECT_TYPES.AI, instance: 1, name: 'sat', value: sat },
      { type: OBJECT_TYPES.BI, instance: 1, name: 'fan', value: () => 1 },
    ],
  })
  const meter = await openModbusDevice({
    registers: [{ table: 'holding', address: 0, kind: 'float32', value: () => 12_500 }],
  })
  t.teardown(() => Promise.all([air.close(), meter.close()]))
  const at = structuredClone(catalogue)
  at.devices[0]!.bacnet!.port = air.port
  at.devices[0]!.timeout_ms = 1000
  at.devices[1]!.modbus!.port = meter.port
  return { air, meter, at }
}

function openService(t: ExecutionContext, at: DeviceCatalogue, sinks: { write(readings: Reading[]): Promise<void> }[]) {
  // A minute in half a second.
  const clock = simulatedClock({ speed: 120, epochMs: Date.UTC(2026, 2, 1), atMs: Date.now() })
  const bind = { address: '127.0.0.1', port: 0 }
  const protocols = [bacnetProtocol({ bind, now: clock.now, log: SILENT }), modbusProtocol({ now: clock.now })]
  const service = new PollService({ catalogue: at, protocols, sinks, clock, log: SILENT })
  t.teardown(() => service.stop())
  return { service, clock }
}

test('devices of both protocols are read on schedule, and one that dies and returns shows in the status', async t => {
  const { air, at } = await openDevices(t)
  const kept: Reading[] = []
  const { service, clock } = openService(t, at, [{ write: async readings => void kept.push(...readings) }])
  t.like(service.pollStatus(), { running: false, points_ok: 0 })
  await service.start()
  await until(t, () => service.pollStatus().points_ok === 3)
  const latest = (id: string) => kept.findLast(reading => reading.id === id)
  await until(t, () => latest('AHU-1.sa_t') !== undefined && latest('meter.power') !== undefined)
  t.like(latest('AHU-1.sa_t'), { v: 55.5, q: 'good' })
  t.like(latest('AHU-1.fan_status'), { v: true, q: 'good' })
  t.like(latest('meter.power'), { v: 12.5, q: 'good' })
  t.true(kept.every(({ t: observed }) => observed >= Date.UTC(2026, 2, 1) && observed <= clock.now()))

  air.misbehave('silent')
  await until(t, () => service.pollStatus().points_down === 2)
  t.like(service.pollStatus(), { running: true, points_ok: 1 })
  t.like(service.pollStatus().devices[0], { device_id: 'ahu-1', state: 'down' })
  const meterReads = service.pollStatus().devices[1]!.reads
  await until(t, () => service.pollStatus().devices[1]!.reads > meterReads + 1)
  air.misbehave('none')
  await until(t, () => service.pollStatus().points_ok === 3)

  await service.stop()
  t.is(service.pollStatus().running, false)
  const before = kept.length
  await new Promise(resolve => setTimeout(resolve, 50))
  t.is(kept.length, before)
})

test('while readings cannot be kept it says why', async t => {
  const { at } = await openDevices(t)
  let isFull = true
  const write = async () => {
    if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  const { service } = openService(t, at, [{ write }])
  await service.start()
  await until(t, () => service.storing().trouble?.reason === 'no space left on device')
  isFull = false
  await until(t, () => service.storing().trouble === undefined)
  t.true(service.pollStatus().running)
})

test('a change that a device tells is kept between two polls', async t => {
  let sat = 55.5
  const { air, at } = await openDevices(t, () => sat)
  for (const point of at.devices[0]!.points) point.poll_secs = 86_400
  at.devices[0]!.points[0]!.cov = true
  const kept: Reading[] = []
  const { service } = openService(t, at, [{ write: async readings => void kept.push(...readings) }])
  await service.start()
  const values = () => kept.filter(({ id }) => id === 'AHU-1.sa_t').map(({ v }) => v)
  await until(t, () => values().length === 2)
  t.deepEqual(
    air.subscribed().map(({ type, instance, lifetimeSecs }) => [type, instance, lifetimeSecs]),
    [[OBJECT_TYPES.AI, 1, 600]],
  )
  sat = 60.25
  air.tell(OBJECT_TYPES.AI, 1)
  await until(t, () => values().length === 3)
  t.deepEqual(values(), [55.5, 55.5, 60.25])
  t.like(service.pointStatus('ahu-1')[0], { state: 'ok', last: { v: 60.25 } })
  t.is(service.pollStatus().devices[0]!.reads, 1)
})

test('a disabled device is never asked, and the port of a protocol without devices is not taken', async t => {
  const { air, at } = await openDevices(t)
  at.devices[0]!.enabled = false
  const { service } = openService(t, at, [{ write: async () => undefined }])
  await service.start()
  await until(t, () => service.pollStatus().points_ok === 1)
  t.is(service.pollStatus().devices[0]!.state, 'disabled')
  t.is(air.requests(), 0)
})

test('a service that never started can be stopped', async t => {
  const { service } = openService(t, { devices: [] }, [])
  await service.stop()
  await t.notThrowsAsync(service.stop())
})

function memoryModel(points: Point[] = []) {
  const dropped: string[] = []
  const held: { building?: Building; equipment: Equipment[]; points: Point[] } = { equipment: [], points }
  const model: ModelStore = {
    timezones: () => [],
    buildings: () => (held.building ? [held.building] : []),
    building: () => held.building,
    equipment: () => held.equipment,
    points: () => held.points,
    revision: () => 0,
    revisions: () => new Map(),
    put: ({ points: more = [], ...next }) => {
      const ids = new Set(more.map(({ point_id }) => point_id))
      Object.assign(held, next, { points: [...more, ...held.points.filter(({ point_id }) => !ids.has(point_id))] })
    },
    dropEmpty: id => void dropped.push(id),
    assign: () => ({ saved: 0, unchanged: 0, removed: 0 }),
  }
  return { model, held, dropped }
}

test("the model gets the building, its equipment and the catalogue's points", async t => {
  const { model, held, dropped } = memoryModel()
  await modelSync({ model, site, catalogue: memoryCatalogue(catalogue), clock: wallClock }).start()
  t.like(held.building, { building_id: 'school', site_id: 'demo' })
  t.deepEqual(dropped, ['building-1'], 'the building of a new box goes when it has another')
  t.deepEqual(
    held.equipment.map(({ equipment_id, building_id }) => [equipment_id, building_id]),
    [
      ['AHU-1', 'school'],
      ['VAV-1', 'school'],
    ],
  )
  t.deepEqual(held.points[0], {
    point_id: 'AHU-1.sa_t',
    building_id: 'school',
    equipment_id: 'AHU-1',
    name: 'Supply air temperature',
    role: 'sa_t',
    unit: 'degF',
    kind: 'number',
    poll_secs: 60,
    source: {
      protocol: 'bacnet',
      address: 'ahu-1/analog-input,1',
      bacnet: { device_instance: 1001 },
      scaling: { scale: 1, offset: 0 },
    },
    edge_id: site.edge_id,
  })
})

test('what an operator assigned stays where the catalogue says nothing', async t => {
  const assigned: Point = {
    point_id: 'meter.power',
    building_id: 'school',
    equipment_id: 'VAV-1',
    role: 'power',
    name: 'old',
    unit: 'kW',
    kind: 'number',
    source: { protocol: 'modbus', address: 'x' },
  }
  const { model, held } = memoryModel([assigned, { ...assigned, point_id: 'AHU-1.sa_t' }])
  await modelSync({ model, site, catalogue: memoryCatalogue(catalogue), clock: wallClock }).start()
  t.like(held.points[2], { point_id: 'meter.power', role: 'power', equipment_id: 'VAV-1', name: 'Power' })
  t.like(held.points[0], { point_id: 'AHU-1.sa_t', role: 'sa_t', equipment_id: 'AHU-1' })
})

test('a point off the list has no role, so that no rule waits for it, and has it again when it is listed again', async t => {
  const { model, held } = memoryModel()
  const list = memoryCatalogue(catalogue)
  const [device, ...others] = catalogue.devices
  const [first, ...rest] = device!.points
  const { role, ...unnamed } = first!
  const pointOf = (point_id: string) => held.points.find(point => point.point_id === point_id)!
  await modelSync({ model, site, catalogue: list, clock: { ...wallClock, now: () => 7 } }).start()
  const before = pointOf(first!.point_id)
  t.is(before.role, role)

  await list.change(() => ({ devices: [{ ...device!, points: rest }, ...others] }))
  const { role: _, ...without } = before
  t.deepEqual(pointOf(first!.point_id), { ...without, gone: { at: 7, role: role! } })
  await list.change(() => ({ devices: [{ ...device!, points: [unnamed, ...rest] }, ...others] }))
  t.deepEqual(pointOf(first!.point_id), before)

  const renamed = { ...device!, points: [{ ...first!, point_id: 'z.new' }, ...rest] }
  await list.change(() => ({ devices: [renamed, ...others] }))
  t.like(pointOf('z.new'), { role, equipment_id: before.equipment_id })
  await list.change(() => ({ devices: [{ ...renamed, points: [unnamed, ...renamed.points] }, ...others] }))
  t.deepEqual(pointOf(first!.point_id), without, 'another has its place')
})

test('what came with imported files, and what another edge measures, leaves with no list of this one', async t => {
  const foreign: Point = {
    ...{ point_id: 'oat', building_id: 'school', name: 'Outdoor air', unit: 'degC', kind: 'number', role: 'oa_t' },
    source: { protocol: 'haystack', address: 'x' },
    edge_id: 'other-edge',
  }
  const imported: Point = { ...foreign, point_id: 'csv', source: { protocol: 'csv', address: 'x' } }
  const { model, held } = memoryModel([foreign, imported])
  await modelSync({ model, site, catalogue: memoryCatalogue(catalogue), clock: wallClock }).start()
  t.deepEqual(held.points.slice(-2), [foreign, imported])
})

test('history gets numbers: flags as 0 and 1, texts by their place, what is no number as no data', async t => {
  const appended: { id: string; t: number; v: number }[] = []
  const historian: Historian = {
    append: async (building_id, rows) => {
      t.is(building_id, 'school')
      appended.push(...rows)
      return { added: rows.length, duplicate: 0 }
    },
    read: async () => [],
    firsts: async () => ({}),
    buckets: async () => [],
    spans: async () => [],
    lastAt: () => undefined,
  }
  const statesOf = (id: string) => (id === 'mode' ? ['off', 'heat', 'cool'] : undefined)
  const misdated = misdatedStore(temporaryDatabase(t))
  const sink = historianSink({
    historian,
    misdated,
    building_id: 'school',
    statesOf,
    clock: wallClock,
    notBefore: () => undefined,
    needRoom: () => undefined,
  })
  const at = Date.UTC(2026, 2, 1)
  await sink.write([
    { id: 'x', t: at + 1, v: 2.5, q: 'good' },
    { id: 'x', t: at + 2, v: true, q: 'good' },
    { id: 'mode', t: at + 3, v: 'cool', q: 'good' },
    { id: 'x', t: at + 4, v: null, q: 'bad' },
  ])
  t.deepEqual(
    appended.map(({ v }) => v),
    [2.5, 1, 2, Number.NaN],
  )
})
