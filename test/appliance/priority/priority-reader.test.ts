/** Priority arrays of simulated controllers, read over real sockets. */
import test, { type ExecutionContext } from 'ava'
import { judgeIdentity } from '#appliance/drivers/bacnet/core/identity-check.ts'
import type { ArrayAnswer } from '#appliance/core/priority/array-answer.ts'
import { type CataloguePoint, type PriorityObject, visitedObjects } from '#appliance/core/priority/visit-objects.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { priorityReader } from '#appliance/priority/priority-reader.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { never } from '../drivers/bacnet/harness.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'
import { contextId } from '#scripts/simulator/bacnet/wire.ts'
import { type BacnetDeviceOptions, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { type Commands, OBJECT_TYPES, type SimObject } from '#scripts/simulator/bacnet/objects.ts'
import { type Command, commandedBy } from '#scripts/simulator/building/commands.ts'

const AT = 1_000_000
const INSTANCE = 4001

function output(instance: number, script: Command[] = [], array?: Commands['array']): SimObject {
  const name = `ao-${instance}`
  return {
    type: OBJECT_TYPES.AO,
    instance,
    name,
    unit: 'percent',
    ...commandedBy(script, () => AT, { relinquishDefault: 12, ...(array && { array }) }),
  }
}

type Options = Partial<BacnetDeviceOptions> & { entry?: Partial<DeviceEntry['bacnet']>; timing?: Partial<DeviceEntry> }

async function visit(t: ExecutionContext, objects: SimObject[], { entry, timing, ...options }: Options = {}) {
  const device = await openBacnetDevice({ device_instance: INSTANCE, name: 'AHU', objects, ...options })
  t.teardown(() => device.close())
  const bacnet = bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: () => AT, log: SILENT })
  const points: CataloguePoint[] = objects.map(({ name, instance }) => ({ name, address: `analog-output,${instance}` }))
  const listed = {
    device_id: 'ahu',
    name: 'AHU',
    enabled: true,
    protocol: 'bacnet',
    bacnet: { device_instance: INSTANCE, host: device.host, port: device.port, max_apdu: options.maxApdu ?? 1476, ...entry },
    timeout_ms: 4000,
    retries: 1,
    ...timing,
    points: [],
  } satisfies DeviceEntry
  const reader = priorityReader({ bacnet, entryOf: () => listed, now: () => AT })
  const scanned = visitedObjects({ device_id: 'ahu', device_instance: INSTANCE }, points)
  const of = { device_id: 'ahu', device_instance: INSTANCE, objects: scanned }
  const reading = (signal = never) => reader.read(of, scanned, signal)
  const readAll = (all: PriorityObject[]) => allOf(reader.read({ ...of, objects: all }, all, never))
  const identify = () => reader.identify(of, never)
  return { device, reading, read: () => allOf(reading()), readAll, identify }
}

async function allOf(reading: AsyncIterable<ArrayAnswer>): Promise<ArrayAnswer[]> {
  const answers: ArrayAnswer[] = []
  for await (const answer of reading) answers.push(answer)
  return answers
}

/** The levels with a value, for example { 8: 55 }. */
function held(answer: ArrayAnswer | undefined): Record<number, unknown> | string {
  if (answer?.state !== 'read') return answer?.state ?? 'none'
  const some = answer.slots.filter(({ state }) => state !== 'null')
  return Object.fromEntries(
    some.map(slot => [slot.level, slot.state === 'value' ? slot.value : slot.state === 'error' && slot.error]),
  )
}

const OVERRIDDEN: Command[] = [
  { at: 0, level: 16, value: 30 },
  { at: 0, level: 8, value: 55 },
]

test('sixteen levels, present value and relinquish default of each point are read', async t => {
  const { read, device } = await visit(t, [output(1, OVERRIDDEN), output(2)])
  const [first, second] = await read()
  t.like(first, { state: 'read', observed_at: AT, present_value: 55, relinquish_default: 12, out_of_service: false })
  t.deepEqual(held(first), { 8: 55, 16: 30 })
  t.deepEqual(held(second), {})
  t.like(second, { present_value: 12 })
  t.is(device.requests(), 1)
})

for (const [maxApdu, requests] of [
  [1476, 3],
  [480, 10],
  [206, 30],
] as const) {
  test(`thirty points of a device with an APDU of ${maxApdu} are read in ${requests} requests`, async t => {
    const objects = Array.from({ length: 30 }, (_, i) => output(i + 1, OVERRIDDEN))
    const { read, device } = await visit(t, objects, { maxApdu })
    const answers = await read()
    t.true(answers.every(({ state }) => state === 'read'))
    t.is(answers.length, 30)
    t.is(device.requests(), requests)
  })
}

test('a device without ReadPropertyMultiple is read property by property', async t => {
  const { read } = await visit(t, [output(1, OVERRIDDEN), output(2)], { rpm: false })
  t.deepEqual((await read()).map(held), [{ 8: 55, 16: 30 }, {}])
})

