/** A technician reads an object of a BACnet device now, from the list of its points. */
import test from 'ava'
import { propertyRoutes } from '#appliance/drivers/bacnet/pages/properties.route.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { SILENT } from '../../support/sites/catalogue-site.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(`the properties of a BACnet object are asked for and read through ${name}`, async t => {
    const device = await openBacnetDevice({
      device_instance: 1001,
      name: 'AHU-1',
      objects: [{ type: 1, instance: 4, name: 'CLG', value: () => 20, commands: { level: () => null, relinquishDefault: 20 } }],
    })
    t.teardown(() => device.close())
    const bacnet = bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT })
    const devices = [
      {
        ...{ device_id: 'ahu-1', name: 'Air handler 1 controller', enabled: true, protocol: 'bacnet' as const, points: [] },
        bacnet: { device_instance: 1001, host: device.host, port: device.port },
      },
    ]
    const box = await openSite({
      product: 'appliance',
      more: layout => propertyRoutes({ catalogue: () => ({ devices }), bacnet }, layout),
    })
    t.teardown(box.close)
    const chromium = await openChromium()
    t.teardown(() => chromium.close())
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent, '/bacnet')
    await page.getByLabel('Object').fill('AO-4')
    await page.getByRole('button', { name: 'Read' }).click()
    await page.getByRole('status').getByText('AO-4 @ dev 1001').waitFor()
    await page.waitForLoadState()
    t.is(await page.locator('tr', { hasText: 'priority-array' }).locator('li').count(), 16)
    t.true(await page.getByText('It does not have:').isVisible())
    await expectClean(t, page, 'the properties', 48)
    await page.getByLabel('Object').fill('sensor 3')
    await page.getByRole('button', { name: 'Read' }).click()
    await page.getByRole('alert').waitFor()
    await expectClean(t, page, 'a refusal', 48)
    t.is(await page.getByLabel('Object').inputValue(), 'sensor 3')
    t.deepEqual(
      complaints.filter(text => !text.includes('422')),
      [],
    )
  })
}
