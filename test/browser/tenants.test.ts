/** The page of tenants through a browser, on a desk and on a phone. */
import anyTest, { type TestFn } from 'ava'
import { PASSWORDS } from '../support/sites/central-site.ts'
import { openTenantSite } from '../support/sites/tenant-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context = { chromium: await openChromium() }
})
test.after.always(t => t.context.chromium.close())

test('a tenant is added and limited, and the page is clean on a desk and a phone, by day and at night', async t => {
  const site = await openTenantSite(t)
  for (const [name, look] of looks('a desk in daylight', 'a phone at night', 'a desk at night', 'a phone in daylight')) {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url, look)
    await signIn(page, 'admin', PASSWORDS.admin, '/tenants')
    const id = name.replaceAll(' ', '-')
    await page.getByLabel('Tenant id').fill(id)
    await page.getByLabel('Name', { exact: true }).fill(`Customer of ${name}`)
    await page.getByRole('button', { name: 'Add tenant' }).click()
    await page.getByText(`Budget of ${id}`).click()
    await page.locator('details[open]').getByLabel('Series').fill('5000')
    await expectClean(t, page, name, 24)
    await page.getByRole('button', { name: 'Set budget' }).locator('visible=true').click()
    await page.getByText('of 5,000').last().waitFor()
    t.deepEqual(complaints, [])
    await close()
  }
})
