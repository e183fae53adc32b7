import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { EdgeReturn } from '#shared/central/alerts/conditions.ts'
import test from 'ava'
import { SMTPServer } from 'smtp-server'
import type { EdgeTrouble } from '#shared/core/alerts/alert.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { BUILDING, EDGES, FINDINGS, NOW } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { addRoute, receiver, type Received, siteAt } from '../../../support/sites/alert-site.ts'
import { PASSWORDS, type TestCentral } from '../../../support/sites/central-site.ts'

/** An address on which nothing listens. */
async function freeUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<unknown>(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}/`
}

const [FAULT] = FINDINGS as [Finding]

const deliveriesOf = async (site: TestCentral) => (await site.call('operator', 'GET', '/api/alerts/deliveries')).body.deliveries

test('a fault is one webhook that its secret signs, and its recovery another', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  const { secret } = await addRoute(site, { webhook_url: url })
  stores.findings.put([FAULT])
  await round()
  await round(MINUTE)
  t.is(received.length, 1)
  const [{ headers, text, body }] = received as [Received]
  const signed = createHmac('sha256', secret).update(`${headers['x-plenum-timestamp']}.${text}`).digest('hex')
  t.is(headers['x-plenum-signature'], `v1=${signed}`)
  t.is(headers['x-plenum-delivery'], body.delivery_id)
  t.is(body.type, 'alert.raised')
  t.like(body.alert, { kind: FAULT.kind, building_id: BUILDING.building_id, path: `/faults/${FAULT.finding_id}` })
  t.is(Date.parse(body.alert.since), FAULT.from)

  stores.findings.put([{ ...FAULT, state: 'cleared', to: NOW }])
  await round(MINUTE)
  await round(5 * HOUR)
  t.is(received.length, 1)
  await round(HOUR)
  t.deepEqual(
    received.map(one => one.body.type),
    ['alert.raised', 'alert.recovered'],
  )
  t.deepEqual(
    (await deliveriesOf(site)).map((one: { state: string }) => one.state),
    ['sent', 'sent'],
  )
})

test('a delivery that fails is repeated with growing pauses, then given up, and sent again on request', async t => {
  const { url, received, answer } = await receiver(t)
  answer.status = 500
  const { site, round, stores } = await siteAt(t)
  await addRoute(site, { webhook_url: url })
  stores.findings.put([FAULT])
  await round()
  await round(MINUTE - 1)
  t.is(received.length, 1, 'not before its time')
  for (const pause of [1, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR]) await round(pause)
  await round(DAY / 2)
  t.is(received.length, 7)
  t.is(new Set(received.map(one => one.body.delivery_id)).size, 1, 'a receiver can drop what it has')
  const [failed] = await deliveriesOf(site)
  t.like(failed, { state: 'failed', error: 'answered 500', attempts: 7 })
  t.deepEqual((await site.call('admin', 'GET', '/api/health/details')).body.checks.alerts, {
    status: 'warn',
    detail: '1 alert not delivered in the last day',
  })

  answer.status = 204
  t.is((await site.call('operator', 'POST', `/api/alerts/deliveries/${failed.delivery_id}/resend`)).status, 200)
  await round(MINUTE)
  t.like((await deliveriesOf(site))[0], { state: 'sent', error: null, attempts: 1 })
})

test('a redirect is not followed, and a receiver that is not there is named', async t => {
  const { url, received, answer } = await receiver(t)
  answer.status = 302
  const { site } = await siteAt(t)
  const { route_id } = await addRoute(site, { webhook_url: url })
  const redirected = await site.call('admin', 'POST', `/api/alerts/routes/${route_id}/test`)
  t.like(redirected.body.delivery, { state: 'failed', error: 'answered 302', attempts: 1 })
  t.is(received.length, 1)
  const gone = await addRoute(site, { webhook_url: await freeUrl() })
  const refused = await site.call('admin', 'POST', `/api/alerts/routes/${gone.route_id}/test`)
  t.like(refused.body.delivery, { state: 'failed', error: 'not reached: ECONNREFUSED' })
})

test('an alert waits for the hours of its route, and is dropped when it recovers before', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  const days = [((new Date(NOW).getUTCDay() + 2) % 7) + 1]
  await addRoute(site, { webhook_url: url, hours: { days, from: '00:00', to: '24:00' }, urgent_at_once: false })
  stores.findings.put([FAULT])
  await round()
  stores.findings.put([{ ...FAULT, state: 'cleared', to: NOW }])
  await round(MINUTE)
  await round(7 * HOUR)
  await round(7 * DAY)
  t.is(received.length, 0)
  t.deepEqual(
    (await deliveriesOf(site)).map((one: { state: string }) => one.state),
    ['dropped'],
  )
})

test('the oldest of many thousand faults keeps its alert', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  await addRoute(site, { webhook_url: url, priority_max: 1 })
  const oldest = { ...FAULT, severity: 1 as const, from: NOW - 30 * DAY }
  stores.findings.put([oldest])
  await round()
  const newer = (i: number): Finding => ({ ...FAULT, finding_id: `newer-${i}`, equipment_id: `AHU-${i}`, severity: 4, from: NOW })
  stores.findings.put(Array.from({ length: 10_001 }, (_, i) => newer(i)))
  await round(MINUTE)
  await round(7 * HOUR)
  t.deepEqual(
    received.map(one => one.body.type),
    ['alert.raised'],
  )
})

test('a fault that has become more urgent is told with its sentence of now', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  await addRoute(site, { webhook_url: url })
  const told = (severity: Finding['severity'], sentence: string) =>
    stores.findings.put([{ ...FAULT, severity, evidence: { ...FAULT.evidence, sentence } }])
  told(4, 'It is 2 K too warm.')
  await round()
  told(4, 'It is 3 K too warm.')
  await round(MINUTE)
  told(1, 'It is 9 K too warm.')
  await round(MINUTE)
  t.deepEqual(
    received.map(one => one.body.alert.detail),
    ['It is 2 K too warm.', 'It is 9 K too warm.'],
  )
})

test('an edge that goes silent raises one alert and one recovery', async t => {
  const { url, received } = await receiver(t)
  const edgeReturn: EdgeReturn = ({ edge_id }, { from, to }) => `${edge_id} was silent for ${(to - from) / MINUTE} min`
  const { site, round, stores } = await siteAt(t, { watchEdges: true, edgeReturn })
  await addRoute(site, { webhook_url: url, kinds: ['edge'] })
  const edge = { ...EDGES[0]!, last_seen_at: NOW, online: false }
  stores.edges.put(edge)
  await round(15 * MINUTE)
  t.is(received.length, 0)
  for (let minute = 0; minute < 30; minute++) await round(MINUTE)
  t.deepEqual(
    received.map(one => one.body.type),
    ['alert.raised'],
  )
  const { title, detail, path } = received[0]!.body.alert
  t.regex(title, new RegExp(edge.edge_id))
  t.is(detail, 'The hub has received nothing from this edge; its session is closed.')
  t.is(path, `/edges/${edge.edge_id}?site_id=${edge.site_id}`)
  for (let minute = 0; minute < 30; minute++) {
    stores.edges.put({ ...edge, last_seen_at: NOW + (46 + minute) * MINUTE })
    await round(MINUTE)
  }
  t.deepEqual(
    received.map(one => one.body.type),
    ['alert.raised', 'alert.recovered'],
  )
  t.is(received[1]!.body.alert.detail, `${edge.edge_id} was silent for 46 min`, 'until it was heard again, not until it is over')
})

test('a trouble of an edge that sends is one alert while it wavers, waits while the edge is not heard, and recovers', async t => {
  const { url, received } = await receiver(t)
  let used = 80
  const edgeTroubles = (): EdgeTrouble[] =>
    used < 85
      ? []
      : [{ kind: 'disk', title: 'Disk nearly full', detail: `${used} %`, since: NOW, priority: 2, isRaised: used >= 90 }]
  const { site, round, stores } = await siteAt(t, { watchEdges: true, edgeTroubles })
  await addRoute(site, { webhook_url: url, kinds: ['disk'] })
  let now = NOW
  const pass = async (minutes: number, online = true) => {
    for (let minute = 0; minute < minutes; minute++) {
      now += MINUTE
      stores.edges.put({ ...EDGES[0]!, last_seen_at: online ? now : now - MINUTE, online })
      await round(MINUTE)
    }
  }
  const types = () => received.map(one => one.body.type)
  await pass(20)
  used = 87
  await pass(20)
  t.deepEqual(types(), [], 'below the limit nothing is raised')
  used = 91
  await pass(20)
  used = 87
  await pass(20)
  used = 91
  await pass(20)
  t.deepEqual(types(), ['alert.raised'])
  used = 80
  await pass(20, false)
  t.deepEqual(types(), ['alert.raised'], 'nobody knows while its session is closed')
  await pass(20)
  t.deepEqual(types(), ['alert.raised', 'alert.recovered'])
  t.like(received[0]!.body.alert, { kind: 'disk', detail: '91 %', path: received[1]!.body.alert.path })
})

test('a fault that somebody dismissed or snoozed raises no alert', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  await addRoute(site, { webhook_url: url })
  stores.findings.put([FAULT])
  const until = new Date(NOW + HOUR).toISOString()
  const snoozed = await site.call('operator', 'POST', `/api/fdd/findings/${FAULT.finding_id}/snooze`, { until })
  t.is(snoozed.status, 200, snoozed.text)
  await round()
  t.is(received.length, 0)
  await round(2 * HOUR)
  t.is(received.length, 1)
})

test('a snoozed fault is quiet in its next episodes too, and raises an alert when the time ends while it is active', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  await addRoute(site, { webhook_url: url })
  const types = () => received.map(one => one.body.type)
  stores.findings.put([FAULT])
  await round()
  t.deepEqual(types(), ['alert.raised'])
  const path = `/api/fdd/findings/${FAULT.finding_id}/snooze`
  const until = new Date(NOW + 2 * DAY).toISOString()
  const answer = await site.call('operator', 'POST', path, { until, scope: 'fault', reason: 'the valve is ordered' })
  t.is(answer.status, 200, answer.text)
  for (let hour = 0; hour < 12; hour++) await round(HOUR)
  t.deepEqual(types(), ['alert.raised'], 'it is not over: it was snoozed')
  stores.findings.put([
    { ...FAULT, state: 'cleared', to: NOW + HOUR },
    { ...FAULT, finding_id: 'next', from: NOW + 12 * HOUR },
  ])
  for (let hour = 0; hour < 12; hour++) await round(HOUR)
  t.deepEqual(types(), ['alert.raised'], 'nothing is told of the next episode')
  await round(DAY + MINUTE)
  t.deepEqual(types(), ['alert.raised', 'alert.raised'])
  t.is(received[1]!.body.alert.path, '/faults/next')
})

test('an alert that waits for its hours is not delivered once its fault is snoozed', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  const hours = { days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:01' }
  await addRoute(site, { webhook_url: url, hours })
  stores.findings.put([{ ...FAULT, severity: 3 }])
  await round()
  t.is((await deliveriesOf(site))[0].state, 'waiting')
  const until = new Date(NOW + 3 * DAY).toISOString()
  const body = { until, scope: 'equipment', reason: 'rebuilt' }
  t.is((await site.call('operator', 'POST', `/api/fdd/findings/${FAULT.finding_id}/snooze`, body)).status, 200)
  await round(MINUTE)
  t.is((await deliveriesOf(site))[0].state, 'dropped')
  await round(DAY)
  t.is(received.length, 0)
})

test('a weekly digest counts the faults of each building', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  await addRoute(site, { webhook_url: url, kinds: ['edge'], digest_day: 1 })
  stores.findings.put([FAULT])
  for (let day = 0; day < 8; day++) await round(DAY)
  t.deepEqual(
    received.map(one => one.body.type),
    ['digest'],
  )
  const [{ buildings }] = received.map(one => one.body)
  t.like(buildings[0], { building_id: BUILDING.building_id })
  t.is(buildings[0].open.length, 1)
})

test('a mail goes through a real SMTP server with sender, receivers and the figures', async t => {
  const mails: { from: string; to: string[]; text: string }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const { mailFrom, rcptTo } = session.envelope
      void stream.toArray().then(parts => {
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: parts.join(''),
        })
        callback()
      })
    },
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => server.close(() => resolve())))
  const port = (server.server.address() as AddressInfo).port
  const { site, round, stores } = await siteAt(t, { mail: { url: `smtp://127.0.0.1:${port}`, from: 'plenum@example.org' } })
  await addRoute(site, { mail_to: ['one@example.org', 'two@example.org'] })
  stores.findings.put([{ ...FAULT, title: 'Heißes Wasser zu kalt' }])
  await round()
  t.is(mails.length, 1)
  const [{ from, to, text }] = mails as [(typeof mails)[number]]
  t.is(from, 'plenum@example.org')
  t.deepEqual(to, ['one@example.org', 'two@example.org'])
  t.regex(text, /^X-Plenum-Delivery: [0-9a-f-]{36}\r$/im)
  t.regex(text, /^Subject: =\?UTF-8\?/m)

  await new Promise<void>(resolve => server.close(() => resolve()))
  const [{ route_id }] = (await site.call('operator', 'GET', '/api/alerts/routes')).body.routes
  const failed = await site.call('admin', 'POST', `/api/alerts/routes/${route_id}/test`)
  t.is(failed.body.delivery.state, 'failed')
  t.regex(failed.body.delivery.error, /ECONNREFUSED/)
})

