import anyTest, { type TestFn } from 'ava'
import { SECOND } from '#shared/core/time.ts'
import { NOW } from '../support/page-fixture.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { isSameFocus, openPage, rememberFocus, setHidden, signIn } from './watch.ts'

type Hub = { state: 'up' | 'connecting'; backlog: number }
const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite; hub: Hub }>
test.before(async t => {
  const hub: Hub = { state: 'up', backlog: 0 }
  const counts = { dropped: 0, thinned: 0, rejected: 0 }
  const rest = {
    ...counts,
    oldest_at: NOW - SECOND,
    drain_per_min: null,
    last_ack_at: NOW,
    cert_not_after: null,
    clock_offset_ms: null,
  }
  const box = await openSite({ product: 'appliance', sources: { hubState: () => ({ ...hub, ...rest }) } })
  t.context = { chromium: await openChromium(), box, hub }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

/** Home with a clock that the test moves. */
async function openHome({ chromium, box }: { chromium: OpenBrowser; box: TestSite }) {
  const opened = await openPage(chromium.browser, box.url)
  await opened.page.clock.install()
  await signIn(opened.page, 'agent', PASSWORDS.agent)
  return opened
}

test.serial('Home refreshes itself and leaves the focus where it is', async t => {
  const { page, complaints, close } = await openHome(t.context)
  t.teardown(close)
  const run = page.getByRole('button', { name: 'Run now' })
  await run.focus()
  await rememberFocus(page)
  t.context.hub.backlog = 77
  await page.clock.runFor(11_000)
  await page.getByText('77 messages to be sent').waitFor()
  t.true(await isSameFocus(page))
  t.context.hub.backlog = 78
  await page.clock.runFor(11_000)
  await page.getByText('78 messages to be sent').waitFor()
  t.deepEqual(complaints, [])
})

test.serial('a page that nobody looks at asks for nothing, and asks at once when somebody looks again', async t => {
  const { page, close } = await openHome(t.context)
  t.teardown(close)
  let asked = 0
  page.on('request', request => {
    if (request.url().endsWith('/home/tiles')) asked++
  })
  await setHidden(page, true)
  await page.clock.runFor(60_000)
  t.is(asked, 0)
  t.context.hub.backlog = 5
  await setHidden(page, false)
  await page.getByText('5 messages to be sent').waitFor()
  t.true(asked >= 1)
})

test.serial('a page whose feed stops says so itself, and takes it back when the feed returns', async t => {
  const { page, close } = await openHome(t.context)
  t.teardown(close)
  await page.route('**/home/tiles', route => route.abort())
  await page.clock.runFor(45_000)
  await page.getByText('No answer since then: this page is old.').waitFor()
  t.is(await page.locator('.feed-stopped').count(), 1)
  await page.unroute('**/home/tiles')
  await page.clock.runFor(11_000)
  await page.locator('.feed-stopped').waitFor({ state: 'detached' })
  t.is(await page.locator('.feed').textContent(), '')
})

test.serial('a session that ends while Home is open leads to the login page, not into a tile', async t => {
  const { page, close } = await openHome(t.context)
  t.teardown(close)
  await page.context().clearCookies()
  await page.clock.runFor(11_000)
  await page.waitForURL(/\/login\?next=%2F$/)
  t.is(await page.getByLabel('Password').count(), 1)
})

test.serial('the page of faults says how far a run is without being loaded again', async t => {
  const { page, complaints, close } = await openHome(t.context)
  t.teardown(close)
  const { runs, clock, model } = t.context.box.context
  const { building_id } = model.buildings()[0]!
  const times = { asked_at: clock.now(), started_at: clock.now(), finished_at: null }
  const run = { run_id: 'r', building_id, trigger: 'request', state: 'running', ...times } as const
  const before = runs.live
  t.teardown(() => {
    runs.live = before
  })
  await page.goto('/faults')
  for (const done of [1, 2]) {
    const progress = { step: 'evaluation', equipment_done: done, equipment_total: 3, rules: 9 } as const
    runs.live = () => [{ run, progress, version: done }]
    await page.clock.runFor(6_000)
    await page.getByText(`${done} of 3 done with 9 rules`).waitFor()
    t.is(await page.locator('#runs progress').getAttribute('value'), String(done))
  }
  runs.live = () => []
  await page.clock.runFor(6_000)
  await page.locator('#runs').getByRole('button', { name: 'Run now' }).waitFor()
  t.deepEqual(complaints, [])
})
