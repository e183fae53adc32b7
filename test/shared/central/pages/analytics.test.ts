import anyTest, { type TestFn } from 'ava'
import type { EconomizerResult } from '#shared/core/analytics/economizer.ts'
import { figuresOf, noOperation } from '#shared/core/analytics/operations.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { economizerSvg, SCATTER_WIDE } from '#shared/central/pages/analytics/economizer-plot.ts'
import { operationsBody, type OperationsRow, ordered } from '#shared/central/pages/analytics/operations.view.ts'
import { SEASONAL_WIDE, seasonalSvg } from '#shared/central/pages/analytics/seasonal-plot.ts'
import { openAnalyticsSite } from './analytics-site.ts'
import { BUILDING, finding, NOW } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type TestSite } from '../../../support/sites/page-site.ts'

const test = anyTest as TestFn<{ box: TestSite; read: (path: string) => Promise<string> }>
const reader = async ({ url }: TestSite) => {
  const { get } = await signedIn(url, 'viewer', PASSWORDS.viewer)
  return async (path: string) => (await get(path)).text()
}
test.before(async t => {
  const box = await openAnalyticsSite({ product: 'appliance', screening: true })
  t.context = { box, read: await reader(box) }
})
test.after.always(t => t.context.box?.close())

const firstCells = (page: string) =>
  [...page.matchAll(/data-label="Equipment" class="what"><div><a [^>]+>([^<]+)/g)].map(([, name]) => name)

test('operations say first what was in fault the longest', async t => {
  const page = await t.context.read('/analytics/operations')
  t.regex(page, /Air handler 1 was in fault the longest, for 36\.0 h\./)
  t.deepEqual(firstCells(page), ['Air handler 1', 'Room 101', 'Gymnasium'])
  t.regex(page, /aria-sort="descending">In fault/)
  t.regex(page, /<dt>Something in fault<\/dt><dd>60\.0 h<\/dd>/)
  t.regex(page, /href="\/faults\?building=school&amp;equipment=ahu&amp;days=366">36\.0 h/)
})

test('of the tabs the page that is shown is marked, and no other', async t => {
  for (const path of ['economizer', 'operations', 'anomalies'].map(name => `/analytics/${name}`)) {
    const tabs = /<nav class="tabs"[^]*?<\/nav>/.exec(await t.context.read(path))![0]
    t.true([...tabs.matchAll(/<a /g)].length > 1, path)
    const marked = [...tabs.matchAll(/href="([^"?]+)[^"]*" aria-current="page"/g)].map(([, href]) => href)
    t.deepEqual(marked, [path])
  }
})

test('hours in fault lead to the list of these faults, however long ago they were, and sensors have none', async t => {
  const from = NOW - 20 * DAY
  const known = finding({ finding_id: 'old', rule_id: 'R', equipment_id: 'ahu-1', title: 'Weeks ago', from, to: from + 5 * HOUR })
  const drift: Finding = { ...known, finding_id: 'drift', equipment_id: 'vav-3', title: 'Drift', kind: 'sensor' }
  const site = await openSite({ product: 'appliance', findings: [known, drift] })
  t.teardown(site.close)
  const read = await reader(site)
  const page = await read('/analytics/operations')
  const links = [...page.matchAll(/href="(\/faults\?[^"]+)">([\d.]+ h)/g)]
  t.deepEqual(
    links.map(([, , hours]) => hours),
    ['5.0 h'],
  )
  const list = await read(links[0]![1]!.replaceAll('&amp;', '&'))
  t.regex(list, /Weeks ago/)
  t.regex(list, /<option value="31" selected>31 days/)
})

test('a building that nobody has looked at is not said to be without faults, and days of which nothing is known have no figures', async t => {
  const site = await openSite({ product: 'appliance', findings: [], empty: true })
  t.teardown(site.close)
  const page = await (await reader(site))('/analytics/operations')
  t.regex(page, /Nobody has looked for faults in this building yet\./)
  t.regex(page, /<dt>Something in fault<\/dt><dd>–/)
  t.regex(page, /Tue 10 Nov<\/time><\/th>(<td>–<\/td>){6}<\/tr>/)
})

