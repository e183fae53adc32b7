/** What faults cost, through a browser: clean on every screen, and from an empty form to a figure. */
import anyTest, { type TestFn } from 'ava'
import { openCostSite } from '../shared/central/pages/cost-fixture.ts'
import { PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; site: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), site: await openCostSite() }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.site.close()
})

test.serial('from a fault that is not priced to money', async t => {
  const { site, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, site.url)
  t.teardown(close)
  await page.goto('/login')
  await signIn(page, 'agent', PASSWORDS.agent)
  for (const [value, unit] of [
    ['8476', 'cfm'],
    ['4', '1'],
  ] as const) {
    await page.goto('/faults/f-cooling')
    await page.getByRole('link', { name: 'Enter or review it' }).first().click()
    await page.getByLabel('Value').fill(value)
    await page.locator('select[name=unit_code]').selectOption(unit)
    await page.getByLabel('Source').fill('balancing report')
    await page.getByRole('button', { name: 'Enter' }).click()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('button', { name: 'Open again' }).first().waitFor()
  }
  await page.goto('/faults/f-cooling')
  await page.getByRole('link', { name: 'Set it' }).click()
  await page.getByLabel('Currency').fill('USD')
  await page.getByLabel('electricity, per kWh').fill('0.25')
  await page.getByRole('button', { name: 'Set the prices' }).click()
  await page.goto('/faults/f-cooling')
  await page.getByText('About 3.6 USD').waitFor()
  t.deepEqual(complaints, [])
})

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`quantities and costs are clean through ${name}`, async t => {
    const { site, chromium } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, site.url, look)
    t.teardown(close)
    await page.goto('/login')
    await signIn(page, 'agent', PASSWORDS.agent)
    for (const path of ['/quantities', '/quantities?quantity=none&equipment=ahu-1', '/faults/f-cooling', '/faults?sort=cost']) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    t.deepEqual(complaints, [])
  })
}
