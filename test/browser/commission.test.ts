import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

declare const document: { documentElement: { scrollHeight: number } }
const heightOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollHeight)

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
const NEW = [
  ['n1', 'AHU-7 SupplyAirTemp', 'degF', 'number'],
  ['n2', 'AHU-7 CLG-O', 'percent', 'number'],
  ['n3', 'AHU-7 SF-S', 'bool', 'bool'],
  ['n4', 'AHU-7 Analog Value 17', 'degF', 'number'],
] as const

test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance' }) }
  const { model } = t.context.box.context
  const { building_id } = model.buildings()[0]!
  const source = { protocol: 'bacnet', address: 'analog-value,1' } as const
  model.put({
    equipment: [{ equipment_id: 'ahu-7', building_id, name: 'Air handler 7', equipment_type: 'ahu' }],
    points: NEW.map(([point_id, name, unit, kind]) => ({
      point_id,
      building_id,
      equipment_id: 'ahu-7',
      name,
      unit,
      kind,
      source,
    })),
  })
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`points and coverage are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent)
    for (const path of ['/points?equipment=ahu-7', '/points', '/coverage?equipment=ahu-7']) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    t.true((await heightOf(page)) <= 4 * 844, 'no more than four screens of a phone')
    const lacking = page.locator('summary', { hasText: 'Cannot run: ' })
    const row = page.getByRole('link', { name: 'Closed outdoor air damper leaks' })
    t.false(await row.isVisible())
    await lacking.click()
    t.true(await row.isVisible())
    await expectClean(t, page, 'opened', 48)
    await page.getByRole('searchbox', { name: 'Rule or role' }).fill('damper leaks')
    await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/equipment=ahu-7&q=damper/)
    t.true(await row.isVisible(), 'what was searched for is open')
    t.is(await page.locator('main tbody tr').count(), 1)
    t.deepEqual(complaints, [])
  })
}

test.serial('without script a person takes what is likely, and nothing is assigned before it is saved', async t => {
  const { box, chromium } = t.context
  const roles = () => {
    const { model } = box.context
    const own = model.points(model.buildings()[0]!.building_id).filter(({ equipment_id }) => equipment_id === 'ahu-7')
    return own.map(({ point_id, role = null }) => `${point_id} ${role}`).toSorted()
  }
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/points?equipment=ahu-7')
  await page.getByRole('link', { name: /Choose what is likely/ }).click()
  t.deepEqual(roles(), ['n1 null', 'n2 null', 'n3 null', 'n4 null'])
  await page.getByLabel('Role of AHU-7 Analog Value 17').selectOption('ma_t')
  await page.getByRole('button', { name: 'Save roles' }).click()
  await page.getByText('4 points. ', { exact: false }).first().waitFor()
  t.deepEqual(roles(), ['n1 sa_t', 'n2 clg_valve', 'n3 fan_status', 'n4 ma_t'])
  const [{ actor, before, after } = {}] = box.context.audit.list({ limit: 1 })
  t.like(
    { actor, before: (before as object[]).length, after: (after as { assignments: object[] }).assignments.length },
    { actor: 'agent', before: 4, after: 4 },
  )
  t.deepEqual(complaints, [])

  await page.getByLabel('Role of AHU-7 SupplyAirTemp').selectOption('ra_t')
  await page.getByLabel('Role of AHU-7 Analog Value 17').selectOption('ra_t')
  await page.getByRole('button', { name: 'Save roles' }).click()
  await page
    .getByRole('alert')
    .getByText(/Nothing was saved/)
    .waitFor()
  t.deepEqual(roles(), ['n1 sa_t', 'n2 clg_valve', 'n3 fan_status', 'n4 ma_t'])
})
