/** Properties of a BACnet object on demand, by page and API, over real HTTP and a real socket. */
import test, { type ExecutionContext } from 'ava'
import { propertyRoutes } from '#appliance/drivers/bacnet/pages/properties.route.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { valueText } from '#appliance/drivers/bacnet/core/property-names.ts'
import { READ_PROPERTY } from '#appliance/drivers/bacnet/core/reply.ts'
import type { DeviceEntry } from '#appliance/store/catalogue-schema.ts'
import { openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { SILENT } from '../../../../support/sites/catalogue-site.ts'
import { openSite, PASSWORDS } from '../../../../support/sites/page-site.ts'
import { signedIn } from '../../../../support/signed-in.ts'

async function open(t: ExecutionContext) {
  const services = new Set<number>()
  const device = await openBacnetDevice({
    device_instance: 1001,
    name: 'AHU-1 <controller>',
    objects: [
      { type: 0, instance: 3, name: 'SAT', unit: 'degF', value: () => 55.25, faulty: () => true },
      {
        type: 1,
        instance: 4,
        name: 'CLG',
        value: () => 20,
        commands: { level: at => (at === 8 ? 40 : null), relinquishDefault: 0 },
      },
    ],
    ignores: request => {
      services.add(request[3]!)
      return false
    },
  })
  const bacnet = bacnetProtocol({ bind: { address: '127.0.0.1', port: 0 }, now: Date.now, log: SILENT })
  const entry = (device_id: string, port: number, more: Partial<DeviceEntry> = {}): DeviceEntry => ({
    ...{ device_id, name: `Controller ${device_id}`, enabled: true, protocol: 'bacnet', points: [] },
    bacnet: { device_instance: 1001, host: device.host, port },
    ...more,
  })
  const devices = [
    entry('ahu-1', device.port),
    entry('off', device.port, { enabled: false }),
    entry('dead', 9, { timeout_ms: 100, retries: 0 }),
  ]
  const site = await openSite({
    product: 'appliance',
    more: layout => propertyRoutes({ catalogue: () => ({ devices }), bacnet }, layout),
  })
  t.teardown(async () => {
    await site.close()
    await device.close()
  })
  const as = async (who: keyof typeof PASSWORDS) => (await signedIn(site.url, who, PASSWORDS[who])).get
  return { as, services, get: await as('agent') }
}

const words = (page: string) => page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
const ask = (query: Record<string, string>) => new URLSearchParams(query).toString()

test('the usual properties of an object are read with ReadProperty alone, and those that it lacks are named', async t => {
  const { get, services } = await open(t)
  const answer = await get(`/api/bacnet/properties?${ask({ device_id: 'ahu-1', object: 'analog-input,3' })}`)
  t.is(answer.status, 200)
  const { properties, absent, object } = (await answer.json()) as {
    object: string
    properties: { name: string; values: { type: string; text: string }[] }[]
    absent: string[]
  }
  t.is(object, 'analog-input,3')
  const text = (name: string) => properties.find(one => one.name === name)?.values.map(one => one.text)
  t.deepEqual(text('present-value'), ['55.25'])
  t.deepEqual(text('units'), ['64 (degrees-fahrenheit)'])
  t.deepEqual(text('status-flags'), ['0100 (fault)'])
  t.true(absent.includes('priority-array'))
  t.deepEqual([...services], [READ_PROPERTY])
})

test('the page shows what the device has, as text, and one property of any number alone', async t => {
  const { get } = await open(t)
  const page = words(await (await get(`/bacnet?${ask({ device_id: 'ahu-1', object: 'analog-output,4' })}`)).text())
  t.regex(page, /present-value 85 20/)
  t.regex(page, /values of AO-4 @ dev \d+ of Controller ahu-1 , read/)
  const one = await get(`/bacnet?${ask({ device_id: 'ahu-1', object: 'analog-output,4', property: 'priority-array' })}`)
  const levels = [...(await one.text()).matchAll(/<li>([^<]*)<\/li>/g)].map(([, level]) => level).slice(-16)
  t.is(levels[7], '40')
  t.is(levels[0], 'null')
  const device = await (await get(`/bacnet?${ask({ device_id: 'ahu-1', object: 'device,1001', property: '77' })}`)).text()
  t.regex(device, /AHU-1 &lt;controller&gt;/)
})

for (const [what, query, status, said] of [
  ['an unknown device', { device_id: 'off', object: 'analog-input,3' }, 404, /no enabled BACnet device/],
  ['a text that is no object', { device_id: 'ahu-1', object: 'sensor 3' }, 422, /An object is a type/],
  [
    'a text that is no property',
    { device_id: 'ahu-1', object: 'analog-input,3', property: 'colour' },
    422,
    /A property is a name/,
  ],
  [
    'an object that the device lacks',
    { device_id: 'ahu-1', object: 'analog-input,99' },
    502,
    /The device has no analog-input,99/,
  ],
  ['a device that does not answer', { device_id: 'dead', object: 'analog-input,3' }, 502, /no answer|timeout|silent/i],
] as const) {
  test(`${what} is said, by page and API`, async t => {
    const { get } = await open(t)
    const answer = await get(`/api/bacnet/properties?${ask(query)}`)
    t.is(answer.status, status)
    t.regex(await answer.text(), said)
    const page = await get(`/bacnet?${ask(query)}`)
    t.is(page.status, status)
    t.regex(await page.text(), said)
  })
}

test('a viewer may not ask a device', async t => {
  const { as } = await open(t)
  const get = await as('viewer')
  t.is((await get(`/api/bacnet/properties?${ask({ device_id: 'ahu-1', object: 'analog-input,3' })}`)).status, 403)
  t.is((await get('/bacnet')).status, 403)
})

for (const [property, value, text] of [
  [103, { type: 'enumerated', value: 0 }, '0 (no-fault-detected)'],
  [103, { type: 'enumerated', value: 64 }, '64'],
  [9999, { type: 'enumerated', value: 1 }, '1'],
  [111, { type: 'bits', value: [false, false, false, false] }, '0000'],
  [371, { type: 'bits', value: [true, false] }, '10'],
  [1, { type: 'octets', value: Uint8Array.of(10, 255) }, '0aff'],
  [1, { type: 'object', object: { type: 0, instance: 3 } }, 'analog-input,3'],
  [85, { type: 'null' }, 'null'],
  [85, { type: 'unsigned', value: 2n ** 63n }, '9223372036854775808'],
] as const) {
  test(`property ${property} as ${value.type} reads ${text}`, t => {
    t.is(valueText(property, value as Parameters<typeof valueText>[1]), text)
  })
}
