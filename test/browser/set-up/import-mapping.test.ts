/** A table of a building system goes from upload to import with its columns mapped by hand. */
import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { zipOf } from '../../support/packages/packages.ts'
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

/** Three tables of a building system; the last is none of a building. */
const TABLES = {
  'north/air-handler.csv': ['Time,SupplyAirTemp,SF-S', ...[0, 1, 2, 3].map(i => `2026-05-07T0${i}:00:00Z,${60 + i},On`), ''].join(
    '\n',
  ),
  'north/box 3.csv': ['Time,Flow', ...[0, 1, 2, 3].map(i => `2026-05-07T0${i}:00:00Z,${300 + i}`), ''].join('\n'),
  'notes.csv': 'What,Who\nfilter changed,me\n',
}

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(
    `a ZIP of several tables goes table by table through the mapping and into the building through ${name}`,
    async t => {
      const { chromium, hub } = t.context
      const building = `zip-${look.viewport.width}`
      const { page, complaints, close } = await openPage(chromium.browser, hub.url, look)
      t.teardown(close)
      await signIn(page, 'agent', PASSWORDS.agent, '/import')
      const buffer = await zipOf(TABLES)
      await page.getByLabel('Package').setInputFiles({ name: 'export.zip', mimeType: 'application/zip', buffer })
      await page.getByRole('button', { name: 'Check the package' }).click()
      await page.getByRole('link', { name: 'Say what the columns are' }).click()
      await page.getByRole('heading', { name: '3 tables' }).waitFor()
      await expectClean(t, page, 'the first table', 24)
      const shown = (path: string) => page.locator('strong[aria-current=true]', { hasText: path })
      await shown('north/air-handler.csv').waitFor()
      await page.getByLabel('Building id').fill(building)
      await page.getByLabel('Time zone').fill('America/Chicago')
      await page.getByLabel('Minutes between rows').fill('60')
      await map(page, 'AHU-1', 'ahu', [
        ['SupplyAirTemp', 'sa_t', 'degF'],
        ['SF-S', 'fan_status', ''],
      ])
      await shown('box 3.csv').waitFor()
      t.is(await page.getByLabel('Building id').inputValue(), building)
      await map(page, 'VAV-3', 'vav', [['Flow', 'zone_flow', 'cfm']])
      await shown('notes.csv').waitFor()
      await expectClean(t, page, 'the last table', 24)
      await page.getByText('Leave notes.csv out').click()
      await page.getByRole('button', { name: 'Leave this table out' }).click()
      await page.getByRole('button', { name: 'Import', exact: true }).click()
      await page.getByRole('heading', { level: 1, name: 'Imported' }).waitFor()
      await expectClean(t, page, 'imported', 24)
      const points = hub.stores.model.points(building).map(({ equipment_id, role, unit }) => `${equipment_id} ${role} ${unit}`)
      t.deepEqual(points.toSorted(), ['AHU-1 fan_status bool', 'AHU-1 sa_t degF', 'VAV-3 zone_flow cfm'])
      t.deepEqual(complaints, [])
    },
  )
}

/** Gives every column of the table its equipment, role and unit, and has it checked again. */
async function map(page: Page, equipment_id: string, type: string, columns: [string, string, string][]): Promise<void> {
  const another = page.getByRole('group', { name: 'Another equipment' })
  await another.getByLabel('Id').fill(equipment_id)
  await another.getByLabel('Type').selectOption(type)
  for (const [header, role, unit] of columns) {
    await page.getByLabel(`Equipment of ${header}`).fill(equipment_id)
    await page.getByLabel(`Role of ${header}`).fill(role)
    await page.getByLabel(`Unit of ${header}`).fill(unit)
  }
  await page.getByRole('button', { name: 'Check the table again' }).click()
}
