/** The network of a box by its page: asked for, tried, kept. The system of the box is the folder that both watch. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import { openNetwork } from '#appliance/system/network.ts'
import { networkRoutes } from '#appliance/system/network.routes.ts'
import { NOW } from '../../support/page-fixture.ts'
import { openSite, PASSWORDS } from '../../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from '../chromium.ts'
import { expectClean, looks } from '../looks.ts'
import { openPage, signIn } from '../watch.ts'

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context = { chromium: await openChromium() }
})
test.after.always(t => t.context.chromium.close())

const RUNS = { uplink: { interface: 'eth0' }, ot: { interface: 'eth1', address: '10.20.0.5/16', name_servers: ['10.20.0.1'] } }

async function open(t: ExecutionContext<{ chromium: OpenBrowser }>, look = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-network-'))
  const put = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value))
  put('current.json', RUNS)
  const network = openNetwork(folder, () => false)
  const box = await openSite({ product: 'appliance', empty: true, more: layout => networkRoutes(network, layout) })
  t.teardown(async () => {
    await box.close()
    rmSync(folder, { recursive: true })
  })
  const { page, complaints, close } = await openPage(t.context.chromium.browser, box.url, look)
  t.teardown(close)
  await signIn(page, 'admin', PASSWORDS.admin, '/network')
  const asked = () => JSON.parse(readFileSync(join(folder, 'wanted.json'), 'utf8')) as unknown
  const starts = (state: string) => {
    rmSync(join(folder, 'wanted.json'), { force: true })
    put('state.json', { state, reason: '', at: new Date(NOW).toISOString().replace(/\.\d+Z$/, 'Z') })
  }
  return { page, complaints, asked, starts, put, network }
}

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test.serial(`the network is clean through ${name}`, async t => {
    const { page, complaints, starts } = await open(t, look)
    await expectClean(t, page, '/network', 48)
    starts('trying')
    await page.reload()
    await expectClean(t, page, '/network while it tries', 48)
    t.deepEqual(complaints, [])
  })
}

test.serial(
  'on a phone without script an admin gives the box an address, is told what is wrong with another, and keeps it',
  async t => {
    const look = { javaScriptEnabled: false, viewport: { width: 390, height: 844 } }
    const { page, complaints, asked, starts, network } = await open(t, look)
    const uplink = page.locator('section', { hasText: 'Network of the page and the hub' })
    await uplink.getByLabel('A fixed address').check()
    await uplink.getByLabel('Address with prefix').fill('10.9.0.7')
    await page.getByRole('button', { name: 'Save and start' }).click()
    t.is(
      await page.locator('#refusal').innerText(),
      'Network of the page and the hub, address: is no IPv4 address with its prefix, as 192.168.10.5/24',
    )
    await uplink.getByLabel('Address with prefix').fill('10.9.0.7/24')
    await uplink.getByLabel('Gateway').fill('10.8.0.1')
    await page.getByLabel('Time servers').fill('10.9.0.2, time.example')
    await page.getByRole('button', { name: 'Save and start' }).click()
    t.regex(await page.locator('#refusal').innerText(), /10\.8\.0\.1 is not in the network 10\.9\.0\.7\/24/)
    t.is(await uplink.getByLabel('Address with prefix').inputValue(), '10.9.0.7/24', 'what was typed stays')
    await uplink.getByLabel('Gateway').fill('10.9.0.1')
    await page.getByRole('button', { name: 'Save and start' }).click()
    t.deepEqual(asked(), {
      uplink: { address: '10.9.0.7/24', gateway: '10.9.0.1' },
      ot: { address: '10.20.0.5/16', name_servers: ['10.20.0.1'] },
      time_servers: ['10.9.0.2', 'time.example'],
    })
    t.true(await page.getByRole('button', { name: 'Save and start' }).isDisabled())
    starts('trying')
    await page.goto('/network')
    await page.getByRole('button', { name: 'Keep these settings' }).click()
    t.is(network.trial()?.state, 'trying', 'the system says when they are kept')
    starts('kept')
    await page.goto('/network')
    t.true(await page.getByText('The settings that were tried last are kept.').isVisible())
    t.deepEqual(
      complaints.filter(text => !text.includes('422')),
      [],
    )
  },
)
