/** Devices that misbehave in one way and then in another: what is left of the one must not become a value in the other. */
import test from 'ava'
import { firstBatch } from '#appliance/drivers/bacnet/core/batch.ts'
import { DeviceError } from '#shared/core/poll/device.ts'
import { BacnetDriver } from '#appliance/drivers/bacnet/driver.ts'
import { MISBEHAVIOUR_NAMES, openFaultyDevice } from '#scripts/simulator/faulty/bacnet.ts'
import { heldBy } from '#scripts/simulator/faulty/exchange.ts'
import { inputs, never, openTransport, patient, range } from './harness.ts'
import { seeded } from '../../../support/wire.ts'

const DEVICES = 8
/** Few enough that an address does not run out of invoke ids: those of cancelled requests are unused for half a minute. */
const CHANGES = 12
const HASTY = { timeoutMs: 120, retries: 1 }

test('devices that change their misbehaviour give no wrong value, and are read rightly in the end', async t => {
  const transport = await openTransport(t)
  const random = seeded(41)
  const below = (count: number) => Math.floor(random() * count)
  let [good, readings, givenUp] = [0, 0, 0]

  const readOne = async (k: number) => {
    const device = await openFaultyDevice(random, `127.0.5.${k + 1}`)
    t.teardown(() => device.close())
    const driver = new BacnetDriver(transport, device, HASTY, firstBatch(1476), () => 1_000)
    const read = async (instances: number[]) => {
      try {
        const found = await driver.read(inputs(...instances), never)
        readings += found.length
        for (const { id, v, q } of found) {
          if (q !== 'good') continue
          good++
          t.is(v, heldBy(Number(id.slice('ai-'.length))))
        }
      } catch (error) {
        t.true(error instanceof DeviceError, String(error))
        givenUp++
      }
    }
    for (let i = 0; i < CHANGES; i++) {
      await device.misbehave(MISBEHAVIOUR_NAMES[below(MISBEHAVIOUR_NAMES.length)])
      const first = below(80)
      await read(range(1 + below(6)).map(n => first + n))
    }
    await device.misbehave(undefined)
    const last = new BacnetDriver(transport, device, patient, firstBatch(1476), () => 1_000)
    const values = (await last.read(inputs(...range(30)), never)).map(({ v }) => v)
    t.deepEqual(values, range(30).map(heldBy))
  }

  await Promise.all(range(DEVICES).map(readOne))
  t.log({ readings, good, givenUp })
  t.true(good > 0 && givenUp > 0)
})