test('operations of a large building come in pages of fifty, each in the order asked for', t => {
  const figures = figuresOf(noOperation())
  const none = { fault_hours: 0, findings: 0, open: 0 }
  const rows = Array.from({ length: 120 }, (_, i) => ({
    equipment_id: `vav-${i}`,
    name: `VAV ${i}`,
    equipment_type: 'vav' as const,
    ...none,
    figures,
  }))
  const query = { building: BUILDING.building_id, from: '2025-11-01', to: '2025-11-30' }
  const page = (n: number | undefined) =>
    String(
      operationsBody({
        head: { page: 'operations', query, buildings: [BUILDING], choices: [] },
        ...{
          here: { now: NOW, timezone: BUILDING.timezone },
          building: BUILDING,
          from: NOW - DAY,
          to: NOW,
          order: 'name',
          page: n,
        },
        ...{ rows, days: [], total: { ...none, figures }, looked: true, findingsCut: undefined, readAt: NOW },
      }),
    )
  const names = (text: string) => Array.from(text.matchAll(/>VAV (\d+)</g), ([, i]) => Number(i))
  t.deepEqual(
    names(page(undefined)),
    Array.from({ length: 50 }, (_, i) => i),
  )
  t.deepEqual(
    names(page(3)),
    Array.from({ length: 20 }, (_, i) => 100 + i),
  )
  t.regex(
    page(2),
    /href="\/analytics\/operations\?building=school&amp;from=2025-11-01&amp;to=2025-11-30&amp;sort=name&amp;page=3">Next/,
  )
})

test('operations are sorted as asked, over the days asked for', async t => {
  const { read } = t.context
  t.deepEqual(firstCells(await read('/analytics/operations?sort=name')), ['Air handler 1', 'Gymnasium', 'Room 101'])
  const day = await read('/analytics/operations?from=2025-11-02&to=2025-11-02')
  t.regex(day, /Sun 2 Nov 2025 to Sun 2 Nov 2025: no fault was found\./)
  t.is(day.match(/<time datetime="2025-/g)?.length, 1)
  t.regex(await read('/analytics/operations?from=2025-11-03&to=2025-11-02'), /The last day is before the first/)
})

test('operations as CSV come for the same days', async t => {
  const text = await t.context.read('/analytics/operations.csv?from=2025-11-02&to=2025-11-02')
  t.is(text.trim().split('\r\n').length, 4)
  t.regex(text, /^equipment_id,name,/)
})

test('an economizer is judged in one sentence, drawn, and told in figures of the building', async t => {
  const page = await t.context.read('/analytics/economizer')
  t.regex(page, /<p class="lead">Outdoor air above 75\.2 °F was let in for [\d.]+ h of [\d.]+ h\.<\/p>/)
  t.is(page.match(/<svg class="plot"/g)?.length, 2)
  for (const words of ['Outdoor and return air too alike', 'at least 10.1 °F apart', '0 % to 10 %', 'Change-over'])
    t.true(page.includes(words), words)
})

test('anomalies are listed and one point is drawn', async t => {
  const { read } = t.context
  const page = await read('/analytics/anomalies')
  t.regex(page, /anomal(y|ies) among 6 points/)
  const [, href] = /<a href="(\/analytics\/anomalies\?[^"]*point=meter\.kw)">/.exec(page)!
  const one = await read(href!.replaceAll('&amp;', '&'))
  t.regex(one, /<h2>meter kw<\/h2>/)
  t.is(one.match(/<svg class="plot"/g)?.length, 2)
  t.regex(one, /Shaded: 1 anomaly, worst with 80\.\d kW at Sun 16 Nov 2025 0\d:00 instead of 19\.\d kW/)
})

