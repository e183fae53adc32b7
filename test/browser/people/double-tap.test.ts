/** A button that is tapped twice, as gloves and slow networks have it. */
import test from 'ava'
import { until } from '../../support/folders.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { openPage, signIn } from '../watch.ts'

test('a button that is tapped twice sends its form once; other values are sent at once, and the same again after a while', async t => {
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
  const sent: (string | null)[] = []
  // An answer without a body leaves the page where it is, as one does that has not come yet.
  await page.route('**/users', call => {
    if (call.request().method() !== 'POST') return call.continue()
    sent.push(new URLSearchParams(call.request().postData()!).get('username'))
    return call.fulfill({ status: 204 })
  })
  const [name, button] = [page.getByLabel('User name'), page.getByRole('button', { name: 'Add person' })]
  await name.fill('kim')
  await button.tap()
  await until(() => sent.length === 1, 'the first tap is sent')
  await button.tap()
  await name.fill('lee')
  await button.tap()
  await until(() => sent.includes('lee'), 'other values are sent')
  await page.clock.fastForward(6000)
  await button.tap()
  await until(() => sent.filter(one => one === 'lee').length === 2, 'the same is sent after a while')
  t.deepEqual(sent, ['kim', 'lee', 'lee'])
})