test('a device that refuses whole arrays is read level by level from then on', async t => {
  const { read, device } = await visit(t, [output(1, OVERRIDDEN, 'by_level'), output(2, [], 'by_level')])
  t.deepEqual((await read()).map(held), [{ 8: 55, 16: 30 }, {}])
  const before = device.requests()
  t.deepEqual((await read()).map(held), [{ 8: 55, 16: 30 }, {}])
  t.is(device.requests() - before, 1)
})

test('a level that the device refuses is an error of that level', async t => {
  const script = [...OVERRIDDEN, { at: 0, level: 3, value: { errorClass: 2, errorCode: 27 } }]
  const { read } = await visit(t, [output(1, script)])
  t.deepEqual((await read()).map(held), [{ 3: 'error read-access-denied (class 2)', 8: 55, 16: 30 }])
})

test('an array that is too large for the device is read level by level', async t => {
  const { read } = await visit(
    t,
    [
      output(
        1,
        Array.from({ length: 16 }, (_, i) => ({ at: 0, level: i + 1, value: i })),
      ),
    ],
    {
      maxApdu: 50,
    },
  )
  t.deepEqual((await read()).map(held), [Object.fromEntries(Array.from({ length: 16 }, (_, i) => [i + 1, i]))])
})

test('an input out of service is read with its set value, in one request with the outputs', async t => {
  const sensor = { type: OBJECT_TYPES.AI, instance: 7, name: 'Zone', unit: 'degF', value: () => 72, outOfService: () => true }
  const { device, readAll } = await visit(t, [sensor, output(1, OVERRIDDEN)])
  const answers = await readAll(
    visitedObjects({ device_id: 'ahu', device_instance: INSTANCE }, [
      { address: 'analog-input,7', name: 'Zone' },
      { address: 'analog-output,1', name: 'ao-1' },
    ]),
  )
  t.like(answers[0], { state: 'read', out_of_service: true, present_value: 72 })
  t.deepEqual(answers.map(held), [{}, { 8: 55, 16: 30 }])
  t.is(device.requests(), 1)
})

test('a point without a priority array is reported as such', async t => {
  const { read } = await visit(t, [output(1, [], 'none'), output(2)])
  t.deepEqual(
    (await read()).map(({ state }) => state),
    ['not_commandable', 'read'],
  )
})

for (const [what, options, requests] of [
  ['in one request', {}, 1],
  ['property by property where it has no ReadPropertyMultiple', { rpm: false }, 4],
] as const) {
  test(`a device is identified ${what}`, async t => {
    const { identify, device } = await visit(t, [output(1)], options)
    t.like(judgeIdentity(INSTANCE, await identify()), { state: 'same', make: { vendor_id: 999 } })
    t.is(device.requests(), requests)
  })
}

test('a device of another instance is distinguished from the listed one', async t => {
  const { identify } = await visit(t, [output(1)], { device_instance: INSTANCE + 1 })
  t.like(judgeIdentity(INSTANCE, await identify()), { state: 'other', by: 'instance' })
})

test('a device that does not answer ends the visit with the reason', async t => {
  const { read } = await visit(t, [output(1)], { misbehaves: 'silent', timing: { timeout_ms: 100, retries: 0 } })
  await t.throwsAsync(read(), { message: /no answer from 127\.0\.0\.1:\d+ in 1 attempts/ })
})

for (const [what, maxApdu] of [
  ['with others in a request', 1476],
  ['by itself', 206],
] as const) {
  test(`an object that keeps its device from answering, read ${what}, hides no other object`, async t => {
    const objects = Array.from({ length: 30 }, (_, i) => output(i + 1))
    const id = contextId(0, OBJECT_TYPES.AO, 12)
    const ignores = (request: Buffer) => request.includes(id)
    const { read, device } = await visit(t, objects, { maxApdu, ignores, timing: { timeout_ms: 300, retries: 1 } })
    const readOf = (answers: ArrayAnswer[]) =>
      answers.filter(({ state }) => state === 'read').map(({ object }) => object.target.object_instance)
    const others = objects.map(({ instance }) => instance).filter(instance => instance !== 12)
    t.deepEqual(
      readOf(await read()).toSorted((a, b) => a - b),
      others,
    )
    await read()
    const before = device.requests()
    t.deepEqual(
      readOf(await read()).toSorted((a, b) => a - b),
      others,
    )
    t.true(device.requests() - before <= objects.length + 2)
  })
}

test('objects read before a device stopped answering count', async t => {
  const objects = Array.from({ length: 30 }, (_, i) => output(i + 1))
  const { reading } = await visit(t, objects, { silentAfter: 2, timing: { timeout_ms: 3000, retries: 0 } })
  const answers: ArrayAnswer[] = []
  await t.throwsAsync(
    async () => {
      for await (const answer of reading()) answers.push(answer)
    },
    { message: /no answer/ },
  )
  t.is(answers.length, 20)
  t.true(answers.every(({ state }) => state === 'read'))
})

test('an ended visit sends no more requests', async t => {
  const objects = Array.from({ length: 30 }, (_, i) => output(i + 1))
  const { reading, device } = await visit(t, objects)
  const end = new AbortController()
  await t.throwsAsync(async () => {
    for await (const _ of reading(end.signal)) end.abort()
  })
  t.is(device.requests(), 1)
})
