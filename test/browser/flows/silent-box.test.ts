/** A box falls silent and comes back: the alert, the page of the edge with what to look at, and the notice with what has come since. */
import { join } from 'node:path'
import { MINUTE } from '#shared/core/time.ts'
import { canFakeClock, openClock } from '../../support/faked-clock.ts'
import { testWhere } from '../../support/optional.ts'
import { receiver } from '../../support/sites/alert-site.ts'
import { atLeast } from '../../e2e/field-site.ts'
import { temporaryFolder } from '../../e2e/run-start.ts'
import { openChromium } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'
import { ADMIN, openFlow } from './stick-box.ts'

/** A round of alerts comes each minute. */
const ROUND_MS = MINUTE
/** Less than ten minutes between two rounds are not taken for a clock that was set. */
const STEP_MS = 8 * MINUTE
/** An alert is raised, and is over, within so many rounds. */
const ROUNDS = 5

testWhere(canFakeClock())(
  'a box that falls silent is announced with where to look, and its return with what has come',
  async t => {
    t.timeout(900_000)
    const clock = openClock(join(await temporaryFolder(t), 'clock'))
    const { hub, done, place, dir, box } = await openFlow(t, clock.env)
    const { browser, close } = await openChromium()
    t.teardown(close)
    const { url, received } = await receiver(t)
    await hub.start()
    done('pack-usb', ...place, '--out', join(dir, 'stick'))
    const silent = await box('box', 1)
    silent.prepare('secrets')
    t.is(silent.takeStick(join(dir, 'stick')).exit, 10)
    await silent.configure()
    const appliance = silent.appliance()
    await appliance.start()
    await atLeast(hub.url, 2)

    const [[, desk], [, phone]] = [looks('a desk in daylight')[0]!, looks('a phone at night')[0]!]
    const { page, complaints, close: leave } = await openPage(browser, hub.url, desk)
    t.teardown(leave)
    await signIn(page, 'admin', ADMIN, '/alerts')
    await page.getByLabel('Name').fill('Plant team')
    await page.getByLabel('Webhook address').fill(url)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('link', { name: 'Back to the alerts' }).click()

    await appliance.kill()
    let passed = 0
    /** Lets time pass, round by round, until an alert of this kind was received. */
    const untilReceived = async (type: string) => {
      for (let round = 0; round < ROUNDS; round++) {
        clock.set((passed += STEP_MS))
        for (const end = Date.now() + ROUND_MS + 2000; Date.now() < end; await page.waitForTimeout(500)) {
          const one = received.find(({ body }) => body.type === type)
          if (one) return one.body.alert as { title: string; detail: string; path: string }
        }
      }
      throw new Error(`no ${type} in ${ROUNDS} rounds: ${received.map(({ text }) => text).join('\n')}`)
    }
    const raised = await untilReceived('alert.raised')
    t.is(raised.title, 'Edge demo/edge-1 sends no data')
    t.regex(raised.detail, /its session is closed/)

    await page.goto('/alerts')
    const delivery = page.locator('#deliveries tbody tr').first()
    await delivery.getByText('its session is closed. Since').waitFor()
    await expectClean(t, page, '/alerts', 24)
    await delivery.getByRole('link', { name: raised.title }).click()
    await page.waitForURL(({ pathname, search }) => pathname + search === raised.path)
    await page.getByText('session closed, data old').waitFor()
    const checks = page.locator('section').filter({ has: page.getByRole('heading', { name: 'What to look at' }) })
    t.true((await checks.getByRole('listitem').count()) >= 4)
    await page.setViewportSize(phone.viewport)
    await page.emulateMedia({ colorScheme: phone.colorScheme })
    await expectClean(t, page, 'edge on a phone', 24)
    await checks.getByRole('link', { name: 'its certificates' }).click()
    await page.waitForURL('**#certificates')
    t.is(await page.locator('#certificates tbody tr').filter({ hasText: 'valid until' }).count(), 1)

    await appliance.start()
    const over = await untilReceived('alert.recovered')
    t.regex(
      over.detail,
      /^It was silent for \d+ min and sends again\. (What it read meanwhile has come\.|\d+ % of that time has come)/,
    )
    await page.goto('/alerts')
    await page.getByText('Recovered: ').first().waitFor()
    await page.goto(raised.path)
    await page.getByText('session open, data fresh').waitFor()
    t.is(await checks.count(), 0, 'nothing has to be looked at')
    t.deepEqual(complaints, [])
  },
)
