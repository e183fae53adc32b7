import anyTest, { type TestFn } from 'ava'
import { openAnalyticsSite } from '../pages/analytics-site.ts'
import { PASSWORDS, type TestSite } from '../pages/site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { axeFindings, openPage, overflow, signIn, smallControls } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; site: TestSite }>
test.before(async t => {
  t.context = {
    chromium: await openChromium(),
    site: await openAnalyticsSite({ house: 'appliance', screening: true }),
  }
})
test.after.always(async t => {
  await t.context.chromium?.close()
  await t.context.site?.close()
})

const PAGES = ['/analytics/operations', '/analytics/economizer', '/analytics/anomalies', '/analytics/anomalies?point=meter.kw']
const LOOKS = [
  { name: 'a desk in daylight', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: 'a desk at night', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  { name: 'a phone in daylight', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'a phone at night', viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  { name: 'forced colours', viewport: { width: 390, height: 844 }, colorScheme: 'dark', forcedColors: 'active' },
] as const

for (const { name, ...look } of LOOKS) {
  test.serial(`the pages of analytics are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.site.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer, '/faults')
    for (const path of PAGES) {
      await page.goto(path)
      for (const details of await page.locator('summary').all()) await details.click()
      t.deepEqual(await axeFindings(page), [], path)
      t.is(await overflow(page), 0, path)
      t.deepEqual(await smallControls(page, 48), [], path)
    }
    t.deepEqual(complaints, [])
  })
}

test.serial('without script the table is sorted by its heads and the days are chosen', async t => {
  const { page, close } = await openPage(t.context.chromium.browser, t.context.site.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/analytics')
  t.regex(page.url(), /\/analytics\/operations$/)
  const first = () => page.locator('td.what').first().innerText()
  t.regex(await first(), /^Air handler 1/)
  await page.getByRole('link', { name: 'In comfort' }).click()
  await page.waitForURL(/sort=comfort_share/)
  t.regex(await first(), /^(Gymnasium|Room 101)/)
  await page.getByLabel('From').fill('2025-11-02')
  await page.getByLabel('Through').fill('2025-11-02')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/from=2025-11-02/)
  t.regex(await page.locator('.lead').innerText(), /^Sun 2 Nov 2025 to Sun 2 Nov 2025/)
  await page.getByRole('link', { name: 'Economizer', exact: true }).click()
  t.regex(page.url(), /economizer\?building=school&from=2025-11-02&to=2025-11-02/)
})
