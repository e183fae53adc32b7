import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { NOW } from '../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
/** As discovery adds them: names and units, neither equipment nor role. The last one is measured in °F and says °C. */
const FOUND = [
  ['p1', 'AHU-7 SupplyAirTemp', 'degF', 'number', 55],
  ['p2', 'AHU-7 CLG-O', 'percent', 'number', 40],
  ['p3', 'AHU-7 SF-S', 'bool', 'bool', 1],
  ['p4', 'AHU-7 <b>ReturnAirTemp</b>', 'degC', 'number', 74],
] as const

test.before(async t => {
  t.context = {
    chromium: await openChromium(),
    box: await openSite({ product: 'appliance', api: true, equipment: [], points: [], findings: [], empty: true }),
  }
  const { model, historian, health } = t.context.box.context
  health.checks['poll'] = () => ({ status: 'ok', points_ok: 4, points_stale: 0, points_down: 0, points_fault: 0 })
  const source = { protocol: 'csv', address: 'table.csv' } as const
  model.put({
    points: FOUND.map(([point_id, name, unit, kind]) => ({ point_id, building_id: 'school', name, unit, kind, source })),
  })
  for (const [id, , , , v] of FOUND) {
    const readings = Array.from({ length: 60 }, (_, i) => ({ id, t: NOW - HOUR + i * MINUTE, v }))
    await historian.append('school', readings)
  }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

async function openAs(t: ExecutionContext<{ chromium: OpenBrowser; box: TestSite }>, look = {}) {
  const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
  t.teardown(close)
  return { page, complaints }
}
const stateOf = (page: Page, step: string) => page.locator(`#step-${step} h2 .marked`).innerText()
const pathOf = async (page: Page) => {
  await page.goto('/commission')
  return Promise.all(['points', 'equipment', 'roles', 'units', 'coverage', 'run'].map(step => stateOf(page, step)))
}

test.serial('a technician goes from points to the first run without script, each step says what is left', async t => {
  const { page, complaints } = await openAs(t, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
  await signIn(page, 'agent', PASSWORDS.agent, '/commission')
  t.deepEqual(await pathOf(page), ['done', 'open', 'later', 'later', 'later', 'later'])
  t.regex(await page.locator('#step-equipment').innerText(), /4 of 4 points belong to no equipment/)

  await page.getByRole('link', { name: 'Choose points and put them into equipment' }).click()
  await page.getByLabel(/contains/).fill('ahu-7')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('button', { name: 'Put them there' }).click()
  await page.getByRole('alert').getByText('Choose equipment, or name the new one').waitFor()
  await page.getByLabel('Name of the new one').fill('Air handler 7')
  await page.getByRole('button', { name: 'Put them there' }).click()
  await page
    .getByRole('heading', { name: 'No point fits.' })
    .or(page.getByRole('heading', { name: 'Every point' }))
    .waitFor()
  const { model } = t.context.box.context
  t.like(model.equipment('school')[0], { equipment_id: 'air-handler-7', name: 'Air handler 7', equipment_type: 'ahu' })
  t.deepEqual((await pathOf(page)).slice(0, 3), ['done', 'done', 'open'])

  await page.getByRole('link', { name: /Accept suggestions/ }).click()
  t.regex(await page.locator('tbody').innerText(), /the name (is a known name of the role|contains)/)
  await page.getByRole('button', { name: 'Give the chosen points their roles' }).click()
  const roles = () => Object.fromEntries(model.points('school').map(({ point_id, role = null }) => [point_id, role]))
  t.like(roles(), { p1: 'sa_t', p2: 'clg_valve', p3: 'fan_status' })
  if (roles()['p4'] === null) {
    await page.goto('/points?equipment=air-handler-7')
    await page.getByLabel('Role of AHU-7 <b>ReturnAirTemp</b>').selectOption('ra_t')
    await page.getByRole('button', { name: 'Save roles' }).click()
  }
  t.is(roles()['p4'], 'ra_t')

  t.is((await pathOf(page))[3], 'open')
  await page.getByRole('link', { name: 'Look at units' }).click()
  t.regex(await page.locator('tbody tr').innerText(), /74\.0 to 74\.0\s°C/)
  await page.getByLabel(/^Unit of/).selectOption('degF')
  await page.getByRole('button', { name: 'Set unit' }).click()
  await page.getByRole('heading', { name: 'All values fit their unit.' }).waitFor()
  t.is(model.points('school').find(({ point_id }) => point_id === 'p4')?.unit, 'degF')

  const before = await pathOf(page)
  t.deepEqual([before[3], before[4], before[5]], ['done', 'done', 'open'])
  await page.locator('#step-run').getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('heading', { level: 1, name: 'Faults' }).waitFor()
  for (let i = 0; i < 60 && (await pathOf(page))[5] !== 'done'; i++) await page.waitForTimeout(1000)
  t.deepEqual(new Set(await pathOf(page)), new Set(['done']))
  t.deepEqual(
    complaints.filter(text => !text.includes('422')),
    [],
    'only the refused form is noted',
  )
})

test.serial('a spreadsheet goes out, comes back with a difference, and names the row that is wrong', async t => {
  const { page, complaints } = await openAs(t)
  const folder = mkdtempSync(join(tmpdir(), 'plenum-sheet-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  await signIn(page, 'agent', PASSWORDS.agent, '/commission')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: /Download the points/ }).click(),
  ])
  const text = readFileSync(await download.path(), 'utf8')
  const file = join(folder, 'school.csv')
  const bring = async (changed: string) => {
    writeFileSync(file, changed)
    await page.goto('/commission/sheet')
    await page.getByLabel('File').setInputFiles(file)
    await page.getByRole('button', { name: 'Show what would change' }).click()
  }
  await bring(text)
  await page.getByText('Nothing: the file says what is stored.').waitFor()
  await bring(text.replace('AHU-7 SupplyAirTemp', 'Supply air of AHU 7'))
  const { model } = t.context.box.context
  const nameOf = () => model.points('school').find(({ point_id }) => point_id === 'p1')?.name
  t.deepEqual((await page.locator('tbody tr').first().innerText()).split(/\s*\t\s*/), [
    'Supply air of AHU 7 point',
    'name',
    'AHU-7 SupplyAirTemp',
    'Supply air of AHU 7',
  ])
  t.is(nameOf(), 'AHU-7 SupplyAirTemp', 'nothing is saved before it is said')
  await page.getByRole('button', { name: 'Save these changes' }).click()
  await page.getByRole('heading', { level: 1, name: 'Commission' }).waitFor()
  t.is(nameOf(), 'Supply air of AHU 7')
  t.deepEqual(complaints, [])

  await bring(text.replace(',sa_t,', ',no_such_role,'))
  await page
    .getByRole('alert')
    .getByText(/Row \d+, role: .*no_such_role/)
    .waitFor()
})

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`the path is clean through ${name}`, async t => {
    const { page, complaints } = await openAs(t, look)
    await signIn(page, 'agent', PASSWORDS.agent, '/commission')
    for (const path of ['', '/equipment?which=all', '/roles', '/units', '/sheet']) {
      await page.goto(`/commission${path}`)
      await expectClean(t, page, path, 48)
    }
    t.deepEqual(complaints, [])
  })
}
