/** A technician looks at a box whose process is killed: the page says that it is old, loses no typed text, and goes on when it is back. */
import { join } from 'node:path'
import test from 'ava'
import { atLeast, AUTH, configure, countingDevice, loopback, program } from '../../e2e/field-site.ts'
import { freeBase, temporaryFolder } from '../../e2e/run-start.ts'
import { openChromium } from '../chromium.ts'
import { openPage, signIn } from '../watch.ts'

const ADMIN = 'admin-of-the-test'

test('a box that is killed while somebody looks at it', async t => {
  t.timeout(180_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(1)]
  const device = await countingDevice(t)
  await configure(join(dir, 'box'), device.port, 1)
  const box = program(t, 'appliance', {
    main: 'appliance/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...{ ...AUTH, SERVICE_ADMIN_PASSWORD: ADMIN, SERVICE_SITE_ID: 'demo' },
      ...{
        SERVICE_CENTRAL_BIND: '127.0.0.1',
        SERVICE_CENTRAL_PORT: String(base),
        SERVICE_BACNET_BIND: '127.0.0.1',
        SERVICE_BACNET_PORT: '0',
      },
      ...{ SERVICE_WORKSPACE: join(dir, 'box'), SERVICE_EDGE_STORE_DIR: join(dir, 'store') },
    },
  })
  await box.start()
  await atLeast(box.url, 1)
  const chromium = await openChromium()
  t.teardown(chromium.close)
  const { page, close } = await openPage(chromium.browser, box.url, { viewport: { width: 390, height: 844 } })
  t.teardown(close)
  await signIn(page, 'admin', ADMIN)
  const asOf = page.locator('.as-of time')
  await asOf.waitFor()
  const typed = await page.context().newPage()
  await typed.goto('/alerts')
  const field = typed.locator('main input[type=text], main input:not([type])').first()
  await field.fill('typed before')

  await box.kill()
  await page.getByText('No answer since then: this page is old.').waitFor({ timeout: 60_000 })
  const old = await asOf.getAttribute('datetime')
  t.is(await field.inputValue(), 'typed before')

  await box.start()
  await page.locator('.feed-stopped').waitFor({ state: 'detached', timeout: 60_000 })
  await page.locator(`.as-of time:not([datetime="${old}"])`).waitFor()
  t.is(new URL(page.url()).pathname, '/', 'nobody has to sign in again')
  t.is(await field.inputValue(), 'typed before')
})
