/** The way from a building through equipment to a point, on a desk and on a phone. */
import anyTest, { type TestFn } from 'ava'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { axeFindings, openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance', api: true }) }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

const PATHS = [
  '/buildings',
  '/buildings/school?kind=vav',
  '/buildings/school/equipment/ahu-1',
  '/buildings/school/equipment/vav-3?days=30',
  '/buildings/school/equipment/chiller-1',
  '/buildings/school/points/ahu-1.sa_t',
  '/buildings/school/points/ahu-1.fan_status?days=7',
  '/search?q=a',
  '/search?q=nothing-has-this',
  '/setup',
]

for (const [name, look] of looks(
  'a desk in daylight',
  'a desk at night',
  'a tablet in daylight',
  'a phone in daylight',
  'a phone at night',
  'forced colours',
)) {
  test.serial(`buildings, equipment, points, search and set-up are clean through ${name}`, async t => {
    const { chromium, box } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer)
    for (const path of PATHS) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    t.deepEqual(complaints, [])
  })
}

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`without script a person goes from a fault to a point and back up through ${name}`, async t => {
    const { chromium, box } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, box.url, { ...look, javaScriptEnabled: false })
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer, '/faults/f-cooling')
    await page.locator('dl.facts').getByRole('link', { name: 'Air handler 1' }).click()
    await page.waitForURL(/\/buildings\/school\/equipment\/ahu-1$/)
    await page.locator('svg.drawing:visible').getByRole('link', { name: 'supply air temperature 62.5 °F (sa_t)' }).click()
    await page.waitForURL(/\/buildings\/school\/points\/ahu-1\.sa_t$/)
    t.true(await page.locator('svg.plot:visible').isVisible())
    await page.locator('.crumbs').getByRole('link', { name: 'Riverside School' }).click()
    await page.locator('.kinds').getByRole('link', { name: 'VAV 3, library' }).click()
    await page.waitForURL(/equipment\/vav-3$/)
    t.deepEqual(complaints, [])
  })
}

test.serial('the values of an equipment refresh themselves in their place', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/buildings/school/equipment/ahu-1')
  const renamed = { ...box.context.model.points('school').find(one => one.point_id === 'ahu-1.sa_t')!, name: 'Supply air' }
  box.context.model.put({ points: [renamed] })
  await page.locator('#now').dispatchEvent('refresh')
  await page.locator('#now').getByRole('link', { name: 'Supply air', exact: true }).waitFor()
  t.deepEqual(complaints, [])
})

test.serial('the key / goes to the search, which answers while somebody types and leads there by keyboard alone', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/faults')
  await page.locator('body').press('/')
  const answer = page.waitForResponse(/\bq=zone_fl$/)
  await page.keyboard.type('zone_fl')
  // Part of the word may have been answered before, and each answer replaces the links.
  await answer
  await page.locator('#found').getByRole('link', { name: 'VAV-3 ZONE_FLOW' }).waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/points\/vav-3\.zone_flow$/)
  await page.locator('body').press('/')
  await page.keyboard.insertText('library')
  await page.locator('#found a').first().waitFor()
  await page.keyboard.press('Escape')
  t.is(await page.locator('#found a').count(), 0)
  t.deepEqual(complaints, [])
})

test.serial('on a phone the tasks are a bar of at most five, and the first fault is seen without scrolling', async t => {
  const { chromium, box } = t.context
  const [, phone] = looks('a phone in daylight')[0]!
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { ...phone, javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/faults')
  const bar = page.getByRole('navigation', { name: 'Pages' })
  const barBox = (await bar.boundingBox())!
  t.true(barBox.y > phone.viewport.height - 70, `the bar begins at ${barBox.y}`)
  t.true((await bar.getByRole('link').count()) <= 5)
  const fault = (await page.locator('tr.active').first().boundingBox())!
  t.true(fault.y + fault.height < barBox.y, `the first fault ends at ${fault.y + fault.height}`)
  await page.getByRole('link', { name: 'Search' }).click()
  await page.getByLabel('Name, id, role or address').fill('sa_t')
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('link', { name: 'AHU-1 SA_T_SP' }).click()
  await page.waitForURL(/ahu-1\.sa_t_sp$/)
  t.deepEqual(complaints, [])
})

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(
    `an equipment is snoozed before work begins through ${name}, is in the list of what is snoozed, and is ended there`,
    async t => {
      const { chromium, box } = t.context
      const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
      t.teardown(close)
      await signIn(page, 'agent', PASSWORDS.agent, '/buildings/school/equipment/vav-3')
      await page.getByText('Snooze before work begins').click()
      await expectClean(t, page, 'form', 48)
      await page.getByLabel('Reason').fill('the damper is changed')
      await page.getByRole('button', { name: 'Snooze' }).click()
      await page.getByRole('heading', { name: 'Snoozed now' }).waitFor()
      const row = page.locator('#snoozes tr').filter({ hasText: 'the damper is changed' })
      await row.getByText('All faults of').waitFor()
      t.like(box.context.snoozes.list(0, 10), [{ building_id: 'school', equipment_id: 'vav-3', created_by: 'agent' }])
      await row.getByRole('button', { name: 'End the snooze' }).click()
      await page.getByText('The snooze is ended.').waitFor()
      t.deepEqual(complaints, [])
    },
  )
}
