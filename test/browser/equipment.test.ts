/** The way from a building through equipment to a point, on a desk and on a phone. */
import anyTest, { type TestFn } from 'ava'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

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
  '/buildings/school/equipment/ahu-1',
  '/buildings/school/equipment/vav-3?days=30',
  '/buildings/school/equipment/chiller-1',
  '/buildings/school/points/ahu-1.sa_t',
  '/buildings/school/points/ahu-1.fan_status?days=7',
]

for (const [name, look] of looks(
  'a desk in daylight',
  'a desk at night',
  'a tablet in daylight',
  'a phone in daylight',
  'a phone at night',
  'forced colours',
)) {
  test.serial(`buildings, equipment and points are clean through ${name}`, async t => {
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
    await page.locator('svg.drawing:visible').getByRole('link', { name: 'sa_t 62.5 °F' }).click()
    await page.waitForURL(/\/buildings\/school\/points\/ahu-1\.sa_t$/)
    t.true(await page.locator('svg.plot:visible').isVisible())
    await page.locator('.crumbs').getByRole('link', { name: 'Riverside School' }).click()
    await page.getByRole('link', { name: 'VAV 3, library' }).click()
    t.regex(page.url(), /equipment\/vav-3$/)
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
