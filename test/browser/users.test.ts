import anyTest, { type TestFn } from 'ava'
import type { Page } from 'playwright-core'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser; site: TestSite }>
test.before(async t => {
  t.context = { chromium: await openChromium(), site: await openSite({ product: 'hub' }) }
})
test.after.always(async t => {
  await t.context.chromium.close()
  await t.context.site.close()
})

const OWN = 'a password of my own'

async function tryToSignIn(page: Page, password: string): Promise<void> {
  await page.goto('/login')
  await page.getByLabel('Name').fill('ada')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test.serial('a person gets a first password, chooses another, and is locked out', async t => {
  const { site, chromium } = t.context
  const admin = await openPage(chromium.browser, site.url, { viewport: { width: 1280, height: 900 } })
  const person = await openPage(chromium.browser, site.url, { viewport: { width: 390, height: 844 } })
  t.teardown(admin.close)
  t.teardown(person.close)
  await admin.page.goto('/login')
  await signIn(admin.page, 'admin', PASSWORDS.admin)
  await admin.page.getByRole('link', { name: /^(Set-up|Admin)$/ }).click()
  await admin.page.getByRole('link', { name: /^Users / }).click()
  await admin.page.getByLabel('User name').fill('ada')
  await admin.page.getByRole('button', { name: 'Add person' }).click()
  const first = await admin.page.locator('[data-secret]').innerText()

  await tryToSignIn(person.page, first)
  await person.page.getByRole('heading', { name: 'Choose your password' }).waitFor()
  await person.page.locator('[name=password]').fill(first)
  await person.page.locator('[name=new_password]').fill(OWN)
  await person.page.locator('[name=new_password_again]').fill(OWN)
  await person.page.getByRole('button', { name: 'Set password' }).click()
  await person.page.goto('/faults')
  await person.page.getByRole('heading', { level: 1, name: 'Faults' }).waitFor()
  await person.page.goto('/setup')
  t.is(await person.page.getByRole('link', { name: 'Users' }).count(), 0, 'a viewer is offered no page for administrators')

  await admin.page.goto('/users')
  const row = admin.page.getByRole('row').filter({ hasText: 'ada' })
  await row.getByRole('button', { name: 'Lock' }).click()
  await row.getByRole('button', { name: 'Unlock' }).waitFor()
  await person.page.goto('/faults')
  t.is(new URL(person.page.url()).pathname, '/login', 'the lock ends the session')
  await tryToSignIn(person.page, OWN)
  await person.page.getByRole('alert').waitFor()

  await admin.page.goto('/audit')
  await admin.page.getByLabel('Action').selectOption('change_user')
  await admin.page.getByRole('button', { name: 'Show' }).click()
  await admin.page.waitForURL(/action=change_user/)
  t.is(await admin.page.locator('tbody tr').count(), 1)
  t.true((await admin.page.locator('tbody tr').innerText()).includes('ada'))
  t.deepEqual(admin.complaints, [])
})

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test.serial(`users and audit are clean through ${name}`, async t => {
    const { site, chromium } = t.context
    const { page, complaints, close } = await openPage(chromium.browser, site.url, look)
    t.teardown(close)
    await page.goto('/login')
    await signIn(page, 'admin', PASSWORDS.admin)
    for (const path of ['/users', '/audit']) {
      await page.goto(path)
      await expectClean(t, page, path, 24)
    }
    t.deepEqual(complaints, [])
  })
}
