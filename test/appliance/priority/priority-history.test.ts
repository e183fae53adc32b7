/** The priority history of an edge, with files in a folder and a simulated controller on a real socket. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { readEnv, type Settings } from '#shared/core/env.ts'
import type { PriorityRecord } from '#shared/core/priority/priority-record.ts'
import { SECOND } from '#shared/core/time.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { PRIORITY_VARIABLES } from '#appliance/env.ts'
import { openPriorityHistory, type PriorityHistory } from '#appliance/priority/priority-history.ts'
import { eventually } from '../../e2e/run-start.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'
import { virtualClock } from '../../support/virtual-clock.ts'
import { type BacnetDeviceOptions, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { OBJECT_TYPES, type SimObject } from '#scripts/simulator/bacnet/objects.ts'
import { type Command, commandedBy } from '#scripts/simulator/building/commands.ts'
import { journalFolder } from '../../support/journal-harness.ts'

const START = Date.UTC(2026, 2, 1)
const DEFAULTS: Settings<typeof PRIORITY_VARIABLES> = {
  SERVICE_PRIORITY_SCAN_ENABLED: true,
  SERVICE_PRIORITY_SCAN_INTERVAL_SECS: 3600,
  SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 100,
  SERVICE_PRIORITY_HISTORY_MAX_RECORDS: 1000,
}

/** Analog outputs whose slots change by script; `now` is that of the site. */
const outputs = (count: number, now: () => number, script: Record<number, Command[]> = {}): SimObject[] =>
  Array.from({ length: count }, (_, i) => ({
    type: OBJECT_TYPES.AO,
    instance: i + 1,
    name: `Output ${i + 1}`,
    unit: 'percent',
    ...commandedBy(script[i + 1] ?? [], now, { relinquishDefault: 0 }),
  }))

type Setup = Partial<Omit<BacnetDeviceOptions, 'objects'>> & { objects: (now: () => number) => SimObject[]; timeout_ms?: number }

async function openSite(t: ExecutionContext, { objects, timeout_ms = 4000, ...options }: Setup) {
  const store = journalFolder(t)
  const clock = virtualClock(START)
  const simulated = objects(clock.now)
  const device = await openBacnetDevice({ device_instance: 4001, name: 'AHU', objects: simulated, ...options })
  let atAddress = device
  t.teardown(() => atAddress.close())
  /** Another device takes the address. */
  const swap = async (next: Pick<BacnetDeviceOptions, 'device_instance' | 'name' | 'objects'>) => {
    const { host, port } = device
    await atAddress.close()
    atAddress = await openBacnetDevice({ ...next, host, port })
  }
  const bacnet = bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: clock.now, log: SILENT })
  const points = simulated.map(({ instance, name }) => ({
    ...{ point_id: `p${instance}`, name, unit: 'percent', kind: 'number' as const, poll_secs: 60 },
    address: `analog-output,${instance}`,
  }))
  const catalogue = {
    devices: [
      {
        ...{ device_id: 'ahu', name: 'AHU', enabled: true, protocol: 'bacnet' as const, timeout_ms, retries: 0, points },
        bacnet: { device_instance: 4001, host: device.host, port: device.port, max_apdu: 1476 },
      },
    ],
  }
  const openAgain = async (changes: Partial<typeof DEFAULTS> = {}): Promise<PriorityHistory> => {
    const settings = { ...DEFAULTS, ...changes, SERVICE_EDGE_STORE_DIR: store }
    const history = await openPriorityHistory({ settings, catalogue: { current: () => catalogue }, bacnet, clock, log: SILENT })
    t.teardown(() => history.service.stop())
    return history
  }
  return { device, swap, clock, store, openAgain }
}

/** One triggered visit, to its end. */
async function visit({ schedule, journal }: PriorityHistory): Promise<{ error: string | null; records: PriorityRecord[] }> {
  const { visit_id } = schedule.trigger(4001)
  await eventually('the end of the visit', 30_000, () => schedule.state().state !== 'visiting' || undefined)
  const { error, points_read } = schedule.visit(visit_id)!
  return { error, records: journal.page({ limit: 100 }).records.slice(0, points_read).toReversed() }
}

const levels = ({ slots }: PriorityRecord) =>
  Object.fromEntries(slots.flatMap(slot => (slot.state === 'value' ? [[slot.level, slot.value]] : [])))

