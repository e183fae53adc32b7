/** The pages of field devices through a browser, with real polling behind them. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { PASSWORDS } from '../support/sites/box-central.ts'
import { type DevicesSite, edeOf, openDevicesSite, STATE_TEXTS } from '../support/sites/devices-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context.chromium = await openChromium()
})
test.after.always(t => t.context.chromium.close())

async function open(t: ExecutionContext<{ chromium: OpenBrowser }>, look: BrowserContextOptions = {}) {
  const site = await openDevicesSite()
  t.teardown(site.close)
  const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url, look)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/devices')
  return { site, page, complaints }
}

async function choose(page: Page, site: DevicesSite): Promise<void> {
  const files = { 'school_EDE.csv': edeOf(site.air.port), 'school_StateTexts.csv': STATE_TEXTS }
  const parts = Object.entries(files).map(([name, text]) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) }))
  await page.getByLabel('Files').setInputFiles(parts)
  await page.getByRole('button', { name: 'Show the preview' }).click()
  await page.getByRole('heading', { name: 'Preview of the import' }).waitFor()
  await page.waitForLoadState()
}

test.serial('without script a list of points is looked at, mended, imported, and a device switched off and removed', async t => {
  const { site, page, complaints } = await open(t, { javaScriptEnabled: false })
  await choose(page, site)
  t.true(await page.getByText('2 points would be added to 1 new device; 1 device has no address; 2 places refused.').isVisible())
  t.is(site.catalogue.current().devices.length, 0)
  await page.getByLabel('Address of device 1002').fill('10.0.0')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Device 1002: "10.0.0" is not written like').waitFor()
  t.is(site.catalogue.current().devices.length, 0)
  await page.getByLabel('Address of device 1002').fill('')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { name: 'Imported' }).waitFor()
  t.deepEqual(
    site.catalogue.current().devices.map(({ device_id }) => device_id),
    ['AHU-1'],
  )

  await page.getByRole('link', { name: 'Back to the devices' }).click()
  await page.getByRole('link', { name: 'AHU-1' }).click()
  for (let tries = 0; tries < 300 && !(await page.getByText('55.5 °F').isVisible()); tries++) {
    await new Promise(resolve => setTimeout(resolve, 100))
    await page.getByRole('link', { name: 'Refresh' }).click()
  }
  t.true(await page.getByText('55.5 °F').isVisible())
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByRole('button', { name: 'Switch on' }).waitFor()
  t.is(site.pollStatus().devices[0]!.state, 'disabled')
  await page.getByLabel('Yes, remove AHU-1').check()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No device is on the list yet').waitFor()
  t.deepEqual(site.catalogue.current(), { devices: [] })
  t.deepEqual(complaints, [])
})

test.serial('a name, an address and a point are corrected, and what is wrong is told', async t => {
  const { site, page, complaints } = await open(t, { javaScriptEnabled: false })
  await choose(page, site)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { name: 'Imported' }).waitFor()
  await page.goto('/devices/AHU-1')
  const device = () => site.catalogue.current().devices[0]!
  await page.getByText('Name and address').click()
  await page.getByLabel('Name', { exact: true }).fill('Air handler')
  await page.getByLabel('Address', { exact: true }).fill(`127.0.0.1:${site.air.port} network 7 mac 0A`)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { name: 'Air handler' }).waitFor()
  t.like(device(), { name: 'Air handler', bacnet: { host: '127.0.0.1', port: site.air.port, network: 7, mac: '0a' } })

  await page.getByText('Name, unit or period of a point').click()
  await page.locator('select[name=unit]').selectOption('degC')
  await page.getByLabel('Seconds between reads').fill('30')
  await page.getByRole('button', { name: 'Save the point' }).click()
  await page.getByText('every 30 s', { exact: true }).waitFor()
  t.like(device().points[0], { name: 'Supply air', unit: 'degC', poll_secs: 30 })

  await page.getByText('Name and address').click()
  await page.getByLabel('Address', { exact: true }).fill('nowhere')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('"nowhere" is not written like').waitFor()
  t.is(device().bacnet!.host, '127.0.0.1')
  t.deepEqual(
    complaints.filter(text => !text.includes('422')),
    [],
  )
})

test.serial('how a device is asked is chosen on its page, has bounds, and goes back to what counts without a choice', async t => {
  const { site, page, complaints } = await open(t, { javaScriptEnabled: false })
  await choose(page, site)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { name: 'Imported' }).waitFor()
  const ask = async (figures: Record<string, string>) => {
    await page.goto('/devices/AHU-1')
    await page.getByText('How it is asked', { exact: true }).click()
    for (const [label, figure] of Object.entries(figures)) await page.getByLabel(label).fill(figure)
    await page.getByRole('button', { name: 'Save how it is asked' }).click()
  }
  const device = () => site.catalogue.current().devices[0]!
  const before = device()
  const labels = ['Wait for an answer, ms', 'Further attempts', 'Requests at a time', 'Most points in a request']
  const chosen = ['8000', '1', '2', '5']
  await ask(Object.fromEntries(labels.map((label, i) => [label, chosen[i]!])))
  await page.getByRole('heading', { name: 'AHU-1' }).waitFor()
  t.like(device(), { timeout_ms: 8000, retries: 1, concurrency: 2, bacnet: { rpm_max: 5 } })
  for (const [i, label] of labels.entries()) t.is(await page.getByLabel(label).inputValue(), chosen[i]!)

  await ask({ 'Further attempts': '99' })
  await page.getByText('/retries').first().waitFor()
  await ask({ 'Further attempts': 'two' })
  await page.getByText('/retries').first().waitFor()
  t.is(device().retries, 1)

  await ask(Object.fromEntries(labels.map(label => [label, ''])))
  await page.getByRole('heading', { name: 'AHU-1' }).waitFor()
  const { timeout_ms: _waits, retries: _tries, concurrency: _atOnce, ...rest } = before
  t.deepEqual(device(), rest)
  t.deepEqual(
    complaints.filter(text => !text.includes('422')),
    [],
  )
})

test.serial('what was typed when the session ended stays on the page, and is sent after the password', async t => {
  const { site, page, complaints } = await open(t)
  await choose(page, site)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { name: 'Imported' }).waitFor()
  await page.clock.install()
  await page.goto('/devices/AHU-1')
  await page.getByText('Name and address').click()
  await page.getByLabel('Name', { exact: true }).fill('Air handler "1"')
  await page.context().clearCookies()
  await page.clock.runFor(31_000)
  await page.getByText('What you typed stays').waitFor()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Your session has ended').waitFor()
  await page.getByText('Air handler "1"').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('agent')
  await page.getByLabel('Password').fill(PASSWORDS.agent)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expectClean(t, page, 'before it is sent', 44)
  await page.getByRole('button', { name: 'Send it now' }).click()
  await page.getByRole('heading', { name: 'Air handler "1"' }).waitFor()
  t.is(site.catalogue.current().devices[0]!.name, 'Air handler "1"')
  t.deepEqual(
    complaints.filter(text => !text.includes('401')),
    [],
  )
})

for (const [name, look] of looks(
  'a desk in daylight',
  'a tablet at night',
  'a phone in daylight',
  'a phone at night',
  'forced colours',
)) {
  test.serial(`the pages of devices are clean through ${name}`, async t => {
    const { site, page, complaints } = await open(t, look)
    const check = async (what: string) => {
      await expectClean(t, page, what, 24)
    }
    await check('an empty list')
    await choose(page, site)
    for (const summary of await page.locator('summary').all()) await summary.click()
    await check('a preview')
    await page.getByLabel('Address of device 1002').fill('127.0.0.1:9')
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('heading', { name: 'Imported' }).waitFor()
    await check('an import')
    for (const path of ['/devices', '/devices?state=fault', '/devices/AHU-1', '/devices/Boiler-2']) {
      await page.goto(path)
      for (const summary of await page.locator('summary').all()) await summary.click()
      await check(path)
    }
    t.deepEqual(complaints, [])
  })
}

test.serial('a viewer sees everything and is told why nothing can be changed', async t => {
  const { site, page } = await open(t)
  await choose(page, site)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.goto('/devices/AHU-1')
  const read = page.locator('td.address a').first()
  t.regex((await read.getAttribute('href'))!, /^\/bacnet\?device_id=AHU-1&object=[a-z-]+%2C\d+$/)
  await page.locator('details.session summary').click()
  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await signIn(page, 'viewer', PASSWORDS.viewer, '/devices/AHU-1')
  t.is(await read.count(), 0, 'a viewer asks no device')
  for (const name of ['Switch off', 'Remove']) {
    t.true(await page.getByRole('button', { name }).isDisabled())
  }
  t.true(await page.getByText('Needs the operator role').last().isVisible())
  await page.goto('/devices')
  t.true(await page.getByRole('button', { name: 'Show the preview' }).isDisabled())
})
