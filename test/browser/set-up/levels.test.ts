/** The names of priority levels by their page, without script, and what the page of overrides says then. */
import test from 'ava'
import { LEVELS_PATH, levelsRoutes } from '#appliance/pages/levels.route.ts'
import { overridesPages } from '#appliance/pages/overrides.route.ts'
import { CommandStates } from '#appliance/pages/command-states.ts'
import type { SettingsFile } from '#appliance/store/settings-file.ts'
import type { SiteSettings } from '#appliance/store/site.ts'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { CATALOGUE, HISTORY, journalOf, scheduleOf, SITE } from '../../support/overrides-fixture.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(`levels are named, and overrides have the name, through ${name}`, async t => {
    let site = SITE
    const file = {
      current: () => site,
      reread: async () => site,
      replace: async (next: SiteSettings) => void (site = next),
    } as SettingsFile<SiteSettings>
    const journal = journalOf(HISTORY)
    const levels = () => levelMeanings(file.current().priority_levels)
    const commandStates = new CommandStates(journal)
    const box = await openSite({
      product: 'appliance',
      more: layout => [
        ...levelsRoutes({ file, building_id: 'school' }, layout),
        ...overridesPages({
          journal,
          schedule: scheduleOf(),
          catalogue: () => CATALOGUE,
          site: SITE,
          levels,
          layout,
          commandStates,
        }),
      ],
    })
    const chromium = await openChromium()
    t.teardown(async () => {
      await chromium.close()
      await box.close()
    })
    const { page, close } = await openPage(chromium.browser, box.url, { ...look, javaScriptEnabled: false })
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin, LEVELS_PATH)
    t.is(await page.getByLabel('Name of P10').inputValue(), 'Plant sequence')
    await page.getByLabel('Name of P8').fill('Caretaker')
    await page.getByLabel('P1 is an override').uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The priority levels are saved.').waitFor()
    await page.goto('/overrides')
    await page.getByText('Caretaker').first().waitFor()
    t.is(await page.getByText('Exhaust fan, kitchen').count(), 0, 'P1 is no override any more')
    const scripted = await openPage(chromium.browser, box.url, look)
    t.teardown(scripted.close)
    await signIn(scripted.page, 'admin', PASSWORDS.admin, LEVELS_PATH)
    await expectClean(t, scripted.page, LEVELS_PATH, 48)
  })
}