test('changed commands are recorded from one visit to the next', async t => {
  const script: Command[] = [
    { at: START, level: 16, value: 40 },
    { at: START + 10 * SECOND, level: 8, value: 75 },
    { at: START + 20 * SECOND, level: 1, value: 100 },
    { at: START + 20 * SECOND, level: 13, value: 5 },
    { at: START + 30 * SECOND, level: 1, value: null },
    { at: START + 40 * SECOND, level: 8, value: { errorClass: 2, errorCode: 27 } },
  ]
  const { clock, openAgain } = await openSite(t, { objects: now => outputs(1, now, { 1: script }) })
  const history = await openAgain()
  const seen: unknown[] = []
  for (const at of [0, 10, 20, 30, 35]) {
    await clock.runTo(START + at * SECOND)
    const { records } = await visit(history)
    const { active_level, present_value, changed } = records[0]!
    seen.push([levels(records[0]!), active_level, present_value, changed.length > 9 ? 'all' : changed])
  }
  t.deepEqual(seen, [
    [{ 16: 40 }, 16, 40, 'all'],
    [{ 8: 75, 16: 40 }, 8, 75, [8]],
    [{ 1: 100, 8: 75, 13: 5, 16: 40 }, 1, 100, [1, 13]],
    [{ 8: 75, 13: 5, 16: 40 }, 8, 75, [1]],
    [{ 8: 75, 13: 5, 16: 40 }, 8, 75, []],
  ])
  await clock.runTo(START + 40 * SECOND)
  const { records } = await visit(history)
  t.deepEqual(records[0]!.slots[7], { level: 8, state: 'error', error: 'error read-access-denied (class 2)' })
  t.deepEqual([records[0]!.changed, records[0]!.active_level], [[8], 13])
})

test('after a restart the visits continue with the next points, and the history continues', async t => {
  const { openAgain } = await openSite(t, { objects: now => outputs(5, now) })
  const asked = async (history: PriorityHistory) =>
    (await visit(history)).records.map(({ seq, target }) => [seq, target.object_instance])
  const first = await openAgain({ SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 2 })
  t.deepEqual(await asked(first), [
    [1, 1],
    [2, 2],
  ])
  await first.service.stop()
  const second = await openAgain({ SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 2 })
  t.like(second.schedule.state(), { last_completed_at: START, last_device_instance: 4001, state: 'idle' })
  t.deepEqual(await asked(second), [
    [3, 3],
    [4, 4],
  ])
})

test('a stop during a visit stores the points read, and the others are first after the restart', async t => {
  const { device, store, openAgain } = await openSite(t, { objects: now => outputs(40, now), silentAfter: 3, timeout_ms: 60_000 })
  const first = await openAgain()
  first.schedule.trigger(4001)
  await eventually('the request that is not answered', 30_000, () => device.requests() === 4 || undefined)
  await first.service.stop()
  t.like(first.schedule.state(), { last_error: 'it was ended, as this process stops' })
  const second = await openAgain()
  const kept = second.journal.page({ limit: 100 }).records.length
  t.is(kept, 20)
  const memory = JSON.parse(readFileSync(join(store, 'priority-scan.json'), 'utf8'))
  t.deepEqual(memory.devices.ahu.after, { type: OBJECT_TYPES.AO, instance: 20 })
})

test('while visits are switched off, nothing is read and no file is created', async t => {
  const { device, store, openAgain } = await openSite(t, { objects: now => outputs(1, now) })
  const { schedule, journal, service } = await openAgain({ SERVICE_PRIORITY_SCAN_ENABLED: false })
  await service.start()
  t.like(schedule.state(), { enabled: false, state: 'disabled' })
  t.throws(() => schedule.trigger(), { code: 'scanner_disabled' })
  t.deepEqual(journal.page({ limit: 1 }), { records: [], more: false })
  t.false(existsSync(store))
  t.is(device.requests(), 0)
})

test('an existing history can be read while visits are switched off', async t => {
  const { openAgain } = await openSite(t, { objects: now => outputs(1, now) })
  const first = await openAgain()
  await visit(first)
  await first.service.stop()
  const { journal, schedule } = await openAgain({ SERVICE_PRIORITY_SCAN_ENABLED: false })
  t.is(journal.page({ limit: 10 }).records.length, 1)
  t.throws(() => schedule.trigger(), { code: 'scanner_disabled' })
})

