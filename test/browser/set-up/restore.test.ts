/** A backup is restored by page: what it holds is seen before it is confirmed, and a wrong passphrase is named. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { folder } from '../../support/folders.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

const PASSPHRASE = 'a passphrase of the test'

for (const [name, look] of looks('a desk at night', 'a phone in daylight')) {
  test.serial(`a backup is uploaded, compared, confirmed and discarded through ${name}`, async t => {
    const box = await openSite({ product: 'appliance', restore: true })
    const chromium = await openChromium()
    t.teardown(async () => {
      await chromium.close()
      await box.close()
    })
    const file = join(folder(t), 'x.backup')
    await writeFile(file, (await box.context.backups.create(PASSPHRASE)).stream)
    const { page, complaints, close } = await openPage(chromium.browser, box.url, look)
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin, '/backups')
    await page.getByRole('link', { name: 'Restore a backup' }).click()
    await expectClean(t, page, 'upload', 48)
    const upload = async (passphrase: string) => {
      await page.getByLabel('Passphrase of the backup').fill(passphrase)
      await page.getByLabel('File of the backup').setInputFiles(file)
      await page.getByRole('button', { name: 'Upload and check' }).click()
    }
    await upload('another passphrase')
    await page.getByRole('alert').getByText('the passphrase is wrong').waitFor()
    await upload(PASSPHRASE)
    await page.getByRole('heading', { name: 'What it holds, and what it replaces' }).waitFor()
    await expectClean(t, page, 'comparison', 48)
    await page.getByLabel('Replace what is in use').check()
    await page.getByRole('button', { name: 'Restore at the next start' }).click()
    await page.getByRole('heading', { name: 'Waits for the next start' }).waitFor()
    await expectClean(t, page, 'waiting', 48)
    t.like(box.context.audit.list({ limit: 1 })[0], { actor: 'admin', action: 'confirm_restore', subject: 'riverside' })
    await page.getByRole('button', { name: 'Discard the upload' }).click()
    await page.getByRole('button', { name: 'Upload and check' }).waitFor()
    t.deepEqual(
      complaints.filter(one => !one.includes('422')),
      [],
    )
  })
}

test.serial(
  'a program that is started again by itself restarts when a restore is confirmed, and the page goes on once it answers',
  async t => {
    let restarts = 0
    const box = await openSite({ product: 'appliance', restore: true, restart: () => restarts++ })
    const chromium = await openChromium()
    t.teardown(async () => {
      await chromium.close()
      await box.close()
    })
    const file = join(folder(t), 'x.backup')
    await writeFile(file, (await box.context.backups.create(PASSPHRASE)).stream)
    const { page, complaints, close } = await openPage(chromium.browser, box.url, { viewport: { width: 390, height: 844 } })
    t.teardown(close)
    await signIn(page, 'admin', PASSWORDS.admin, '/backups/restore')
    await page.getByLabel('Passphrase of the backup').fill(PASSPHRASE)
    await page.getByLabel('File of the backup').setInputFiles(file)
    await page.getByRole('button', { name: 'Upload and check' }).click()
    await page.getByText('starts again at once').waitFor()
    let isUp = false
    await page.route('**/api/health', call => (isUp ? call.fulfill({ status: 200, json: {} }) : call.abort()))
    await page.getByLabel('Replace what is in use').check()
    await page.getByRole('button', { name: 'Restore and start again now' }).click()
    await page.getByRole('heading', { name: 'The program starts again and puts the backup in place' }).waitFor()
    t.is(restarts, 1)
    await expectClean(t, page, 'starts again', 48)
    await page.waitForEvent('requestfailed')
    t.is(new URL(page.url()).pathname, '/backups/restore/confirm')
    isUp = true
    await page.waitForURL(url => url.pathname === '/backups/restore')
    t.is(restarts, 1)
    t.deepEqual(
      complaints.filter(one => !one.includes('ERR_FAILED')),
      [],
    )
  },
)
