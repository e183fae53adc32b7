import anyTest, { type TestFn } from 'ava'
import { openAnalyticsSite } from '../shared/central/pages/analytics-site.ts'
import { PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; site: TestSite }>
test.before(async t => {
  t.context = {
    chromium: await openChromium(),
    site: await openAnalyticsSite({ product: 'appliance', screening: true }),
  }
})
test.after.always(async t => {
  await t.context.chromium?.close()
  await t.context.site?.close()
})

const PAGES = ['/analytics/operations', '/analytics/economizer', '/analytics/anomalies', '/analytics/anomalies?point=meter.kw']

for (const [name, look] of looks(
  'a desk in daylight',
  'a desk at night',
  'a phone in daylight',
  'a phone at night',
  'forced colours',
)) {
  test.serial(`the pages of analytics are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.site.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer, '/faults')
    for (const path of PAGES) {
      await page.goto(path)
      for (const details of await page.locator('summary').all()) await details.click()
      await expectClean(t, page, path, 48)
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
  await page.waitForURL(/economizer\?building=school&from=2025-11-02&to=2025-11-02/)
  t.pass()
})
