import anyTest, { type TestFn } from 'ava'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { IN_GERMAN } from '../support/in-german.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import {
  axeFindings,
  customProperty,
  cutTexts,
  focused,
  gapsBetween,
  hiddenFields,
  openPage,
  overflow,
  signIn,
  smallControls,
  smallFields,
} from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite; hub: TestSite }>
test.before(async t => {
  t.context = {
    chromium: await openChromium(),
    box: await openSite({ product: 'appliance', api: true }),
    hub: await openSite({ product: 'hub', api: true }),
  }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
  await t.context.hub.close()
})

const BOX = [
  '/',
  '/faults',
  '/faults?lane=data&group=priority',
  '/faults?lane=silenced&priority=1',
  '/faults/f-cooling?window=day',
  '/nowhere',
]
const ADMINISTRATION = ['/alerts', '/backups', '/import']
const HUB = ['/', '/edges/edge-2?site_id=riverside', '/?status=pending', '/faults?group=fault', '/faults/f-flow']

for (const [name, look] of looks(
  'a desk in daylight',
  'a desk at night',
  'a tablet in daylight',
  'a phone in daylight',
  'a phone at night',
  'more contrast',
  'forced colours',
)) {
  for (const product of ['box', 'hub'] as const) {
    test.serial(`every page of the ${product} is clean through ${name}`, async t => {
      const site = t.context[product]
      const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url, look)
      t.teardown(close)
      await page.goto('/login')
      t.deepEqual(await axeFindings(page), [], 'login')
      await signIn(page, 'agent', PASSWORDS.agent)
      for (const path of product === 'box' ? BOX : HUB) {
        await page.goto(path)
        await expectClean(t, page, path, product === 'box' ? 48 : 24)
      }
      t.deepEqual(
        complaints.filter(text => !text.includes('404')),
        [],
      )
    })
  }
}

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`every page for administrators is clean through ${name}`, async t => {
    const { chromium, box } = t.context
    const route = {
      route_id: 'r1',
      name: 'Plant team',
      enabled: true,
      webhook_url: 'http://127.0.0.1/',
      priority_max: 2,
    } as const
    box.stores.alerts.putRoute({ route: { ...route, urgent_at_once: true }, secret: 'none', digest_at: 0 })
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await page.goto('/login')
    await signIn(page, 'admin', PASSWORDS.admin)
    for (const path of ADMINISTRATION) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    t.deepEqual(complaints, [])
  })
}

test.serial('a route of alerts at any time has no hours to fill in, without script too', async t => {
  const { chromium, box } = t.context
  const { page, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'admin', PASSWORDS.admin, '/alerts')
  const from = page.getByLabel('From', { exact: true })
  t.false(await from.isVisible())
  await page.getByLabel('When').selectOption({ label: 'every day' })
  t.true(await from.isVisible())
  await page.getByLabel('When').selectOption({ label: 'at any time' })
  await page.getByLabel('Name').fill('Night watch')
  await page.getByLabel('Webhook address').fill('http://127.0.0.1/')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('Night watch was added').waitFor()
  const added = box.stores.alerts.routes().find(({ route }) => route.name === 'Night watch')
  t.is(added!.route.hours, undefined)
})

for (const [name, look] of looks('a desk in daylight', 'a phone in daylight')) {
  test.serial(`the longer German words have room on the first pages of box and hub through ${name}`, async t => {
    for (const product of ['appliance', 'hub'] as const) {
      const site = await openSite({ product, open: true, pageLanguageOf: () => IN_GERMAN })
      t.teardown(site.close)
      const { page, close } = await openPage(t.context.chromium.browser, site.url, look)
      t.teardown(close)
      for (const path of product === 'appliance' ? ['/'] : ['/', '/users']) {
        await page.goto(path)
        await page.locator('html[lang=de]').waitFor()
        t.is(await overflow(page), 0, path)
        t.deepEqual(await cutTexts(page, '.tile h2, .top nav li'), [], path)
      }
    }
  })
}

/** Narrowest telephone that is still sold. */
const NARROW = { viewport: { width: 360, height: 780 } }
/** Fields in a row, which are more than a telephone is wide. */
const FORMS = ['/faults', '/alerts', '/audit', '/fault-rules', '/analytics/operations', '/trends', '/params/WARM', '/mqtt']

