/** The pages over a telephone line of the third generation: they can be used, show nothing twice, and are light. */
import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openSite, PASSWORDS, type TestSite } from '../../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from '../chromium.ts'
import { looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

/** Chromium's own "Slow 3G": bytes a second, and the delay of each request. */
const LINE = { offline: false, downloadThroughput: 50_000, uploadThroughput: 50_000, latency: 400 }
/** All that a page needs, with styles and scripts that are not there yet. */
const PAGE_BYTES = 60_000
const PHONE = looks('a phone in daylight')[0]![1]
const DESK = looks('a desk in daylight')[0]![1]
const PATHS = {
  appliance: [
    '/',
    '/faults',
    '/faults/f-cooling',
    '/buildings/school',
    '/buildings/school/equipment/ahu-1',
    '/points',
    '/coverage',
  ],
  hub: ['/', '/faults', '/edges/edge-2', '/buildings/school', '/alerts'],
}

const test = anyTest as TestFn<{ chromium: OpenBrowser; site: Record<'appliance' | 'hub', TestSite> }>
test.before(async t => {
  const [appliance, hub] = [await openSite({ product: 'appliance' }), await openSite({ product: 'hub' })]
  t.context = { chromium: await openChromium(), site: { appliance, hub } }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await Promise.all(Object.values(t.context.site).map(site => site.close()))
})

/** @returns how many bytes have come since the last call */
async function slowLine(page: Page) {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', LINE)
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return () => {
    const since = bytes
    bytes = 0
    return since
  }
}

/** Ids that stand twice, and refreshed parts that are there twice. */
const doubles = (page: Page) =>
  page.locator('[id]').evaluateAll(all => {
    const ids = all.map(({ id }) => id)
    return ids.filter((id, i) => ids.indexOf(id) !== i)
  })

for (const product of ['appliance', 'hub'] as const) {
  test.serial(`over a slow line every page of the ${product} is light, and shows nothing twice`, async t => {
    const { chromium, site } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, site[product].url, PHONE)
    t.teardown(close)
    const bytes = await slowLine(page)
    await signIn(page, 'agent', PASSWORDS.agent, '/')
    const first = bytes()
    t.true(first > 0 && first <= PAGE_BYTES, `first visit with sign-in: ${first} bytes`)
    for (const path of PATHS[product]) {
      await page.goto(path)
      const own = bytes()
      t.true(own <= PAGE_BYTES, `${path}: ${own} bytes`)
      t.deepEqual(await doubles(page), [], path)
      t.log(path, own)
    }
    t.deepEqual(
      complaints.filter(one => !one.includes('404')),
      [],
    )
  })
}

test.serial('over a slow line a search shows what was asked last, once, and a form is sent once', async t => {
  const { chromium, site } = t.context
  const { page, close } = await openPage(chromium.browser, site.appliance.url, DESK)
  t.teardown(close)
  await slowLine(page)
  await signIn(page, 'agent', PASSWORDS.agent, '/')
  // Each letter asks again before the answer to the one before has come.
  await page.getByRole('searchbox').pressSequentially('VAV 3', { delay: 120 })
  await page.locator('#found').getByRole('link', { name: /VAV 3/ }).first().waitFor()
  const links = await page.locator('#found a').evaluateAll(all => all.map(one => one.outerHTML))
  t.deepEqual(links, [...new Set(links)])

  let sent = 0
  page.on('request', request => {
    if (request.method() === 'POST') sent++
  })
  await page.goto('/faults/f-cooling')
  const button = page.getByRole('button', { name: 'Acknowledge' }).first()
  await button.click({ noWaitAfter: true })
  await button.click({ noWaitAfter: true, timeout: 300 }).catch(() => undefined)
  await page.getByText('Acknowledged.', { exact: true }).first().waitFor()
  t.is(sent, 1)
})
