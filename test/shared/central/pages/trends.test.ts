/** Trends: the address is the state, and without script the server's drawing of the same time stands there. */
import anyTest, { type TestFn } from 'ava'
import { HOUR } from '#shared/core/time.ts'
import { NOW } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../support/sites/page-site.ts'

type Trends = Awaited<ReturnType<typeof openTrends>>

/** One site for the tests that only read. */
const test = anyTest as TestFn<Trends>

test.before(async t => {
  t.context = await openTrends()
})
test.after.always(t => t.context.site.close())

async function openTrends() {
  const site = await openSite({ product: 'appliance', api: true })
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  return { site, ask: get, get: async (path: string) => (await get(path)).text() }
}
const hrefOf = (page: string, text: string) =>
  new RegExp(`<a href="([^"]+)"[^>]*>(?:<strong>)?${text}`).exec(page)![1]!.replaceAll('&amp;', '&')

test('points, time and search of the address are on the page, and its links keep them', async t => {
  const { get } = t.context
  const empty = await get('/trends')
  t.regex(empty, /No point is chosen yet/)
  const first = await get(`/trends?building=school&points=ahu-1.sa_t&days=7&q=flow`)
  t.regex(first, /aria-current="true">7 days/)
  const second = hrefOf(first, 'Add VAV-3 ZONE_FLOW')
  t.is(second, '/trends?building=school&points=ahu-1.sa_t,vav-3.zone_flow&days=7&q=flow')
  const both = await get(second)
  t.is([...both.matchAll(/<svg class="plot"/g)].length, 2, 'one for a desk, one for a phone')
  t.regex(both, /supply air temperature, discharge air flow from /)
  t.is(
    hrefOf(both, 'Remove<span class="hidden"> supply air temperature'),
    '/trends?building=school&points=vav-3.zone_flow&days=7&q=flow',
  )
})

test('points are found by going down what feeds them, and the address keeps where one is', async t => {
  const { get, ask } = t.context
  const top = await get('/trends?building=school')
  const ahu = await get(hrefOf(top, 'Air handler 1').replace('#points', ''))
  const into = hrefOf(ahu, 'VAV 3, library')
  t.is(into, '/trends?building=school&days=1&of=vav-3#points')
  const vav = await get(into.replace('#points', ''))
  t.regex(vav, /All equipment<\/a>.*›.*Air handler 1<\/a>.*›.*VAV 3, library<\/a>/)
  const added = hrefOf(vav, 'Add VAV-3 ZONE_FLOW')
  t.is(added, '/trends?building=school&points=vav-3.zone_flow&days=1&of=vav-3')
  t.notRegex(await get(added), /Add VAV-3 ZONE_FLOW/)
  t.is((await ask('/trends?building=school&of=nothing')).status, 404)
})

test('a wall clock is that of the building, and earlier, later and CSV have the same length', async t => {
  const { get } = t.context
  const page = await get('/trends?points=ahu-1.sa_t&from=2026-11-20T08:00&to=2026-11-20T14:00')
  t.regex(page, /name="from" value="2026-11-20T08:00"/)
  t.true(page.includes(`data-from="${NOW - 6 * HOUR - 130_000}"`))
  t.regex(hrefOf(page, 'Earlier'), /from=2026-11-20T11:00:00Z&to=2026-11-20T17:00:00Z$/)
  const csv = await get(hrefOf(page, 'CSV of this time'))
  t.is(csv.trim().split('\n').length, 1 + 6 * 60)
  t.regex(csv, /\n2026-11-20T14:00:10Z,ahu-1\.sa_t,/)
})

