/** The page of discovery as an operator meets it: with script and without, on a desk and on a phone. */
import anyTest, { type TestFn } from 'ava'
import { PASSWORDS } from '../support/sites/box-central.ts'
import { type DiscoverySite, openDiscoverySite } from '../appliance/drivers/bacnet/discovery/site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { axeFindings, openPage, overflow, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: DiscoverySite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openDiscoverySite() }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

test.serial('a viewer has no way to it', async t => {
  const { box, chromium } = t.context
  const { page, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/faults')
  t.is(await page.getByRole('link', { name: 'Discover' }).count(), 0)
  t.is((await page.goto('/discover'))!.status(), 403)
})

test.serial('what is wrong with a form is said beside what was filled in', async t => {
  const { box, chromium } = t.context
  const { page, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/discover')
  await page.getByLabel('Lowest instance').fill('9')
  await page.getByLabel('Highest instance').fill('5')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('alert').getByText('the lowest instance 9 is above the highest 5').waitFor()
  t.is(await page.getByLabel('Lowest instance').inputValue(), '9')
})

test.serial('without script an operator calls, refreshes, looks at the preview and adds', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/discover')
  await page.getByText('Nothing is ever written to a device').waitFor()
  await page.getByLabel('Addresses').fill(`${box.addresses[1]!} 127.0.0.1:9`)
  await page.getByLabel('Seconds to wait').fill('1')
  await page.getByRole('button', { name: 'Start' }).click()
  const done = page.getByRole('heading', { name: 'Done' })
  for (const refresh = page.getByRole('link', { name: 'Refresh' }); ; await refresh.click()) {
    await done.or(refresh).first().waitFor()
    if (await done.isVisible()) break
  }
  await page.waitForLoadState()
  const unheard = page.locator('section', { has: page.getByRole('heading', { name: 'No answer' }) })
  t.deepEqual(
    (await unheard.getByRole('listitem').allInnerTexts()).map(text => text.trim()),
    ['127.0.0.1:9'],
  )
  t.true(await page.getByLabel('VAV-7 1002').isChecked())
  await page.getByRole('button', { name: 'Preview what would be added' }).click()
  await page.getByRole('heading', { name: 'Add 1 device with 10 new points?' }).waitFor()
  await page.getByText('VAV-7.Zone-0-Temp').first().waitFor()
  const only = page.getByLabel('Only points with one of these words')
  await only.fill('nothing like it')
  await page.getByRole('button', { name: 'Show these' }).click()
  await page.getByText('No new point has one of these words.').waitFor()
  await only.fill('zone -Zone-0-Temp')
  await page.getByRole('button', { name: 'Show these' }).click()
  await page.getByRole('heading', { name: 'Add 1 device with 7 new points?' }).waitFor()
  t.is(await page.getByText('VAV-7.Zone-0-Temp').count(), 0)
  await page.getByRole('button', { name: 'Add 1 device' }).click()
  await page.getByText('Added').first().waitFor()
  t.deepEqual(
    box.catalogue.current().devices.map(({ device_id, points }) => [device_id, points.length]),
    [['VAV-7', 7]],
  )
  t.deepEqual(complaints, [])
})

test.serial('with script the page follows a discovery to its end by itself', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/discover')
  await page.getByLabel('Addresses').fill(`${box.addresses.join(' ')} 127.0.0.1:9`)
  await page.getByLabel('Seconds to wait').fill('5')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('heading', { name: 'Running' }).waitFor()
  await page.getByText('"AHU-1": found, 30 points').waitFor({ state: 'attached' })
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('heading', { name: 'What answered' }).waitFor()
  await page.getByText('as in the list: VAV-7').waitFor()
  t.deepEqual(complaints, [])
})

for (const [name, look] of looks(
  'a desk in daylight',
  'a tablet at night',
  'a phone in daylight',
  'a phone at night',
  'forced colours',
)) {
  test.serial(`form, results and preview are clean through ${name}`, async t => {
    const { box, chromium } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent, '/discover')
    await page.getByRole('heading', { name: 'What answered' }).waitFor()
    const clean = async (what: string) => {
      await expectClean(t, page, what, 48)
    }
    await clean('results')
    await page.getByText('Networks and counts').click()
    await page.getByText(/^Log, /).click()
    await clean('opened')
    await page.getByRole('button', { name: 'Preview what would be added' }).click()
    await page.getByText('30 points').click()
    await clean('preview')
    t.deepEqual(complaints, [])
  })
}

test.serial('why it is empty stands open when nothing answered', async t => {
  const { box, chromium } = t.context
  const { page, close } = await openPage(chromium.browser, box.url, { viewport: { width: 390, height: 844 } })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/discover')
  await page.getByLabel('Addresses').fill('127.0.0.1:9')
  await page.getByLabel('Seconds to wait').fill('1')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('heading', { name: 'Why is it empty?' }).waitFor()
  await page.getByText('may be off, or listen on another UDP port').waitFor()
  t.deepEqual(await axeFindings(page), [])
  t.is(await overflow(page), 0)
})
