/** A newcomer enrols a second box by the page: from the sign-in to a session of the box. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import anyTest, { type TestFn } from 'ava'
import { connectAsync } from 'mqtt'
import { openEnrolment } from '#appliance/kit/enrolment.ts'
import { hubRoutes } from '#appliance/pages/hub.route.ts'
import { commonName } from '#shared/core/auth/identity.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { folder } from '../support/folders.ts'
import { makeHubAuthority, openEnrolSite } from '../support/sites/enrol-site.ts'
import { openSite, PASSWORDS } from '../support/sites/page-site.ts'
import { silent, startBroker } from '../support/sites/transport-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, overflow, signIn } from './watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context = { chromium: await openChromium() }
})
test.after.always(t => t.context.chromium.close())

test('a kit is made by the page, opens the broker, and is revoked by the page', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const broker = await startBroker(hub)
  t.teardown(() => broker.stop())
  const site = await openEnrolSite(hub, broker.port())
  t.teardown(site.close)
  const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url)
  t.teardown(close)
  await signIn(page, 'agent', PASSWORDS.agent, '/enrol')
  await page.getByLabel('Site', { exact: true }).fill('riverside')
  await page.getByLabel('Box (edge id)').fill('box-2')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the kit' }).click(),
  ])
  t.is(download.suggestedFilename(), 'kit-riverside-box-2.zip')
  const kit = await readKit(await download.path(), Date.now())
  const { cert_pem: cert, key_pem: key, ca_pem: ca, edge } = kit
  const options = { cert, key, ca, clientId: commonName({ kind: 'edge', ...edge }), reconnectPeriod: 0 }
  const box = await connectAsync(`mqtts://${edge.broker_host}:${edge.broker_port}`, options, false)
  t.teardown(() => box.endAsync(true))
  box.on('error', () => undefined)

  // WCAG 2.2, 1.4.10: what a page of 1,280 pixels has at 400 %.
  await page.setViewportSize({ width: 320, height: 256 })
  await page.goto('/enrol')
  t.is(await overflow(page), 0)
  const row = page.getByRole('row').filter({ hasText: 'box-2' })
  await row.getByText('Revoke', { exact: true }).first().click()
  const ended = new Promise(resolve => box.once('close', () => resolve(undefined)))
  await row.getByLabel('box-2 can no longer connect').check()
  await row.getByRole('button', { name: 'Revoke' }).click()
  await ended
  await page.getByRole('row').filter({ hasText: 'revoked' }).waitFor()
  t.deepEqual(complaints, [])
})

test('a newcomer enrols a second box by the pages of box and hub', async t => {
  const { hub } = await makeHubAuthority(folder(t))
  const broker = await startBroker(hub)
  t.teardown(() => broker.stop())
  const site = await openEnrolSite(hub, broker.port())
  t.teardown(site.close)
  const dir = folder(t)
  const enrolment = await newBox(dir)
  t.teardown(() => enrolment.service.stop())
  const box = await openSite({ product: 'appliance', more: layout => hubRoutes(enrolment, layout) })
  t.teardown(box.close)

  const onHub = await openPage(t.context.chromium.browser, site.url)
  t.teardown(onHub.close)
  await signIn(onHub.page, 'agent', PASSWORDS.agent, '/enrol')
  const line = await onHub.page.locator('#waiting code').first().textContent()
  const onBox = await openPage(t.context.chromium.browser, box.url)
  t.teardown(onBox.close)
  await signIn(onBox.page, 'admin', PASSWORDS.admin, '/hub')
  await onBox.page.getByLabel('Line of the page Enrol').fill(line!)
  await onBox.page.getByRole('button', { name: 'Ask for a certificate' }).click()
  const fingerprint = await onBox.page.locator('.figure code').textContent()

  // The box asks by itself, and the page of the hub does not refresh itself.
  for (const asked = onHub.page.locator('#waiting').getByText(fingerprint!); !(await asked.isVisible()); )
    await onHub.page.reload()
  await expectClean(t, onHub.page, '/enrol', 24)
  await expectClean(t, onBox.page, '/hub', 24)
  const waiting = onHub.page.getByRole('region', { name: /^Box [0-9a-f]{32}$/ })
  await waiting.getByLabel('Site', { exact: true }).fill('riverside')
  await waiting.getByLabel('Box (edge id)').fill('box-2')
  await waiting.getByRole('button', { name: 'Accept' }).click()
  await onHub.page.getByRole('row').filter({ hasText: 'box-2' }).waitFor()
  while (enrolment.state().state !== 'restarting') await onBox.page.waitForTimeout(100)
  await onBox.page.reload()
  await onBox.page.getByText('which starts again now').waitFor()

  const { cert_pem: cert, key_pem: key, ca_pem: ca, edge } = await readKit(join(dir, 'kit'), Date.now())
  const options = { cert, key, ca, clientId: commonName({ kind: 'edge', ...edge }), reconnectPeriod: 0 }
  const client = await connectAsync(`mqtts://${edge.broker_host}:${edge.broker_port}`, options, false)
  await client.endAsync(true)
  t.deepEqual([...onHub.complaints, ...onBox.complaints], [])
})

async function newBox(dir: string) {
  mkdirSync(join(dir, 'workspace', 'config'), { recursive: true })
  const own = { site_id: 'local', edge_id: 'plenum-ab12' }
  writeFileSync(join(dir, 'workspace', 'config', 'site.json'), JSON.stringify(own))
  const places = { kit: join(dir, 'kit'), workspace: join(dir, 'workspace'), settings: undefined }
  const enrolment = await openEnrolment({
    ...{ hub: undefined, edge: own, places, isAvailable: true, folder: join(dir, 'store') },
    ...{ restart: () => undefined, pollMs: 300, log: silent },
  })
  await enrolment.service.start()
  return enrolment
}

for (const [name, look] of looks('a desk in daylight', 'a desk at night', 'a phone in daylight', 'a phone at night')) {
  test(`the page Enrol is clean through ${name}`, async t => {
    const { hub } = await makeHubAuthority(folder(t))
    const site = await openEnrolSite(hub, 8883)
    t.teardown(site.close)
    const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url, look)
    t.teardown(close)
    await signIn(page, 'agent', PASSWORDS.agent, '/enrol')
    for (const edge_id of ['box-1', `box-${'x'.repeat(20)}`]) {
      await page.getByLabel('Site', { exact: true }).fill('riverside')
      await page.getByLabel('Box (edge id)').fill(edge_id)
      await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the kit' }).click()])
    }
    await page.goto('/enrol')
    t.is(await page.getByRole('row').count(), 3)
    await page.getByLabel('Site of the device').fill('riverside')
    await page.getByLabel('Device (edge id)').fill('chiller-1')
    await page.getByRole('button', { name: 'Make a secret' }).click()
    await page.locator('[data-secret]').waitFor()
    await expectClean(t, page, '/enrol/est', 24)
    await page.getByRole('link', { name: 'Back to Enrol' }).click()
    await page.getByRole('row').filter({ hasText: 'chiller-1' }).waitFor()
    await expectClean(t, page, '/enrol', 24)
    t.deepEqual(complaints, [])
  })
}
