/** A table of a building system goes from upload to import with its columns mapped by hand. */
import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openSite, PASSWORDS, type TestSite } from '../../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; hub: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), hub: await openSite({ product: 'hub', api: true }) }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.hub.close()
})

const LINES = Array.from({ length: 24 }, (_, i) => `5/7/2026,${String(i).padStart(2, '0')}:00,${60 + i / 10},On,${300 + i}`)
const EXPORT = ['Date,Time,AHU-1 SupplyAirTemp,AHU-1 SF-S,VAV-3 <i>Flow</i>', ...LINES, ''].join('\n')

async function stage(page: Page, building: string): Promise<void> {
  await page.goto('/import')
  await page.getByLabel('CSV file').setInputFiles({ name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(EXPORT) })
  await page.getByLabel('Building id').fill(building)
  await page.getByLabel('Time zone').fill('America/Chicago')
  await page.getByLabel('Minutes between rows').fill('60')
  await page.getByLabel('Equipment of its columns').fill('AHU-1')
  await page.getByRole('button', { name: 'Check the table' }).click()
  await page.getByRole('link', { name: 'Say what the columns are' }).click()
}

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`upload, report and mapping are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.hub.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent, '/import')
    await expectClean(t, page, 'import', 24)
    await stage(page, 'looks')
    await expectClean(t, page, 'mapping', 24)
    await page.getByLabel('Role of AHU-1 SF-S').fill('nonsense')
    await page.getByRole('button', { name: 'Check the table again' }).click()
    await page.getByRole('alert').waitFor()
    await expectClean(t, page, 'refused', 24)
    await page.getByRole('link', { name: 'Report' }).click()
    await expectClean(t, page, 'report', 24)
    t.deepEqual(
      complaints.filter(text => !text.includes('422')),
      [],
    )
  })
}

test.serial('without script a person maps time, equipment, roles and units, and imports', async t => {
  const { chromium, hub } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, hub.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/import')
  await stage(page, 'lakeside')
  t.regex(await page.locator('tbody tr').nth(2).innerText(), /60 · 60\.1/)
  await page.getByLabel('Time of day in a column of its own').selectOption('Time')
  await page.getByLabel('Order of day and month').selectOption('mdy')
  await page.getByLabel('Equipment of VAV-3 <i>Flow</i>').fill('VAV-3')
  await page.getByRole('group', { name: 'Another equipment' }).getByLabel('Id').fill('VAV-3')
  await page.getByRole('group', { name: 'Another equipment' }).getByLabel('Type').selectOption('vav')
  await page.getByLabel('Unit of VAV-3 <i>Flow</i>').fill('cfm')
  await page.getByRole('button', { name: /Check again with \d likely role/ }).click()
  await page.getByText('It can be imported into the building').waitFor()
  await page.getByRole('link', { name: 'Say what the columns are' }).click()
  t.is(await page.getByLabel('Role of AHU-1 SupplyAirTemp').inputValue(), 'sa_t')
  t.regex(await page.getByText('First time:').innerText(), /5\/7\/2026 00:00, read as 2026-05-07 00:00:00 America\/Chicago/)
  await page.getByLabel('Unit of AHU-1 SupplyAirTemp').fill('degF')
  await page.getByRole('button', { name: 'Check the table again' }).click()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Imported' }).waitFor()
  const points = hub.stores.model.points('lakeside').map(({ equipment_id, role, unit }) => `${equipment_id} ${role} ${unit}`)
  t.deepEqual(points, ['AHU-1 fan_status bool', 'AHU-1 sa_t degF', 'VAV-3 undefined cfm'])
  t.deepEqual(complaints, [])
})
