/** The pages of overrides through a browser, on a box and on a hub, and the lane under the plot of a fault. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import type { BrowserContextOptions } from 'playwright-core'
import { overridesPages } from '#appliance/pages/overrides.route.ts'
import { CommandStates } from '#appliance/pages/command-states.ts'
import { journalSnapshots } from '#appliance/priority/journal-snapshots.ts'
import { COOLING } from '../support/page-fixture.ts'
import { CATALOGUE, HISTORY, journalOf, scheduleOf, LEVEL_NAMES, SITE } from '../support/overrides-fixture.ts'
import { openSite, PASSWORDS } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context.chromium = await openChromium()
})
test.after.always(t => t.context.chromium.close())

async function open(
  t: ExecutionContext<{ chromium: OpenBrowser }>,
  look: BrowserContextOptions = {},
  who: keyof typeof PASSWORDS = 'agent',
) {
  const journal = journalOf(HISTORY)
  const catalogue = () => CATALOGUE
  const site = await openSite({
    product: 'appliance',
    api: true,
    findings: [COOLING],
    priority: journalSnapshots({ journal: () => journal, catalogue, building: SITE.building, levels: LEVEL_NAMES }),
    more: layout =>
      overridesPages({
        journal,
        schedule: scheduleOf(),
        catalogue,
        site: SITE,
        levels: LEVEL_NAMES,
        layout,
        commandStates: new CommandStates(journal),
      }),
  })
  t.teardown(site.close)
  const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url, look)
  t.teardown(close)
  await signIn(page, who, PASSWORDS[who], '/overrides')
  return { page, complaints }
}

for (const [title, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`list, point and plot are clean on ${title}`, async t => {
    const { page, complaints } = await open(t, look)
    for (const path of [
      '/overrides',
      '/overrides?group=equipment',
      '/overrides/1007/analog-value/3',
      `/faults/${COOLING.finding_id}?window=week`,
    ]) {
      await page.goto(path)
      await expectClean(t, page, path, 44)
    }
    t.deepEqual(complaints, [])
  })
}

test.serial('without script a person goes from the oldest override to its slots and back, and asks for a visit', async t => {
  const { page, complaints } = await open(t, { javaScriptEnabled: false })
  await page.getByRole('link', { name: 'Older than a day' }).click()
  await page.waitForURL(/\/overrides\?/)
  t.is(await page.getByRole('link', { name: 'AHU-1 supply air set point' }).count(), 0)
  await page.getByRole('link', { name: 'By equipment' }).click()
  await page.waitForURL(/group=equipment/)
  t.is(await page.getByRole('link', { name: 'Older than a day' }).getAttribute('aria-current'), 'page')
  t.deepEqual(await page.getByRole('rowheader').allInnerTexts(), ['Air handler 1 1', 'Of no equipment 2'])
  await page.getByRole('link', { name: 'AHU-1 cooling valve' }).click()
  await page.getByRole('row', { name: 'P8 Manual operator 100 % (commands)' }).waitFor()
  await page.getByRole('link', { name: 'Overrides' }).last().click()
  await page.getByRole('button', { name: 'Visit the next device now' }).click()
  await page.waitForURL('**/overrides#scanner')
  t.deepEqual(complaints, [])
})

test.serial('a viewer sees the button and why it cannot be pressed', async t => {
  const { page } = await open(t, {}, 'viewer')
  const button = page.getByRole('button', { name: 'Visit the next device now' })
  t.true(await button.isDisabled())
  t.true(await page.getByText('Needs the operator role; you are signed in as viewer.').isVisible())
})
