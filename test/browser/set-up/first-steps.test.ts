/** The path from a new box to one that reads a building. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openNewBox } from '../../support/sites/new-box.ts'
import { PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context = { chromium: await openChromium() }
})
test.after.always(t => t.context.chromium.close())

const OWN = 'a password of my own'
const stateOf = (page: Page, step: string) => page.locator(`#step-${step} h2 .marked`).innerText()

async function open(t: ExecutionContext<{ chromium: OpenBrowser }>, look = {}) {
  const box = await openNewBox()
  t.teardown(box.close)
  const { page, complaints, close } = await openPage(t.context.chromium.browser, box.url, look)
  t.teardown(close)
  return { box, page, complaints }
}

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`the first steps and their form are clean through ${name}`, async t => {
    const { page, complaints } = await open(t, look)
    await signIn(page, 'admin', PASSWORDS.admin)
    for (const path of ['/', '/first-steps', '/site']) {
      await page.goto(path)
      await expectClean(t, page, path, 48)
    }
    t.deepEqual(complaints, [])
  })
}

test.serial('on a phone without script somebody adds an admin, names the building, leaves, and another goes on', async t => {
  const { box, page, complaints } = await open(t, { javaScriptEnabled: false, viewport: { width: 390, height: 844 } })
  await signIn(page, 'admin', PASSWORDS.admin)
  await page.getByRole('link', { name: 'Go on with the first steps' }).click()
  t.is(await stateOf(page, 'people'), 'open')
  await page.getByRole('link', { name: 'Add people' }).click()
  await page.getByLabel('User name').fill('ann')
  await page.getByLabel('Role').first().selectOption('admin')
  await page.getByRole('button', { name: 'Add person' }).click()
  const first = await page.locator('[data-secret]').innerText()
  await page.goto('/first-steps')
  t.is(await stateOf(page, 'people'), 'open', 'she has not chosen a password yet')
  await page.context().clearCookies()

  await page.goto('/first-steps')
  await page.getByLabel('Name').fill('ann')
  await page.getByLabel('Password').fill(first)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('[name=password]').fill(first)
  await page.locator('[name=new_password]').fill(OWN)
  await page.locator('[name=new_password_again]').fill(OWN)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('heading', { level: 1, name: 'First steps' }).waitFor()
  t.is(await stateOf(page, 'people'), 'done')

  await page.getByRole('link', { name: 'Name, id, time zone and units' }).click()
  await page.getByLabel('Name of the building').fill('Lakeside School')
  await page.getByLabel('Id of the building').fill('lakeside')
  await page.getByLabel('Time zone').fill('Europe/Bern')
  await page.getByRole('button', { name: 'Save' }).click()
  t.regex(await page.getByRole('alert').innerText(), /"Europe\/Bern" is no IANA zone/)
  t.is(await page.getByLabel('Name of the building').inputValue(), 'Lakeside School')
  await page.getByLabel('Time zone').fill('Europe/Zurich')
  await page.getByRole('button', { name: 'Save' }).click()
  t.is(await stateOf(page, 'building'), 'done')
  t.regex(
    await page.locator('#step-building').innerText(),
    /Lakeside School, lakeside, times in Europe\/Zurich[^]*counts from the next start/,
  )
  t.like(box.stored().building, { building_id: 'lakeside', timezone: 'Europe/Zurich' })

  box.now.devices = [{}]
  await page.goto('/first-steps')
  t.is(await stateOf(page, 'devices'), 'done')
  await page.getByRole('link', { name: 'Commission', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Commission' }).waitFor()
  t.deepEqual(
    complaints.filter(text => !text.includes('422')),
    [],
  )
})
