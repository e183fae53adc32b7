/** A browser that asks for German, from the login to a fault, and a person who prefers English. */
import test from 'ava'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { axeFindings, openPage, overflow } from '../watch.ts'

const PHONE = { viewport: { width: 390, height: 844 }, locale: 'de-DE' } as const

test.serial('a German browser gets login, home and a fault in German, and a choice of English counts more', async t => {
  const site = await openSite({ product: 'appliance', api: true })
  t.teardown(site.close)
  const chromium = await openChromium()
  t.teardown(() => chromium.close())
  const { page, complaints, close } = await openPage(chromium.browser, site.url, PHONE)
  t.teardown(close)
  const clean = async (where: string) => {
    t.deepEqual(await axeFindings(page), [], where)
    t.is(await overflow(page), 0, where)
    t.is(await page.locator('html').getAttribute('lang'), 'de', where)
  }

  await page.goto('/')
  await clean('login')
  await page.getByLabel('Name').fill('viewer')
  await page.getByLabel('Kennwort').fill(PASSWORDS.viewer)
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await page.getByRole('link', { name: 'Störungen', exact: true }).first().waitFor()
  await page.getByRole('link', { name: 'Anlagen', exact: true }).waitFor()
  await clean('home')
  await page.goto('/faults/f-cooling')
  await page.getByRole('heading', { name: 'Wahrscheinliche Ursache' }).waitFor()
  await page.getByText('Kühlventil', { exact: true }).first().waitFor()
  await clean('fault')

  await page.goto('/preferences')
  await page.getByLabel('Sprache').selectOption('en')
  await page.getByRole('button', { name: 'Speichern' }).click()
  await page.getByRole('heading', { name: 'Language and units' }).waitFor()
  t.is(await page.locator('html').getAttribute('lang'), 'en')
  t.deepEqual(complaints, [])
})
