import anyTest, { type TestFn } from 'ava'
import pino from 'pino'
import { PUBLISHER_OFF } from '#appliance/services/publisher.ts'
import { openUpdates } from '#appliance/system/updates.ts'
import { systemRoutes } from '#appliance/system/system.routes.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; box: TestSite }>

test.before(async t => {
  const hubState = () => PUBLISHER_OFF
  const box = await openSite({
    product: 'appliance',
    api: true,
    more: (layout, context) => systemRoutes({ updates: openUpdates(undefined), hubState, context, layout }),
  })
  t.context = { chromium: await openChromium(), box }
  const { inspection } = box.context
  inspection.effective.push(
    { name: 'SERVICE_JWT_SECRET', value: '********', source: 'file', doc: 'signs the tokens' },
    { name: 'SERVICE_CENTRAL_PORT', value: '8080', source: 'default', doc: 'port to listen on' },
  )
  const log = pino({ base: { name: 'test' } }, { write: (line: string) => inspection.recent.add(line) })
  log.info({ services: ['one', 'two'] }, 'running')
  log.warn({ device: '<img src=x onerror=alert(1)>' }, 'device does not answer: trying again <b>later</b>')
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.box.close()
})

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`system, log and settings are clean through ${name}`, async t => {
    const { page, complaints, close } = await openPage(t.context.chromium.browser, t.context.box.url, look)
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin, '/system')
    for (const path of ['/system', '/log', '/settings', '/settings?shown=all']) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    t.deepEqual(complaints, [])
  })
}

test.serial('an admin finds the source of a setting, logs more, and takes a file of diagnostics, without script', async t => {
  const { chromium, box } = t.context
  const { page, complaints, close } = await openPage(chromium.browser, box.url, { javaScriptEnabled: false })
  t.teardown(close)
  await signIn(page, 'admin', PASSWORDS.admin, '/system')
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.waitForURL('**/settings')
  t.true((await page.locator('tbody tr').allInnerTexts()).join().includes('SERVICE_JWT_SECRET'))
  t.is(await page.locator('tbody tr').count(), 1, 'what has its default is behind the other tab')
  await page.getByRole('link', { name: /^All/ }).click()
  await page.waitForURL(/shown=all/)
  t.is(await page.locator('tbody tr').count(), 2)

  await page.goto('/log?level=warn')
  t.regex(await page.locator('tbody tr').innerText(), /trying again <b>later<\/b>/, 'text of a device stays text')
  await page.getByLabel('Log from now on').selectOption('debug')
  await page.getByRole('button', { name: 'Set', exact: true }).click()
  t.is(await page.getByLabel('Log from now on').inputValue(), 'debug')
  const [row] = box.context.audit.list({ limit: 1 })
  t.like(row, { actor: 'admin', action: 'set_log_level', after: { level: 'debug' } })

  await page.goto('/system')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Diagnostics file' }).click(),
  ])
  t.is(download.suggestedFilename(), 'plenum-test-diagnostics.zip')
  t.deepEqual(complaints, [])
})

test.serial('a viewer sees how the box is and is offered nothing else', async t => {
  const { chromium, box } = t.context
  const { page, close } = await openPage(chromium.browser, box.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/system')
  await page.getByText(/^[\d.]+\sMB of [\d.]+\sGB are taken by this program$/).waitFor()
  await page.getByRole('heading', { name: 'Health' }).waitFor()
  t.regex(await page.locator('dt', { hasText: 'Uploads' }).locator('..').innerText(), /\b0\skB of at most [\d.,]+\sGB/)
  for (const name of ['Log', 'Settings', 'Diagnostics file']) t.is(await page.getByRole('link', { name, exact: true }).count(), 0)
  await page.goto('/log')
  await page
    .getByText(/needs the role admin|forbidden|admin/i)
    .first()
    .waitFor()
})