for (const product of ['appliance', 'hub'] as const) {
  test.serial(`on a telephone every field of the ${product} is in sight, for a finger, and not zoomed into`, async t => {
    const site = await openSite({ product, open: true })
    t.teardown(site.close)
    const { page, close } = await openPage(t.context.chromium.browser, site.url, NARROW)
    t.teardown(close)
    for (const path of FORMS) {
      await page.goto(path)
      t.deepEqual(await smallFields(page), [], path)
      t.deepEqual(await smallControls(page, 44), [], path)
      t.deepEqual(await hiddenFields(page), [], path)
    }
  })
}

test.serial('the German tasks at the bottom of a narrow telephone stand apart', async t => {
  for (const product of ['appliance', 'hub'] as const) {
    const site = await openSite({ product, open: true, pageLanguageOf: () => IN_GERMAN })
    t.teardown(site.close)
    const { page, close } = await openPage(t.context.chromium.browser, site.url, NARROW)
    t.teardown(close)
    await page.goto('/faults')
    const gaps = await gapsBetween(page, '.top nav a')
    t.is(gaps.length, 4)
    t.true(Math.min(...gaps) >= 8, `${product}: ${gaps.join(', ')}`)
  }
})

test.serial('on paper a page is white, also at night, and nothing on it waits for a click', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { colorScheme: 'dark' })
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent)
  for (const path of ['/faults', '/faults/f-cooling', '/points?equipment=ahu-1']) {
    await page.goto(path)
    t.true((await page.locator('button:visible').count()) > 0, path)
    if (path.startsWith('/faults/')) await page.locator('#trends canvas').waitFor()
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    if (path.startsWith('/faults/')) {
      t.true(await page.locator('#trends svg:visible').isVisible())
      t.false(await page.locator('#trends canvas').isVisible(), 'the plot of the window has the colours of the night')
    }
    t.is(await page.locator('button:visible').count(), 0, path)
    t.false(await page.locator('.top nav').isVisible(), path)
    const colours = await Promise.all(['--bg', '--card', '--text'].map(name => customProperty(page, name)))
    t.deepEqual(colours, ['#fff', '#fff', '#1b1f23'], path)
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' })
  }
  t.deepEqual(complaints, [])
})

test.serial('without script a person signs in, reads everything and acknowledges', async t => {
  const { hub, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, hub.url, { javaScriptEnabled: false })
  t.teardown(close)
  await page.goto('/faults')
  await page.getByLabel('Name').fill('agent')
  await page.getByLabel('Password').fill(PASSWORDS.agent)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Group by').selectOption('priority')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(/group=priority/)
  await page.getByRole('link', { name: 'Supply air too warm' }).click()
  await page.locator('svg.plot').first().waitFor()
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('Acknowledged.', { exact: true }).waitFor()
  t.is(hub.context.notes.get('f-cooling').ack, 'acked')
  t.deepEqual(complaints, [])
})

test.serial('a filter takes effect at once and the way back leads to the one before', async t => {
  const { box, chromium } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/faults')
  await page.locator('select[name=priority]').selectOption('2')
  await page.waitForURL(/priority=2/)
  t.is(await page.locator('tr.active').count(), 1)
  await page.getByRole('link', { name: /show all/ }).waitFor()
  await page.goBack()
  t.is(await page.locator('tr.active').count(), 2)
  await page.goForward()
  t.is(await page.locator('tr.active').count(), 1)
  t.deepEqual(complaints, [])
})

test.serial('the keyboard reaches the content first and every form', async t => {
  const { box, chromium } = t.context
  const { page, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/faults/f-flow')
  await page.locator('body').press('Tab')
  t.is((await focused(page)).text, 'Skip to the content')
  await page.keyboard.press('Enter')
  await page.locator('#main:focus').waitFor()
  const reached: string[] = []
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press('Tab')
    reached.push((await focused(page)).text)
  }
  for (const name of ['Acknowledge', 'Save the note', 'Snooze', 'Mark as not a fault']) t.true(reached.includes(name), name)
})
