/**
 * The driver against devices that misbehave in every way of the list, on real sockets. For each: nothing ends, every read
 * does, no value is wrong, the device is read rightly as soon as it is well, and the one beside it never notices.
 */
import test, { type ExecutionContext } from 'ava'
import { type Batch, firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { DeviceError, type FieldDriver } from '#shared/core/poll/device.ts'
import type { BacnetPoint } from '#appliance/drivers/bacnet/core/point.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import type { RetryPolicy } from '#appliance/drivers/protocol.ts'
import type { BacnetTransport } from '#appliance/drivers/bacnet/transport.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { MISBEHAVIOUR_NAMES, openFaultyDevice } from '#scripts/simulator/faulty/bacnet.ts'
import { heldBy } from '#scripts/simulator/faulty/exchange.ts'
import { inputs, never, openTransport, patient, range } from './harness.ts'
import { seeded } from '../../../support/wire.ts'

/** How a read ends: every value right, only some, all bad; or the device is reported down, without answers or with garbled ones. */
type End = 'right' | 'partly' | 'bad' | 'given_up'
const REASONS = MISBEHAVIOUR_NAMES.filter(name => /^(abort|reject)_\d+$/.test(name))
/** Faults that are not listed leave no valid answer. */
const ENDS = new Map<string, End>([
  ...list(
    'right',
    'slow doubled doubled_with_a_lie loss_of_5_percent loss_of_half jitter reordered reboot other_port',
    'lie_from_elsewhere_first to_another_network other_order unsigned_of_7_bytes',
    'killers empty_datagram one_byte bvlc_junk bvlc_results bvlc_tables network_messages confirmed_requests_at_us who_is_at_us',
    'segment_acks notifications large_datagram noise storm_of_i_am endless_i_am broken_i_am storm_of_lies',
    'in_parts in_one_part part_by_part parts_doubled parts_jittered parts_of_two_answers part_from_elsewhere part_lost_once',
    'parts_overtake whole_after_a_part',
  ),
  ...list(
    'bad',
    'not_a_number infinity minus_infinity null_value text_value no_value two_values date_value constructed_value context_value',
    'error_for_one error_for_all error_for_the_request',
    'aborts_in_the_middle parts_without_end parts_without_content parts_of_half_a_megabyte',
    ...REASONS,
  ),
])
/** Where ten points in one request end in another way than a single one. */
const MANY = new Map<string, End>([['error_for_one', 'partly']])
/** The answer comes only after attempts that had none. */
const NEEDS_RETRIES = new Set(['slow', 'loss_of_5_percent', 'loss_of_half', 'reboot'])

function list(end: End, ...names: string[]): [string, End][] {
  return names.flatMap(some => some.split(' ')).map(name => [name, end])
}

const SINGLE: Batch = { size: 1, bytes: 100, multiple: false }

/** Waits for an answer as long as it takes, and not for long where none comes. */
function patienceFor(name: string, end: End): RetryPolicy {
  if (end === 'given_up') return { timeoutMs: 250, retries: 1 }
  return NEEDS_RETRIES.has(name) ? { timeoutMs: 250, retries: 12 } : patient
}

/** @throws whatever is no `DeviceError`, and when a value is taken that the device does not hold */
async function endOf(t: ExecutionContext, driver: FieldDriver<BacnetPoint>, instances: number[]): Promise<End> {
  try {
    const readings = await driver.read(inputs(...instances), never)
    t.deepEqual(readings.map(({ id }) => id).toSorted(), instances.map(i => `ai-${i}`).toSorted())
    const good = readings.filter(({ q }) => q === 'good')
    for (const { id, v } of good) t.is(v, heldBy(Number(id.slice('ai-'.length))))
    return good.length === 0 ? 'bad' : good.length < readings.length ? 'partly' : 'right'
  } catch (error) {
    if (error instanceof DeviceError) return 'given_up'
    throw error
  }
}

/** The device beside the faulty one: each of its reads is right while the other is asked. */
async function readNeighbour(t: ExecutionContext, transport: BacnetTransport): Promise<void> {
  const objects = range(20).map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => heldBy(instance) }))
  const device = await openBacnetDevice({ device_instance: 78, name: 'Neighbour', objects, host: '127.0.0.3' })
  t.teardown(() => device.close())
  const driver = new BacnetDriver(transport, device, patient, firstBatch(1476), () => 1_000)
  for (let i = 0; i < 10; i++) t.is(await endOf(t, driver, range(20)), 'right')
}

for (const [i, name] of MISBEHAVIOUR_NAMES.entries()) {
  test(`${name}: no crash, no wrong value, every read ends and the neighbour is on time`, async t => {
    const transport = await openTransport(t)
    const device = await openFaultyDevice(seeded(7), `127.0.4.${i + 1}`)
    t.teardown(() => device.close())
    const single = ENDS.get(name) ?? 'given_up'
    const many = MANY.get(name) ?? single
    const driver = (batch: Batch, retryPolicy: RetryPolicy) =>
      new BacnetDriver(transport, device, retryPolicy, batch, () => 1_000)
    await device.misbehave(name)
    const [foundMany, foundSingle] = await Promise.all([
      endOf(t, driver(firstBatch(1476), patienceFor(name, many)), range(10)),
      endOf(t, driver(SINGLE, patienceFor(name, single)), [42]),
      readNeighbour(t, transport),
    ])
    t.deepEqual({ many: foundMany, single: foundSingle }, { many, single })
    await device.misbehave(undefined)
    t.is(await endOf(t, driver(firstBatch(1476), patient), range(30).slice(20)), 'right')
  })
}

test('the list of misbehaviours is as long as it says', t => {
  t.true(MISBEHAVIOUR_NAMES.length > 100)
  for (const name of [...ENDS.keys(), ...MANY.keys(), ...NEEDS_RETRIES]) t.true(MISBEHAVIOUR_NAMES.includes(name), name)
})
