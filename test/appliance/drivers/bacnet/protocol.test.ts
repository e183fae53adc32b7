/** How an entry of the catalogue becomes a driver: what the device is asked for, and what the entry says itself. */
import test from 'ava'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { held, inputs, never, range } from './harness.ts'
import { SILENT } from '../../../support/sites/catalogue-site.ts'

for (const [what, entry, maxApdu, requests] of [
  ['says nothing of its APDU is asked for it, and then in batches that fit', {}, 206, 1 + 4],
  ['says its APDU is taken at its word', { max_apdu: 206 }, 1476, 1 + 4],
  ['wants single values is asked for one at a time', { rpm_max: 1 }, 1476, 2 + 40],
] as const) {
  test(`a device whose entry ${what}`, async t => {
    const objects = range(40).map(instance => ({ type: 0, instance, name: `ai ${instance}`, value: () => held(instance) }))
    const device = await openBacnetDevice({ device_instance: 7, name: 'sim', objects, maxApdu })
    const bacnet = bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: () => 1_000, log: SILENT })
    t.teardown(async () => {
      await bacnet.stop()
      await device.close()
    })
    await bacnet.start()
    const { host, port } = device
    const listed: DeviceEntry = {
      ...{ device_id: 'd', name: 'D', enabled: true, protocol: 'bacnet', timeout_ms: 60_000, retries: 0, points: [] },
      bacnet: { device_instance: 7, host, port, ...entry },
    }
    const { driver } = bacnet.link(listed)
    const readings = await driver.read(inputs(...range(40)) as never, never)
    t.is(readings.filter(({ q }) => q === 'good').length, 40)
    t.is(device.requests(), requests)
  })
}