test('the same time of a day before is drawn over the present one, in the colour of its line, and the links keep it', async t => {
  const { get, ask } = t.context
  const page = await get('/trends?points=ahu-1.sa_t,ahu-1.clg_valve&from=2026-11-20T08:00&to=2026-11-20T14:00')
  const href = hrefOf(page, 'a day before')
  t.regex(href, /&from=2026-11-20T08:00&to=2026-11-20T14:00&compare=day$/)
  const compared = await get(href)
  t.regex(compared, /data-shift="86400000"/)
  t.regex(
    compared,
    /\. supply air temperature, cooling valve command, supply air temperature −1 d, cooling valve command −1 d from /,
  )
  t.regex(compared, /class="trace t1 earlier"/)
  t.regex(compared, /class="trace t2 earlier"/)
  t.false(page.includes('earlier"'))
  t.regex(hrefOf(compared, 'Zoom out'), /compare=day/)
  // The night when clocks go back has 25 hours: the same wall clock is then 25 hours before.
  t.regex(await get('/trends?points=ahu-1.sa_t&from=2026-11-01T08:00&to=2026-11-01T14:00&compare=day'), /data-shift="90000000"/)
  const many = 'ahu-1.sa_t,ahu-1.clg_valve,ahu-1.fan_status,vav-3.zone_flow'
  t.notRegex(await get(`/trends?points=${many}`), /compare=/)
  t.is((await ask(`/trends?points=${many}&compare=week`)).status, 400)
  const most = many.split(',').slice(0, 3).join()
  t.is((await ask(`/trends?points=${most}&compare=week`)).status, 200, 'half as many as are drawn')
})

test('lines of the same role are named by their points', async t => {
  const { site, get } = await openTrends()
  t.teardown(site.close)
  const [supply] = site.context.model.points('school').filter(one => one.point_id === 'ahu-1.sa_t')
  site.context.model.put({ points: [{ ...supply!, point_id: 'other', name: 'Other <b>air</b>', equipment_id: 'vav-3' }] })
  const page = await get('/trends?points=ahu-1.sa_t,other')
  t.regex(page, /<strong>AHU-1 SA_T<\/strong>/)
  t.regex(page, /<strong>Other &lt;b&gt;air/)
})

for (const [what, query, words] of [
  ['a point that does not exist', 'points=nothing', 'nothing'],
  ['a building that does not exist', 'building=nowhere', 'nowhere'],
  ['more lines than can be told apart', `points=${[...'abcdefg'].join(',')}`, 'at most 6 points'],
  ['a time that ends before it begins', 'points=ahu-1.sa_t&from=2026-11-20T08:00&to=2026-11-19T08:00', 'ends before it begins'],
  ['a time of six years', 'points=ahu-1.sa_t&from=2020-01-01T00:00&to=2026-01-01T00:00', 'longer than five years'],
  ['a time that is none', 'points=ahu-1.sa_t&from=yesterday', 'from is no time'],
  ['an instant that is none', 'points=ahu-1.sa_t&from=2026-99-99Z', 'from'],
] as const) {
  test(`${what} is refused with words`, async t => {
    const { ask } = t.context
    const answer = await ask(`/trends?${query}`)
    t.true(answer.status >= 400 && answer.status < 500, String(answer.status))
    t.true((await answer.text()).includes(words))
  })
}

test('the series of points of several equipment come in one answer, with the faults of each', async t => {
  const { ask } = t.context
  const of = (more: string) => ask(`/api/fdd/series?building_id=school&${more}`)
  const answer = await of('point_ids=ahu-1.sa_t,vav-3.damper&max_points=100')
  const { series, faults } = (await answer.json()) as { series: { point_id: string }[]; faults: { finding_id: string }[] }
  t.deepEqual(
    series.map(({ point_id }) => point_id),
    ['ahu-1.sa_t', 'vav-3.damper'],
  )
  const found = new Set(faults.map(({ finding_id }) => finding_id))
  t.true(found.has('f-cooling') && found.has('f-flow'))
  for (const [more, status, words] of [
    ['point_ids=ahu-1.sa_t,nothing', 404, 'nothing'],
    ['point_ids=', 400, 'point_ids names 1 to 50 points'],
    ['point_id=ahu-1.sa_t', 400, 'equipment_id'],
    ['point_ids=a&roles=sa_t', 400, 'Give one of'],
  ] as const) {
    const answer = await of(more)
    t.is(answer.status, status, more)
    t.true((await answer.text()).includes(words), more)
  }
})
