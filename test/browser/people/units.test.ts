/** A person chooses °F in a building of SI units, and reads and types it from then on. */
import anyTest, { type TestFn } from 'ava'
import { BUILDING } from '../../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  const building = { ...BUILDING, unit_system: 'si' as const }
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance', api: true, building }) }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

const FAULT = '/faults/f-cooling'
const TRENDS = '/trends?building=school&points=ahu-1.sa_t,ahu-1.ma_t'
const RULE = '/params/AHU-SUPPLY-WARM?equipment=ahu-1'

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`units are chosen, and shown on every page and plot, through ${name}`, async t => {
    const { chromium, box } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    const choose = async (label: string) => {
      await page.locator('details.session summary').click()
      await page.getByRole('link', { name: 'Language and units' }).click()
      await expectClean(t, page, 'the page of units', 48)
      await page.getByLabel('Units').selectOption({ label })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('status').getByText('Your choice is saved').waitFor()
      await expectClean(t, page, 'the page of units after the choice', 48)
    }
    /** What the plot says at its middle. */
    const crosshair = async () => {
      const over = page.locator('#trends .u-over')
      await over.waitFor()
      await over.hover()
      await page
        .locator('#trends .u-legend')
        .getByText(/\d °[CF]/)
        .first()
        .waitFor()
      return page.locator('#trends .u-legend').innerText()
    }
    await signIn(page, 'agent', PASSWORDS.agent, FAULT)
    await page.getByText('4.1 K above its set point of 12.8 °C').waitFor()
    await choose('°F, in. w.c., cfm')
    await page.goto(FAULT)
    await page.getByText('7.4 °F above its set point of 55.0 °F').waitFor()
    t.regex(await crosshair(), /\d °F/)
    await page.goto(TRENDS)
    t.regex(await crosshair(), /(6\d|7\d)\.\d °F/)
    await choose('those of each building')
    await page.goto(TRENDS)
    t.regex(await crosshair(), /(1\d|2\d)\.\d °C/)
    t.deepEqual(complaints, [])
  })
}

test.serial('without script a threshold is typed in °F, and stored in the unit of the rule', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/preferences')
  await page.getByLabel('Units').selectOption('us')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.goto(RULE)
  const card = page.locator('#param-tolerance')
  await card.getByText('Try or set another value').click()
  await card.getByLabel('Value (°F)').fill('4.5')
  await card.getByRole('button', { name: 'Save' }).click()
  await page.locator('#set').getByText('2.5 K (4.5 °F)').waitFor()
  t.like(box.context.paramSettings.list()[0], { value: 2.5, unit: 'K' })
  await page.goto('/preferences')
  await page.getByLabel('Units').selectOption('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.goto(RULE)
  await page.locator('#set').getByText('2.5 K', { exact: true }).waitFor()
  await card.getByText('Try or set another value').click()
  await card.getByLabel('Value (K)').waitFor()
  t.deepEqual(complaints, [])
})
