/** Interface, port and broadcast manager of a box by its page, without script: a wrong value is named, and nothing is written then. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { bacnetSettings } from '#appliance/drivers/bacnet/pages/bacnet-settings.ts'
import { BACNET_NETWORK_PATH, bacnetSettingsRoutes } from '#appliance/drivers/bacnet/pages/settings.route.ts'
import { BACNET_VARIABLES } from '#appliance/env.ts'
import { readEnv } from '#shared/core/env.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(`the network of BACnet is chosen through ${name}`, async t => {
    const folder = mkdtempSync(join(tmpdir(), 'plenum-bacnet-'))
    const file = join(folder, 'settings.env')
    const read = readEnv(BACNET_VARIABLES, { env: {} }, () => '')
    if (!read.ok) throw new Error(read.complaints.join())
    let restarts = 0
    const machine = () => [{ name: 'lo', address: '127.0.0.1', netmask: '255.0.0.0' }]
    const settings = bacnetSettings({ effective: read.effective, file, machine, restart: () => restarts++ })
    const box = await openSite({ product: 'appliance', more: layout => bacnetSettingsRoutes(settings, layout) })
    const chromium = await openChromium()
    t.teardown(async () => {
      await chromium.close()
      await box.close()
      rmSync(folder, { recursive: true })
    })
    const { page, close } = await openPage(chromium.browser, box.url, { ...look, javaScriptEnabled: false })
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin, BACNET_NETWORK_PATH)
    await page.getByLabel('Network interface').selectOption('127.0.0.1')
    await page.getByLabel('UDP port').fill('0')
    await page.getByLabel('Broadcast manager (BBMD), empty for none').fill('127.0.0.1')
    await page.getByRole('button', { name: 'Save and start again' }).click()
    await page.getByRole('alert').getByText('127.0.0.1 is this machine, and a broadcast manager is another one').waitFor()
    t.false(existsSync(file))
    t.is(restarts, 0)
    await page.getByLabel('Broadcast manager (BBMD), empty for none').fill('10.20.0.1')
    await page.getByRole('button', { name: 'Save and start again' }).click()
    await page.getByRole('heading', { name: 'The program starts again with the new settings' }).waitFor()
    t.is(readFileSync(file, 'utf8'), 'SERVICE_BACNET_BIND=127.0.0.1\nSERVICE_BACNET_PORT=0\nSERVICE_BACNET_BBMD=10.20.0.1\n')
    t.is(restarts, 1)
    t.like(box.context.audit.list({ limit: 5 })[0], { action: 'change_bacnet_network', subject: 'bacnet' })
    const scripted = await openPage(chromium.browser, box.url, look)
    t.teardown(scripted.close)
    await signIn(scripted.page, 'admin', PASSWORDS.admin, BACNET_NETWORK_PATH)
    await expectClean(t, scripted.page, BACNET_NETWORK_PATH, 48)
  })
}
