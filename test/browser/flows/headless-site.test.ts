/** A script brings a box to its site by a stick, and another box takes its place: the commands, and what people see of it on both. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { atLeast } from '../../e2e/field-site.ts'
import { openChromium } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'
import { ADMIN, openFlow } from './stick-box.ts'

const PASSPHRASE = 'a passphrase of the test'
const EDGE = '/edges/edge-1?site_id=demo'
const DESK = looks('a desk in daylight')[0]![1]
const PHONE = looks('a phone at night')[0]![1]

test('a box comes to its site by a script and a stick, and another one takes its place with the backup of the first', async t => {
  t.timeout(300_000)
  const { dir, hub, provision, done, place, box } = await openFlow(t)
  const { browser, close } = await openChromium()
  t.teardown(close)
  const open = async (url: string, path: string, look: typeof DESK | typeof PHONE = DESK) => {
    const opened = await openPage(browser, url, look)
    t.teardown(opened.close)
    await signIn(opened.page, 'admin', ADMIN, path)
    return opened
  }
  await hub.start()

  // The script may be repeated, and its exit code says what became of it.
  const stick = join(dir, 'stick')
  writeFileSync(join(dir, 'plenum.json'), JSON.stringify({ uplink: { interface: 'eth0' }, ot: { interface: 'eth1' } }))
  const pack = ['pack-usb', ...place, '--out', stick, '--system', join(dir, 'plenum.json')]
  done(...pack)
  t.regex(done(...pack, '--json'), /"changed":false/)
  t.is(provision('pack-usb', '--out', stick).exit, 2)

  // Nobody is at the box: the stick says what became of it, and is not taken again.
  const first = await box('first', 1)
  t.is(first.prepare('secrets').exit, 0)
  const taken = first.takeStick(stick)
  t.is(taken.exit, 10, taken.text)
  t.regex(taken.result, /plenum\.json: network and clock are set/)
  t.regex(taken.result, /kit\.zip: this box is demo\/edge-1 and sends to 127\.0\.0\.1/)
  t.like(first.takeStick(stick), { exit: 0, result: taken.result })
  await first.configure()
  const old = first.appliance()
  await old.start()
  await atLeast(hub.url, 2)

  const onHub = await open(hub.url, '/')
  await onHub.page.getByRole('row').filter({ hasText: 'School' }).getByText('Operational').waitFor()
  await onHub.page.locator('td a[href^="/edges/"]').first().click()
  await onHub.page.getByText('session open, data fresh').waitFor()
  const onBox = await open(old.url, '/hub', PHONE)
  await onBox.page.getByText('This box has a kit and sends to 127.0.0.1').waitFor()
  await expectClean(t, onBox.page, '/hub', 24)
  await onBox.page.getByRole('main').getByRole('link', { name: 'Home' }).click()
  await onBox.page.getByText('Last confirmed by the hub').waitFor()

  // Somebody makes a backup before the box fails.
  await onBox.page.goto('/backups')
  await onBox.page.getByLabel('Passphrase').fill(PASSPHRASE)
  await onBox.page.getByLabel('The same again').fill(PASSPHRASE)
  const [backup] = await Promise.all([
    onBox.page.waitForEvent('download'),
    onBox.page.getByRole('button', { name: 'Download', exact: true }).click(),
  ])
  await backup.saveAs(join(dir, 'box.backup'))
  await old.kill()

  await onHub.page.getByText('session closed').first().waitFor({ timeout: 60_000 })
  await onHub.page.getByRole('link', { name: 'Replace this box' }).click()
  await onHub.page.getByText('its own history of priority arrays, are lost with it').waitFor()
  await expectClean(t, onHub.page, 'replace', 24)
  const [kit] = await Promise.all([
    onHub.page.waitForEvent('download'),
    onHub.page.getByRole('button', { name: 'Download the kit' }).click(),
  ])
  const another = join(dir, 'another-stick')
  mkdirSync(another)
  await kit.saveAs(join(another, 'kit.zip'))

  const second = await box('second', 2)
  t.is(second.prepare('secrets').exit, 0)
  t.like(second.takeStick(another), { exit: 10 })
  const fresh = second.appliance()
  await fresh.start()
  const onNew = await open(fresh.url, '/first-steps', PHONE)
  await onNew.page.getByRole('link', { name: 'Restore a backup' }).click()
  await onNew.page.getByRole('link', { name: 'Restore a backup' }).click()
  await onNew.page.getByLabel('Passphrase of the backup').fill(PASSPHRASE)
  await onNew.page.getByLabel('File of the backup').setInputFiles(join(dir, 'box.backup'))
  await onNew.page.getByRole('button', { name: 'Upload and check' }).click()
  await onNew.page.getByLabel('Replace what is in use').check()
  await onNew.page.getByRole('button', { name: 'Restore at the next start' }).click()
  await onNew.page.getByRole('heading', { name: 'Waits for the next start' }).waitFor()
  await fresh.stop()
  await fresh.start()

  // The backup brought devices and building, the kit the name: the hub has one edge, which goes on.
  await onHub.page.goto(EDGE)
  await onHub.page.getByText('session open, data fresh').waitFor({ timeout: 60_000 })
  await onHub.page.goto('/')
  t.is(await onHub.page.locator('tbody tr').filter({ hasText: 'School' }).count(), 1)
  await onHub.page.goto('/enrol#certificates')
  const state = (words: RegExp) =>
    onHub.page.locator('#certificates tbody tr').filter({ hasText: 'edge-1' }).filter({ hasText: words })
  t.is(await state(/revoked \d/).count(), 1)
  t.is(await state(/valid until/).count(), 1)

  // The first box is found again, and stays out.
  const before = (await atLeast(hub.url, 1)).length
  await old.start()
  await onBox.page.goto('/')
  await onBox.page.getByText('Not connected').first().waitFor({ timeout: 60_000 })
  t.true((await atLeast(hub.url, before + 2)).length > before, 'the new one goes on')
  await onHub.page.goto(EDGE)
  await onHub.page.getByText('session open, data fresh').waitFor()
  t.deepEqual([...onHub.complaints, ...onNew.complaints], [])
})