test('no device is visited while the history is damaged, and the state gives the place', async t => {
  const { device, store, openAgain } = await openSite(t, { objects: now => outputs(3, now) })
  const first = await openAgain()
  await visit(first)
  await visit(first)
  await first.service.stop()
  const [segment = ''] = readdirSync(join(store, 'priority')).filter(name => name.endsWith('.jsonl'))
  const path = join(store, 'priority', segment)
  const bytes = readFileSync(path)
  bytes[100]! ^= 1
  writeFileSync(path, bytes)
  const asked = device.requests()
  const { schedule, service } = await openAgain()
  await service.start()
  t.like(schedule.state(), { enabled: true, state: 'disabled' })
  t.regex(schedule.state().reason ?? '', /^history is disabled: .*jsonl.*byte/)
  t.throws(() => schedule.trigger(), { code: 'scanner_disabled', message: /jsonl/ })
  t.is(device.requests(), asked)
})

for (const text of ['', '{"next_due_at":', '{"devices":[]}', '[]']) {
  test(`a schedule file with ${JSON.stringify(text)} starts a new round of visits`, async t => {
    const { store, openAgain } = await openSite(t, { objects: now => outputs(2, now) })
    const first = await openAgain({ SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 1 })
    await visit(first)
    await first.service.stop()
    writeFileSync(join(store, 'priority-scan.json'), text)
    const second = await openAgain({ SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 1 })
    const { records } = await visit(second)
    t.deepEqual([records[0]?.seq, records[0]?.target.object_instance], [2, 1])
  })
}

test('another device at the address leaves no record, and the listed one is read again when it is back', async t => {
  const { swap, clock, openAgain } = await openSite(t, { objects: now => outputs(2, now) })
  const history = await openAgain()
  t.is((await visit(history)).records.length, 2)
  const objects = outputs(2, clock.now, { 1: [{ at: START, level: 8, value: 99 }] })
  await swap({ device_instance: 4002, name: 'Another', objects })
  await clock.runTo(START + 10 * SECOND)
  const failed = await visit(history)
  t.regex(failed.error ?? '', /^another device answers at this address: it has no device object 4001/)
  t.is(history.journal.state().last, 2)
  const [told] = history.schedule.state().other_devices ?? []
  t.like(told, { device_id: 'ahu', device_instance: 4001, since: START + 10 * SECOND })
  await history.service.stop()
  const again = await openAgain()
  t.is(again.schedule.state().other_devices?.length, 1, 'it is remembered over a restart')
  await swap({ device_instance: 4001, name: 'AHU', objects: outputs(2, clock.now) })
  t.is((await visit(again)).error, null)
  t.is(again.journal.state().last, 4)
  t.is(again.schedule.state().other_devices, undefined)
})

test('a visit to a device that does not answer gives the reason, and the device is visited again', async t => {
  const { device, openAgain } = await openSite(t, { objects: now => outputs(1, now), misbehaves: 'silent', timeout_ms: 3000 })
  const history = await openAgain()
  t.regex((await visit(history)).error ?? '', /no answer from 127\.0\.0\.1/)
  device.misbehave('none')
  t.is((await visit(history)).records.length, 1)
  t.is(history.schedule.state().last_error, null)
})

for (const [name, text, reason] of [
  ['SERVICE_PRIORITY_SCAN_ENABLED', 'yes', /takes 1 or 0/],
  ['SERVICE_PRIORITY_SCAN_INTERVAL_SECS', '299', /from 300 to 2147483/],
  ['SERVICE_PRIORITY_SCAN_INTERVAL_SECS', '2147484', /from 300 to 2147483/],
  ['SERVICE_PRIORITY_SCAN_INTERVAL_SECS', '300.5', /whole number/],
  ['SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE', '0', /from 1 to 1000/],
  ['SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE', '1001', /from 1 to 1000/],
] as const) {
  test(`${name}=${text} refuses the start`, t => {
    const read = readEnv(PRIORITY_VARIABLES, { env: { [name]: text } }, () => '')
    t.regex(read.ok ? 'taken' : read.complaints.join(), reason)
  })
}
for (const [name, value] of [
  ['SERVICE_PRIORITY_SCAN_INTERVAL_SECS', 300],
  ['SERVICE_PRIORITY_SCAN_INTERVAL_SECS', 2_147_483],
  ['SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE', 1],
  ['SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE', 1000],
] as const) {
  test(`${name}=${value} is accepted`, t => {
    const read = readEnv(PRIORITY_VARIABLES, { env: { [name]: String(value) } }, () => '')
    t.is(read.ok ? read.settings[name] : undefined, value)
  })
}

test('visits are off by default, and hourly with a hundred points when they are switched on', t => {
  const read = readEnv(PRIORITY_VARIABLES, { env: {} }, () => '')
  t.like(read, {
    settings: {
      SERVICE_PRIORITY_SCAN_ENABLED: false,
      SERVICE_PRIORITY_SCAN_INTERVAL_SECS: 3600,
      SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE: 100,
    },
  })
})
