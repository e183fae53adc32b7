/** Log and diagnostics of a box on the pages of a hub. */
import anyTest, { type TestFn } from 'ava'
import { edgeLogPages } from '#hub/pages/edge-log.route.ts'
import { openAskedBox } from '../support/sites/asked-box.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite; hub: TestSite }>
const EDGE = '/edges/edge-1?site_id=riverside'

test.before(async t => {
  const { box, connectors } = await openAskedBox()
  const hub = await openSite({ product: 'hub', more: (layout, context) => edgeLogPages({ layout, context, connectors }) })
  t.context = { chromium: await openChromium(), box, hub }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.hub.close()
  await t.context.box.close()
})

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`the log of a box is clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.hub.url, look)
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin, EDGE)
    await expectClean(t, page, EDGE, 24)
    await page.goto('/edges/edge-1/log?site_id=riverside')
    await expectClean(t, page, 'log', 24)
    await page.goto('/edges/edge-1/log?site_id=riverside&level=error')
    t.is(await page.locator('tbody tr').count(), 1)
    await expectClean(t, page, 'errors', 24)
    t.deepEqual(complaints, [])
  })
}

test.serial('without script an admin goes from the edge to older lines, logs more, and takes the file', async t => {
  const { chromium, hub, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, hub.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'admin', PASSWORDS.admin, EDGE)
  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await page.getByRole('link', { name: 'Older lines' }).click()
  await page.getByText('device 1 answers again').waitFor()
  await page.getByRole('link', { name: 'Newest lines' }).click()
  await page.getByLabel('Show').selectOption('error')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.waitForURL(/level=error/)
  t.regex(await page.locator('tbody tr').innerText(), /write queue full/)
  await page.getByLabel('Log from now on').selectOption('warn')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  t.is(await page.getByLabel('Log from now on').inputValue(), 'warn')
  t.is(box.context.inspection.log.level, 'warn')
  await page.getByRole('link', { name: 'Plant room' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download diagnostics' }).click(),
  ])
  t.is(download.suggestedFilename(), 'plenum-edge-1-diagnostics.zip')
  t.deepEqual(complaints, [])
})