for (const [title, body, status, pointer] of [
  ['an address of another scheme', { webhook_url: 'ftp://example.org' }, 400, '/webhook_url'],
  ['a web address without a host', { webhook_url: 'http://:80' }, 422, '/webhook_url'],
  ['no receiver', {}, 422, '/webhook_url'],
  ['two kinds of receivers', { webhook_url: 'http://x/', mail_to: ['a@example.org'] }, 422, '/webhook_url'],
  ['mail without a server', { mail_to: ['a@example.org'] }, 422, '/mail_to'],
  [
    'hours that end before they begin',
    { webhook_url: 'http://x/', hours: { days: [1], from: '17:00', to: '07:00' } },
    422,
    '/hours',
  ],
  ['an hour that is none', { webhook_url: 'http://x/', hours: { days: [1], from: '25:00', to: '26:00' } }, 400, '/hours/from'],
  ['a line end in a mail address', { mail_to: ['a@b.org\r\nBcc: c@d.org'] }, 400, '/mail_to/0'],
] as [string, object, number, string][]) {
  test(`an alert route with ${title} is refused by the name of the field`, async t => {
    const { site } = await siteAt(t)
    const answer = await site.call('admin', 'POST', '/api/alerts/routes', { name: 'x', ...body })
    t.is(answer.status, status, answer.text)
    t.is(answer.body.errors[0].pointer, pointer)
  })
}

