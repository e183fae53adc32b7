/** A box that has just been switched on: how it is found, and how somebody signs in with a browser. `scripts/test --image`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { openChromium } from '#scripts/lib/chromium.ts'
import { Box } from '#scripts/lib-emulator/box.ts'
import { IMAGE } from '#scripts/lib-emulator/built-image.ts'
import { UPLINK_ADDRESS } from './address.ts'
import { FIRST_BOOT_LOG } from './versions.ts'

const folder = mkdtempSync(join(tmpdir(), 'plenum-first-boot-'))
const box = new Box(folder, IMAGE, FIRST_BOOT_LOG)
const wires = await box.openWires()
test.after.always(async () => {
  await box.cut()
  for (const wire of Object.values(wires)) wire.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Machines on the two networks of the box. */
const [ON_UPLINK, ON_FIELD] = ['10.0.8.77', '10.0.9.77'] as const
const FIELD_ADDRESS = '10.0.9.15'
/** Questions, one a second. */
const TIMES = 600
const SILENT_TIMES = 30
/** A page of the box takes seconds in the emulator. */
const PAGE_MS = 300_000
const OWN_PASSWORD = 'a password of my own'

test.serial(
  'the box says by multicast which address its name has, on the uplink and not on the network of the controllers',
  async t => {
    const { uplink, field } = wires
    await box.start()
    await box.signIn()
    const name = `${await box.name()}.local`
    t.is(await uplink.addressOf(name, ON_UPLINK, TIMES), UPLINK_ADDRESS)
    t.true(await field.has(FIELD_ADDRESS, ON_FIELD, TIMES), 'it is on that network')
    t.is(await field.addressOf(name, ON_FIELD, SILENT_TIMES), undefined)
    t.is(await uplink.addressOf('plenum-none.local', ON_UPLINK, SILENT_TIMES), undefined)
    t.is(await uplink.addressOf(name, ON_UPLINK, TIMES), UPLINK_ADDRESS, 'it answers still')
  },
)

test.serial(
  'with the password of the console somebody signs in, adds a person who sets a password, and sees the first steps',
  async t => {
    const chromium = await openChromium()
    t.teardown(chromium.close)
    // `signIn` has compared the certificate with the fingerprint on the console.
    const context = await chromium.browser.newContext({ baseURL: box.url, ignoreHTTPSErrors: true })
    context.setDefaultTimeout(PAGE_MS)
    const page = await context.newPage()
    const signIn = async (name: string, password: string) => {
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await page.goto('/')
    await signIn('admin', box.password)
    await page.getByRole('link', { name: 'Go on with the first steps' }).click()
    await page.getByRole('link', { name: 'Add people' }).click()
    await page.getByLabel('User name').fill('ann')
    await page.getByLabel('Role').first().selectOption('admin')
    await page.getByRole('button', { name: 'Add person' }).click()
    const first = await page.locator('[data-secret]').innerText()
    await context.clearCookies()

    await page.goto('/first-steps')
    await signIn('ann', first)
    await page.locator('[name=password]').fill(first)
    await page.locator('[name=new_password]').fill(OWN_PASSWORD)
    await page.locator('[name=new_password_again]').fill(OWN_PASSWORD)
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByRole('heading', { level: 1, name: 'First steps' }).waitFor()
    t.is(await page.locator('#step-people h2 .marked').innerText(), 'done')
    t.is(await page.locator('#step-devices h2 .marked').innerText(), 'open')
  },
)
