/** A newcomer enrols a second box by the page: from the sign-in to a session of the box. */
import anyTest, { type TestFn } from 'ava'
import { connectAsync } from 'mqtt'
import { commonName } from '#shared/core/auth/identity.ts'
import { readKit } from '#shared/node/pki/kit-read.ts'
import { folder } from '../support/folders.ts'
import { makeHubAuthority, openEnrolSite } from '../support/sites/enrol-site.ts'
import { PASSWORDS } from '../support/sites/page-site.ts'
import { startBroker } from '../support/sites/transport-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { openPage, signIn } from './watch.ts'

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

  await page.goto('/enrol')
  const row = page.getByRole('row').filter({ hasText: 'box-2' })
  await row.getByText('Revoke', { exact: true }).first().click()
  const ended = new Promise(resolve => box.once('close', () => resolve(undefined)))
  await row.getByLabel('box-2 can no longer connect').check()
  await row.getByRole('button', { name: 'Revoke' }).click()
  await ended
  await page.getByRole('row').filter({ hasText: 'revoked' }).waitFor()
  t.deepEqual(complaints, [])
})

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
    await expectClean(t, page, '/enrol', 24)
    t.deepEqual(complaints, [])
  })
}