test('a removed route gets nothing more, and its secret is never shown again', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t)
  const { route_id, secret } = await addRoute(site, { webhook_url: url })
  const listed = await site.call('admin', 'GET', '/api/alerts/routes')
  t.false(listed.text.includes(secret))
  const audit = await site.call('admin', 'GET', '/api/audit')
  t.false(audit.text.includes(secret))
  t.is((await site.call('admin', 'DELETE', `/api/alerts/routes/${route_id}`)).status, 200)
  stores.findings.put([FAULT])
  await round()
  t.is(received.length, 0)
  t.is((await site.call('admin', 'DELETE', `/api/alerts/routes/${route_id}`)).status, 404)
})

test('the page adds a route, shows its secret once, sends a test, switches the route off and removes it', async t => {
  const { url, received } = await receiver(t)
  const { site } = await siteAt(t)
  const admin = await signedIn(site.url, 'admin', PASSWORDS.admin)
  const post = async (path: string, fields: Record<string, string>) => {
    const response = await admin.post(path, '/alerts', fields)
    return { status: response.status, text: await response.text() }
  }
  const page = async () => (await admin.get('/alerts')).text()
  const form = {
    ...{ name: 'Plant <b>team</b>', webhook_url: url, mail_to: '', building_id: BUILDING.building_id, kind: 'sensor' },
    ...{ priority_max: '2', hours: 'working', from: '07:00', to: '17:00', urgent_at_once: 'true', digest_day: '1' },
  }
  const added = await post('/alerts', form)
  t.is(added.status, 200, added.text)
  const secret = /data-secret>([\w-]{43})</.exec(added.text)?.[1]
  t.truthy(secret)
  const shown = await page()
  t.false(shown.includes(secret!))
  t.false(shown.includes('<b>team'), 'a name is text')
  t.regex(shown, /high and medium priority, sensor, in .*; Monday to Friday 07:00–17:00, high priority at once; digest on Monday/)

  const [{ route_id }] = (await site.call('operator', 'GET', '/api/alerts/routes')).body.routes
  t.is((await post('/alerts/test', { route_id })).status, 303)
  t.is(received.length, 1)
  t.is((await post('/alerts/enable', { route_id, enabled: 'false' })).status, 303)
  t.true((await page()).includes('(off)'))
  t.is((await post('/alerts/remove', { route_id })).status, 303)
  t.true((await page()).includes('None yet: no alert is sent.'))

  t.is((await post('/alerts', { ...form, from: '' })).status, 422)
  t.is((await post('/alerts', { ...form, webhook_url: '' })).status, 422)
})
