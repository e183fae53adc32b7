import anyTest, { type TestFn } from 'ava'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { keepBaselines } from '../shared/central/pages/tuning-fixture.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), box: await openSite({ product: 'appliance', api: true }) }
  keepBaselines(t.context.box.context)
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

const RULE = '/params/AHU-SUPPLY-WARM?equipment=ahu-1&finding=f-cooling'

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`parameters and baselines are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent)
    const check = async (where: string) => {
      await expectClean(t, page, where, 48)
    }
    for (const path of ['/params', RULE, '/baselines?equipment=ahu-1', '/runs']) {
      await page.goto(path)
      await check(path)
    }
    for (const summary of await page.locator('summary').all()) await summary.click()
    await check('runs with everything open')
    await page.goto('/baselines?equipment=ahu-1')
    const value = page.getByText('spread 0.5 °F from 3 days')
    t.false(await value.isVisible())
    await page.locator('summary', { hasText: 'Supply air too warm' }).click()
    t.true(await value.isVisible())
    for (const summary of await page.locator('main details details summary').all()) await summary.click()
    await check('baselines with everything open')
    await page.getByRole('searchbox', { name: 'Rule or role' }).fill('supply-warm')
    await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/equipment=ahu-1&q=supply-warm/)
    t.true(await value.isVisible(), 'what was searched for is open')
    await page.goto('/baselines?equipment=ahu-1#AHU-SUPPLY-WARM')
    t.true(await value.isVisible(), 'a link to a rule opens it')
    await page.goto('/params')
    await page.getByRole('searchbox', { name: 'Rule, id or parameter' }).fill('supply-warm')
    await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
    await page.waitForURL(/q=supply-warm/)
    t.is(await page.locator('tbody tr').count(), 1)
    await check('one rule')
    await page.goto(RULE)
    for (const summary of await page.locator('summary').all()) await summary.click()
    await check('parameters with everything open')
    await page.locator('#param-tolerance').getByLabel('Value').fill('4')
    await page.locator('#param-tolerance').getByRole('button', { name: 'What would this have found?' }).click()
    await page.getByRole('status').getByText('Nothing was stored').waitFor()
    await check('what a value would have found')
    t.deepEqual(complaints, [])
  })
}

test.serial('without script a person tries a value, saves it and takes it back', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults/f-cooling')
  await page.getByRole('link', { name: 'Change a threshold' }).click()
  const card = page.locator('#param-tolerance')
  await card.getByText('Try or set another value').click()
  await card.getByLabel('Value (°F)').fill('4.5')
  await card.getByLabel('Why').fill('sensor is slow')
  await card.getByRole('button', { name: 'What would this have found?' }).click()
  const tried = page.getByRole('status')
  await tried.getByText('Nothing was stored').waitFor()
  t.regex(await tried.innerText(), /tolerance at 2\.5\sK \(4\.5\s°F\) for Air handler 1/)
  await tried.getByRole('button', { name: 'Save this value' }).click()
  const set = page.locator('#set')
  await set.getByText('2.5 K (4.5 °F)').waitFor()
  t.like(box.context.paramSettings.list()[0], { scope: 'equipment', scope_id: 'ahu-1', value: 2.5, note: 'sensor is slow' })
  await set.getByRole('button', { name: 'Remove' }).click()
  await page.getByText("Nothing; the rule's own values count").waitFor()
  t.deepEqual(complaints, [])
})
