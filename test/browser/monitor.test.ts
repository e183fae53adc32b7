/** The page of MQTT messages, which adds what comes without being loaded again. */
import anyTest, { type TestFn } from 'ava'
import { monitorRoutes } from '#hub/monitor/monitor.route.ts'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'
import { openSite, PASSWORDS, type TestSite } from '../support/sites/page-site.ts'
import { openChromium, type OpenBrowser } from './chromium.ts'
import { expectClean, looks } from './looks.ts'
import { gapsBetween, openPage, signIn } from './watch.ts'

const TOPIC = 'sites/riverside/edges/fieldbus-1/telemetry/bacnet'
const MARKUP = Buffer.from('{"name":"<img src=x onerror=document.title=1>"}')

const test = anyTest as TestFn<{ chromium: OpenBrowser }>
test.before(async t => {
  t.context = { chromium: await openChromium() }
})
test.after.always(t => t.context.chromium.close())

async function openMonitorSite(now = Date.now): Promise<{ site: TestSite; monitor: MqttMonitor }> {
  const monitor = new MqttMonitor(now)
  monitor.setConnected(true)
  monitor.record('received', TOPIC, Buffer.from('{"seq":1}'))
  return { monitor, site: await openSite({ product: 'hub', more: layout => monitorRoutes(monitor, layout) }) }
}

test('a new message appears as text, and pause holds back what comes until it ends', async t => {
  const { site, monitor } = await openMonitorSite()
  t.teardown(site.close)
  const { page, complaints, close } = await openPage(t.context.chromium.browser, site.url)
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/mqtt')
  const items = page.locator('.messages li')
  t.is(await items.count(), 1)
  await page.getByText('Connected to the broker.').waitFor()
  monitor.record('received', TOPIC, MARKUP)
  await items.nth(1).waitFor()
  await items.first().locator('summary').click()
  t.is(await items.first().locator('pre').textContent(), MARKUP.toString())
  t.is(await page.title(), 'MQTT messages · Campus hub · Plenum')
  await page.getByRole('button', { name: 'Pause' }).click()
  monitor.record('sent', 'sites/riverside/edges/fieldbus-1/acks', Buffer.from('{}'))
  await page.getByRole('button', { name: 'Go on (1 waiting)' }).click()
  await items.nth(2).waitFor()
  t.regex((await items.first().textContent())!, /acks to the edge, 2 bytes/)
  t.deepEqual(complaints, [])
})

test('a message that comes has the clock of the page, to the second, wherever the browser is', async t => {
  const at = Date.UTC(2026, 6, 1, 16, 30, 5)
  const { site, monitor } = await openMonitorSite(() => at)
  t.teardown(site.close)
  const { page, close } = await openPage(t.context.chromium.browser, site.url, { timezoneId: 'Asia/Tokyo' })
  t.teardown(close)
  await signIn(page, 'viewer', PASSWORDS.viewer, '/mqtt')
  const times = page.locator('.messages time')
  const before = await times.first().textContent()
  t.regex(before!, /\d\d:\d\d:05$/)
  monitor.record('received', TOPIC, MARKUP)
  await times.nth(1).waitFor()
  t.true(Math.min(...(await gapsBetween(page, '.messages li:first-child summary > *'))) >= 4, 'time, topic and side stand apart')
  t.true(before!.endsWith((await times.first().textContent())!), `${before} and ${await times.first().textContent()}`)
})

test('what the script writes is in the language of the page', async t => {
  const { site, monitor } = await openMonitorSite()
  t.teardown(site.close)
  const { page, close } = await openPage(t.context.chromium.browser, site.url, { locale: 'de-DE' })
  t.teardown(close)
  await page.goto('/mqtt')
  await page.getByLabel('Name').fill('viewer')
  await page.getByLabel('Kennwort').fill(PASSWORDS.viewer)
  await page.getByRole('button', { name: 'Anmelden' }).click()
  await page.getByText('Mit dem Broker verbunden.', { exact: true }).waitFor()
  await page.getByText('1 Nachrichten seit dem Start').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  monitor.record('sent', TOPIC, MARKUP)
  await page.getByRole('button', { name: 'Weiter (1 warten)' }).click()
  await page.getByText(`zum Edge, ${MARKUP.length} Byte`).waitFor()
  t.pass()
})

test('where no stream can be had the page asks every second', async t => {
  const { site, monitor } = await openMonitorSite()
  t.teardown(site.close)
  const { page, close } = await openPage(t.context.chromium.browser, site.url)
  t.teardown(close)
  await page.route('**/api/mqtt/monitor/stream*', route => route.fulfill({ status: 503, body: '' }))
  await signIn(page, 'viewer', PASSWORDS.viewer, '/mqtt')
  monitor.record('received', TOPIC, MARKUP)
  await page.locator('.messages li').nth(1).waitFor()
  monitor.record('received', TOPIC, MARKUP)
  await page.locator('.messages li').nth(2).waitFor()
  await page.getByText('3 messages since the start').waitFor()
  t.pass()
})

for (const [name, look] of looks('a desk in daylight', 'a phone at night')) {
  test(`the page of messages is clean through ${name}`, async t => {
    const { site, monitor } = await openMonitorSite()
    t.teardown(site.close)
    monitor.record(
      'received',
      `sites/riverside/edges/${'long-'.repeat(20)}/status`,
      Buffer.from(`{"text":"${'x'.repeat(3000)}"}`),
    )
    const { page, close } = await openPage(t.context.chromium.browser, site.url, look)
    t.teardown(close)
    await signIn(page, 'viewer', PASSWORDS.viewer, '/mqtt')
    await page.locator('.messages summary').first().click()
    await expectClean(t, page, name, 24)
  })
}
