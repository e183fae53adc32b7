/** What every field driver must do, whatever its protocol. Each driver's test calls this with a device of its kind. */
import type { ExecutionContext, TestFn } from 'ava'
import { DeviceError, type FieldDriver, RTTS_MAX } from '#shared/core/poll/device.ts'

type DriverUnderTest<Address> = {
  driver: FieldDriver<Address>
  /** Points `p0`, `p1`, `p2` that read 10, 11 and 12, and `missing`, which the device does not have. */
  address(point_id: 'p0' | 'p1' | 'p2' | 'missing'): Address
  /** From now on the device answers nothing. */
  silence(): void
  /** What the driver's clock shows. */
  now: number
}

export function driverConformance<Address>(
  test: TestFn,
  name: string,
  open: (t: ExecutionContext) => Promise<DriverUnderTest<Address>>,
): void {
  const never = new AbortController().signal

  test(`${name}: gives one reading for each point, stamped with the clock`, async t => {
    const { driver, address, now } = await open(t)
    const ids = ['p2', 'p0', 'p1'] as const
    const readings = await driver.read(
      ids.map(point_id => ({ point_id, address: address(point_id) })),
      never,
    )
    t.deepEqual(
      readings.toSorted((a, b) => a.id.localeCompare(b.id)),
      [10, 11, 12].map((v, i) => ({ id: `p${i}`, t: now, v, q: 'good' as const })),
    )
  })

  test(`${name}: a point that the device does not have is bad, the others are good`, async t => {
    const { driver, address } = await open(t)
    const ids = ['p0', 'missing', 'p2'] as const
    const readings = await driver.read(
      ids.map(point_id => ({ point_id, address: address(point_id) })),
      never,
    )
    const byId = Object.fromEntries(readings.map(({ id, v, q }) => [id, [v, q]]))
    t.deepEqual(byId, { p0: [10, 'good'], missing: [null, 'bad'], p2: [12, 'good'] })
    t.truthy(driver.report().point_error)
  })

  test(`${name}: nothing asked is nothing answered`, async t => {
    const { driver } = await open(t)
    t.deepEqual(await driver.read([], never), [])
  })

  test(`${name}: a device that answers nothing is a DeviceError, also for reads that wait behind`, async t => {
    const { driver, address, silence } = await open(t)
    silence()
    const reads = [1, 2].map(() => driver.read([{ point_id: 'p0', address: address('p0') }], never))
    for (const read of reads) {
      const error = await t.throwsAsync(read, { instanceOf: DeviceError })
      t.is((error as DeviceError).kind, 'silent')
    }
  })

  test(`${name}: reads at once are each answered with their own values`, async t => {
    const { driver, address } = await open(t)
    const ids = Array.from({ length: 30 }, (_, i) => `p${i % 3}` as 'p0')
    const reads = await Promise.all(ids.map(point_id => driver.read([{ point_id, address: address(point_id) }], never)))
    t.deepEqual(
      reads.map(([reading]) => [reading?.id, reading?.v]),
      ids.map((id, i) => [id, 10 + (i % 3)]),
    )
    await driver.close()
  })

  test(`${name}: the report counts the bytes of each read, both ways`, async t => {
    const { driver, address } = await open(t)
    const counted = () => ({ ...driver.report().traffic! })
    t.deepEqual(counted(), { sent_bytes: 0, received_bytes: 0 })
    for (let n = 0; n < 3; n++) {
      const before = counted()
      await driver.read([{ point_id: 'p0', address: address('p0') }], never)
      // A protocol may count an answer when its socket is free again.
      while (counted().received_bytes === before.received_bytes) await new Promise(resolve => setImmediate(resolve))
      t.true(counted().sent_bytes > before.sent_bytes)
    }
    await driver.close()
  })

  test(`${name}: the report holds the round trips of the latest requests, and no more of them however many there were`, async t => {
    const { driver, address } = await open(t)
    const items = [{ point_id: 'p0', address: address('p0') }]
    await driver.read(items, never)
    t.true(driver.report().rtts.length > 0)
    for (let n = 0; n < RTTS_MAX + 5; n++) await driver.read(items, never)
    const { rtts } = driver.report()
    t.is(rtts.length, RTTS_MAX)
    t.true(rtts.every(ms => ms >= 0 && ms < 60_000))
    await driver.close()
  })
}
