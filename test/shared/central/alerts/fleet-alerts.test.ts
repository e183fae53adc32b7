import test from 'ava'
import type { EdgeTrouble } from '#shared/core/alerts/alert.ts'
import type { EdgeRefusal } from '#shared/core/stores.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { BUILDING, EDGES, NOW } from '../../../support/page-fixture.ts'
import { addRoute, receiver, siteAt } from '../../../support/sites/alert-site.ts'

const fleet = (count: number, seenAt: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => ({ ...EDGES[0]!, edge_id: `box-${n}`, last_seen_at: seenAt(n), online: true }))

test('when the broker is lost, one alert stands for a fleet, and those that do not come back are raised each', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t, { watchEdges: true })
  stores.model.put({ building: { ...BUILDING, building_id: 'annex' } })
  await addRoute(site, { webhook_url: url, kinds: ['edge'], building_ids: ['annex'] })
  await addRoute(site, { webhook_url: url, kinds: ['edge'] })
  const told = () => received.splice(0).map(({ body }) => `${body.type} ${body.alert.title} ${body.alert.building_id}`)
  let now = NOW
  const pass = async (minutes: number, present: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      now += MINUTE
      stores.edges.put(...fleet(present, n => now - (n % 4) * MINUTE))
      await round(MINUTE)
    }
  }
  await pass(20, 40)
  t.deepEqual(told(), [])
  await pass(40, 0)
  t.deepEqual(told(), ['alert.raised Most edges send no data ', 'alert.raised Most edges send no data '])
  await pass(30, 38)
  const back = told()
  t.deepEqual(
    back.slice(0, 2).map(text => text.slice(0, 17)),
    ['alert.raised Edge', 'alert.raised Edge'],
  )
  t.deepEqual(back.slice(2), ['alert.recovered Most edges send no data ', 'alert.recovered Most edges send no data '])
  t.is(back.length, 4)
})

test('a clock of the hub that is set, ahead or back, makes no edge silent, and a silence after it is noticed', async t => {
  const { url, received } = await receiver(t)
  const { site, round, stores } = await siteAt(t, { watchEdges: true })
  await addRoute(site, { webhook_url: url, kinds: ['edge'] })
  let now = NOW
  const pass = async (ms: number, isSending = true) => {
    now += ms
    await round(ms)
    if (isSending) stores.edges.put(...fleet(3, () => now))
  }
  for (let minute = 0; minute < 20; minute++) await pass(MINUTE)
  await pass(400 * DAY)
  for (let minute = 0; minute < 20; minute++) await pass(MINUTE)
  await pass(-400 * DAY)
  for (let minute = 0; minute < 20; minute++) await pass(MINUTE)
  t.is(received.length, 0)
  for (let minute = 0; minute < 20; minute++) await pass(MINUTE, false)
  t.is(received.length, 3)
})

test('a certificate that nobody renews reaches those who take urgent alerts alone once it is urgent', async t => {
  const [all, urgent] = [await receiver(t), await receiver(t)]
  let left = 10 * DAY
  const edgeTroubles = (): EdgeTrouble[] => [
    {
      kind: 'certificate',
      title: 'Not renewed',
      detail: `${left}`,
      since: NOW,
      priority: left < 3 * DAY ? 1 : 2,
      isRaised: true,
    },
  ]
  const { site, round, stores } = await siteAt(t, { watchEdges: true, edgeTroubles })
  const night = { days: [((new Date(NOW).getUTCDay() + 2) % 7) + 1], from: '00:00', to: '24:00' }
  await addRoute(site, { webhook_url: all.url, kinds: ['certificate'], hours: night })
  await addRoute(site, { webhook_url: urgent.url, kinds: ['certificate'], priority_max: 1 })
  const pass = async (minutes: number) => {
    for (let minute = 1; minute <= minutes; minute++) {
      stores.edges.put({ ...EDGES[0]!, last_seen_at: NOW + HOUR, online: true })
      await round(MINUTE)
    }
  }
  await pass(20)
  t.deepEqual([all.received.length, urgent.received.length], [0, 0])
  left = 2 * DAY
  await pass(5)
  t.deepEqual([all.received.length, urgent.received.length], [1, 1], 'what waited for its hours is urgent now, and comes once')
})

test('an edge of which nothing is stored is an alert, also where the hub does not list it', async t => {
  const { url, received } = await receiver(t)
  const refusals: EdgeRefusal[] = []
  const { site, round, stores } = await siteAt(t, { watchEdges: true, edgeRefusals: () => refusals })
  await addRoute(site, { webhook_url: url, kinds: ['refused'] })
  stores.edges.put({ ...EDGES[0]!, last_seen_at: NOW + HOUR })
  const { site_id, edge_id } = EDGES[0]!
  for (let minute = 0; minute < 20; minute++) await round(MINUTE)
  refusals.push({ site_id, edge_id, reason: '2 processes run under this edge id', since: NOW })
  refusals.push({ site_id: 'x', edge_id: 'new', reason: 'it names edge x/other', since: NOW })
  await round(MINUTE)
  t.deepEqual(
    received.map(({ body }) => [body.alert.title, body.alert.detail, body.alert.building_name]),
    [
      [
        `Nothing of edge ${site_id}/${edge_id} is stored`,
        'The hub refuses it: 2 processes run under this edge id.',
        received[0]?.body.alert.building_name,
      ],
      ['Nothing of edge x/new is stored', 'The hub refuses it: it names edge x/other.', 'x'],
    ],
  )
  refusals.length = 0
  for (let minute = 0; minute < 20; minute++) await round(MINUTE)
  t.is(received.filter(({ body }) => body.type === 'alert.recovered').length, 2)
})
