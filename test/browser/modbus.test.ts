import anyTest, { type TestFn } from 'ava'
import { modbusProtocol } from '../../appliance/drivers/modbus/protocol.ts'
import { modbusRoutes } from '#appliance/drivers/modbus/pages/registers.route.ts'
import type { DeviceEntry } from '../../appliance/store/catalogue-schema.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openModbusDevice, type SimRegister } from '#scripts/simulator/modbus/device.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const REGISTERS: SimRegister[] = [
  { table: 'holding', address: 100, kind: 'float32', value: () => 21.53, wordOrder: 'CDAB' },
  { table: 'holding', address: 102, kind: 'uint32', value: () => 3_000_000_123 },
  ...Array.from({ length: 20 }, (_, address): SimRegister => ({ table: 'coil', address, kind: 'bit', value: () => address % 2 })),
]

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite; close(): Promise<void> }>
test.before(async t => {
  const device = await openModbusDevice({ registers: REGISTERS })
  const modbus = modbusProtocol({ now: Date.now })
  const entry: DeviceEntry = {
    device_id: 'meter-1',
    name: 'Main electricity meter',
    enabled: true,
    protocol: 'modbus',
    modbus: { host: device.host, port: device.port, unit_id: 1 },
    points: [],
  }
  const sources = { catalogue: () => ({ devices: [entry] }), modbus }
  const box = await openSite({ product: 'appliance', more: layout => modbusRoutes(sources, layout) })
  const chromium = await openChromium()
  const close = async () => {
    await chromium.close()
    await box.close()
    await modbus.stop()
    await device.close()
  }
  t.context = { chromium, box, close }
})
test.after.always(t => t.context.close())

const PATHS = [
  '/modbus',
  '/modbus?device_id=meter-1&table=holding&address=100&count=4',
  '/modbus?device_id=meter-1&table=coil&address=0&count=20',
  '/modbus?device_id=meter-1&table=input&address=5&count=4',
]
for (const [name, look] of looks('a desk in daylight', 'a tablet in daylight', 'a phone in daylight', 'a phone at night')) {
  test.serial(`the page of Modbus registers is clean through ${name}`, async t => {
    const { box, chromium } = t.context
    const { page, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent)
    for (const path of PATHS) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
  })
}

test.serial('without script an operator reads registers and finds the order of a value', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/modbus')
  await page.getByLabel('First address').fill('100')
  await page.getByLabel('Number of registers or bits').fill('4')
  await page.getByRole('button', { name: 'Read' }).click()
  const floats = page.locator('section', { has: page.getByRole('heading', { name: 'float32' }) }).last()
  t.regex(await floats.innerText(), /CDAB\s+21\.53/)
  await page.getByRole('link', { name: '102' }).click()
  await page.getByRole('heading', { name: 'Values that begin at register 102' }).waitFor()
  await page.getByText('3000000123', { exact: true }).waitFor()
  t.deepEqual(complaints, [])
})
