/** A button that is tapped twice, as gloves and slow networks have it. */
import test from 'ava'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { openPage, signIn } from '../watch.ts'

test('a button that is tapped twice sends its form once, and can send it again after a while', async t => {
  const chromium = await openChromium()
  const box = await openSite({ product: 'appliance' })
  t.teardown(async () => {
    await chromium.close()
    await box.close()
  })
  const { page, close } = await openPage(chromium.browser, box.url, { viewport: { width: 390, height: 844 }, hasTouch: true })
  t.teardown(close)
  await page.clock.install()
  await signIn(page, 'admin', PASSWORDS.admin, '/users')
  let posts = 0
  // An answer without a body leaves the page where it is, as one does that has not come yet.
  await page.route('**/users', call => {
    if (call.request().method() !== 'POST') return call.continue()
    posts++
    return call.fulfill({ status: 204 })
  })
  await page.getByLabel('User name').fill('kim')
  const button = page.getByRole('button', { name: 'Add person' })
  // Requests reach the handler above in order: what was tapped before has been counted.
  const settle = () => page.evaluate(async () => (await fetch('/users')).status)
  await button.tap()
  await button.tap()
  await settle()
  t.is(posts, 1)
  await page.clock.fastForward(6000)
  await button.tap()
  await settle()
  t.is(posts, 2)
})