test('where nothing is there to be shown the pages say what is missing', async t => {
  const site = await openSite({ product: 'hub', points: [], findings: [] })
  t.teardown(site.close)
  const read = await reader(site)
  t.regex(await read('/analytics/operations'), /No equipment of this building has a point/)
  t.regex(await read('/analytics/economizer'), /<h2>Air handler 1<\/h2><p>Nothing can be told without .*\(oa_damper\)/)
  t.regex(await read('/analytics/anomalies'), /Anomaly screening is off\..*SERVICE_SQL_ANOMALY_SCREENING=1/s)
  site.context.model.put({
    points: [
      {
        point_id: 'ahu-1.oa_damper',
        building_id: 'school',
        equipment_id: 'ahu-1',
        name: 'OAD',
        role: 'oa_damper',
        unit: 'percent',
        kind: 'number',
        source: { protocol: 'bacnet', address: '' },
      },
    ],
  })
  t.regex(await read('/analytics/economizer'), /Nothing can be told without outside air temperature \(oa_t\)/)
  site.context.model.put({
    equipment: [{ equipment_id: 'ahu-2', building_id: 'school', name: 'Air handler 2', equipment_type: 'ahu' }],
  })
  const other = await read('/analytics/economizer?equipment=ahu-2')
  t.regex(other, /<h2>Air handler 2<\/h2><p>Nothing can be told without .*href="\/points\?building=school&amp;equipment=ahu-2"/)
  t.regex(await read('/analytics/economizer?equipment=ahu-9'), /Building school has no air handler ahu-9/)
})

test('a building without an air handler has no economizer', async t => {
  const site = await openSite({ product: 'appliance', equipment: [], points: [], findings: [] })
  t.teardown(site.close)
  t.regex(await (await reader(site))('/analytics/economizer'), /This building has no air handler and no rooftop unit\./)
})

test('equipment of which nothing is known comes last, and equal ones by name', t => {
  const row = (name: string, fault_hours: number, comfort?: [known: number, good: number]): OperationsRow => ({
    equipment_id: name,
    name,
    equipment_type: 'vav',
    fault_hours,
    findings: 0,
    open: 0,
    figures: figuresOf({ ...noOperation(), comfortKnownMs: comfort?.[0] ?? 0, comfortMs: comfort?.[1] ?? 0 }),
  })
  const rows = [row('VAV 10', 1, [4, 1]), row('VAV 9', 1), row('VAV 2', 3, [4, 3])]
  const names = (order: 'fault_hours' | 'comfort_share' | 'name') => ordered(rows, order).map(({ name }) => name)
  t.deepEqual(names('fault_hours'), ['VAV 2', 'VAV 9', 'VAV 10'])
  t.deepEqual(names('comfort_share'), ['VAV 10', 'VAV 2', 'VAV 9'])
  t.deepEqual(names('name'), ['VAV 2', 'VAV 9', 'VAV 10'])
})

test('shares beyond the drawing stand at its edge', t => {
  const bins: EconomizerResult['bins'] = []
  const points = [
    { at: 0, damper: 0.5, share: 7 },
    { at: 0, damper: 0.5, share: -7 },
    { at: 0, damper: 0.5, share: 0.5 },
  ]
  const { text } = economizerSvg({ points, bins }, SCATTER_WIDE, 'label')
  const heights = [...text.matchAll(/cx="491" cy="([\d.]+)"/g)].map(([, y]) => Number(y))
  t.deepEqual(heights, [14, 378, 196])
  const at = (damper: number) => {
    const svg = economizerSvg({ points: [{ at: 0, damper, share: 0.5 }], bins }, SCATTER_WIDE, 'label').text
    return Number(/<circle cx="([\d.]+)"/.exec(svg)![1])
  }
  t.is(at(1.4), at(1))
  t.is(at(-0.4), at(0))
  t.is(at(0.5), (at(0) + at(1)) / 2)
})

test('a seasonal line never crosses a gap', t => {
  const hour = (i: number, value: number) => ({ at: i * HOUR, to: (i + 1) * HOUR, value, expected: 5, sigma: 1, score: 0 })
  const measure = { label: 'kW', scale: 1, offset: 0, decimals: 1 }
  const hours = [hour(0, 4), hour(1, 5), hour(5, 6)]
  const plot = { from: 0, to: 6 * HOUR, now: 0, timezone: 'UTC', measure, hours, anomalies: [] }
  const { text } = seasonalSvg(plot, SEASONAL_WIDE, 'id', 'label')
  t.is(text.match(/class="trace t1"/g)?.length, 2)
  t.regex(text, /class="trace t1" d="M[\d. L]+h\.01"/)
})
