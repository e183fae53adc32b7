/** The pages of buildings, equipment and points: what they say of a building with three days of history. */
import anyTest, { type TestFn } from 'ava'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { ArraySnapshots } from '#shared/core/ports.ts'
import { HOUR } from '#shared/core/time.ts'
import { EQUIPMENT_PARTS } from '#shared/central/ui/equipment-parts.ts'
import { BUILDING, EQUIPMENT, NOW, POINTS } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS, type SiteOptions, type TestSite } from '../../../support/sites/page-site.ts'

/** One site for the tests that only read. */
const test = anyTest as TestFn<{
  site: TestSite
  get: (path: string) => Promise<string>
}>

test.before(async t => {
  const site = await openSite({ product: 'appliance', api: true })
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  t.context = { site, get: async path => (await get(path)).text() }
})
test.after.always(t => t.context.site.close())

/** A site of its own for a test that changes it, or needs another. */
async function openPages(t: { teardown(end: () => Promise<void>): void }, options: Partial<SiteOptions> = {}) {
  const site = await openSite({ product: 'appliance', api: true, ...options })
  t.teardown(site.close)
  const { get } = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  return { site, get: async (path: string) => (await get(path)).text() }
}

/** The same words without markup, blanks joined. */
const words = (page: string) =>
  page
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' ,', ',')

test('every kind of equipment has a drawing, and every role in it exists', t => {
  for (const type of EQUIPMENT_TYPES) {
    const roles = EQUIPMENT_PARTS[type].flatMap(part => part.roles)
    t.true(roles.length > 0, type)
    t.deepEqual(
      roles.filter(role => !ROLES[role]),
      [],
      type,
    )
  }
})

test('one building is shown at once, several as a list', async t => {
  const { site, get } = await openPages(t)
  t.regex(await get('/buildings'), /<h1>Riverside School<\/h1>/)
  site.context.model.put({ building: { ...BUILDING, building_id: 'annex', name: 'Annex <b>' } })
  const list = await get('/buildings')
  t.regex(list, /<h1>Buildings<\/h1>/)
  t.true(list.includes('href="/buildings/school"'))
  t.true(list.includes('Annex &lt;b&gt;'))
  t.regex(words(await get('/buildings/annex')), /No equipment yet/)
})

test('a building lists its equipment by kind with open faults and what feeds it', async t => {
  const { get } = t.context
  const page = await get('/buildings/school')
  t.regex(words(page), /3 pieces of equipment with 7 points; 2 faults open/)
  t.true(page.includes('href="/buildings/school/equipment/vav-3"'))
  t.regex(words(page), /VAV 3, library 1 2 medium 2 Air handler 1/)
})

test('an equipment shows its values, its faults, what it feeds and what would let more rules run', async t => {
  const { site, get } = t.context
  await site.context.rules.coverage('school')
  // The page is shown without coverage when that takes long; a person who looks again sees it.
  let page = await get('/buildings/school/equipment/ahu-1')
  while (!/rules for its kind can run/.test(page)) page = await get('/buildings/school/equipment/ahu-1')
  const text = words(page)
  t.regex(text, /riverside › Riverside School › Air handler 1/)
  t.regex(text, /1 fault open, 1 about sensors and data/)
  t.regex(text, /AHU-1 SA_T 62\.5 °F/)
  t.regex(text, /AHU-1 MA_T [\d.]+ °F stale 13:47, 15 min ago/, 'a silent point is not shown as present')
  t.regex(text, /Supply air too warm with the cooling valve wide open in fault 9 h in 2 episodes/)
  t.regex(text, /Feeds VAV 3, library/)
  t.regex(text, /\d+ of \d+ rules for its kind can run/)
  t.regex(text, /Would let more run htg_valve/)
  t.true(page.includes('<svg class="drawing"'))
  t.true(page.includes('href="/buildings/school/points/ahu-1.sa_t"'))
  t.regex(await get('/buildings/school/equipment/ahu-1/now'), /^<div id="now"/)
})

test('an equipment does not wait for the coverage of a changed model', async t => {
  const { site, get } = await openPages(t)
  const { rules } = site.context
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof rules.coverage>>>()
  Object.assign(rules, { coverage: () => promise })
  t.regex(words(await get('/buildings/school/equipment/ahu-1')), /Which rules can run is being computed/)
  resolve({ lines: [{ equipment_id: 'ahu-1', rule_id: 'A', title: 'A', missing: [], optional: [] }], gains: [], waits: [] })
  t.regex(words(await get('/buildings/school/equipment/ahu-1')), /1 of 1 rule for its kind can run/)
})

test('an equipment without points and a point without a value say so', async t => {
  const { site, get } = await openPages(t)
  t.regex(words(await get('/buildings/school/equipment/chiller-1')), /No point belongs to this equipment yet/)
  site.context.model.put({
    points: [{ ...POINTS[0]!, point_id: 'new', name: 'New', equipment_id: 'chiller-1', role: 'chw_supply_t' }],
  })
  t.regex(words(await get('/buildings/school/equipment/chiller-1')), /New – \? no value yet/)
})

const snapshot = (t: number): ArraySnapshot => ({
  t,
  slots: Array.from({ length: 16 }, (_, i) => (i === 7 ? 40 : i === 15 ? 100 : null)),
  fallback: 0,
  date: '2026-11-20',
  overridden: true,
})
const PRIORITY: ArraySnapshots = {
  levels: () => levelMeanings([{ level: 16, name: 'Schedule' }]),
  snapshots: async () => ({ 'ahu-1.clg_valve': [snapshot(NOW - 5 * HOUR), snapshot(NOW - 4 * HOUR), snapshot(NOW - 3 * HOUR)] }),
}

test('an override stands on the equipment and on the point with its sixteen levels', async t => {
  const { get } = await openPages(t, { priority: PRIORITY })
  const equipment = words(await get('/buildings/school/equipment/ahu-1'))
  t.regex(equipment, /Overrides now H P8 AHU-1 CLG_VALVE at 40 % seen since 09:02/)
  const point = words(await get('/buildings/school/points/ahu-1.clg_valve'))
  t.regex(point, /P8 Manual operator 40 % \(commands\)/)
  t.regex(point, /P16 Schedule 100 %/)
})

test('a point shows value, age, address, plot, statistics, rules and exports', async t => {
  const { get } = t.context
  const page = await get('/buildings/school/points/ahu-1.sa_t')
  const text = words(page)
  t.regex(text, /62\.5 °F ok 14:01, 1 min ago/)
  t.regex(text, /Address bacnet dev 1007 AI-12/)
  t.regex(text, /Least 54\.0 °F/)
  t.regex(text, /Supply air too warm with the cooling valve wide open AHU-SUPPLY-WARM/)
  t.true(page.includes('<svg class="plot"'))
  const [, href] = /href="(\/api\/fdd\/series[^"]*format=csv)"/.exec(page)!
  const csv = await get(href!.replaceAll('&amp;', '&'))
  t.regex(csv, /^timestamp_utc,point_id,role,unit,min,max,mean,last\r?\n2026-11-19T20:0/)
})

test('a point shows its newest reading before history has it, a state by its name too', async t => {
  const points = POINTS.map(one => ({
    ...one,
    ...(one.point_id === 'ahu-1.fan_status' && { states: ['Standing', 'Turning', 'Coasting'] }),
  }))
  const { site, get } = await openPages(t, { points })
  for (const [point_id, v, shown] of [
    ['ahu-1.ma_t', 19.875, '67.8 °F'],
    ['ahu-1.fan_status', 'Coasting', 'Coasting'],
  ] as const) {
    const timesShown = async () => words(await get(`/buildings/school/points/${point_id}`)).split(shown).length - 1
    site.context.live = () => undefined
    const before = await timesShown()
    const live = { id: point_id, t: NOW - 1000, v, q: 'good' as const }
    site.context.live = (building_id, asked) => (building_id === BUILDING.building_id && asked === point_id ? live : undefined)
    t.true((await timesShown()) > before, point_id)
  }
})

test('what does not exist is a problem that names it', async t => {
  const { site } = await openPages(t, { open: true })
  for (const [path, name] of [
    ['/buildings/nowhere', 'nowhere'],
    ['/buildings/school/equipment/nothing', 'nothing'],
    ['/buildings/school/points/nothing', 'nothing'],
  ] as const) {
    const answer = await fetch(`${site.url}${path}`)
    t.is(answer.status, 404, path)
    t.true((await answer.text()).includes(name), path)
  }
})

test('names from a device stand as text on every page', async t => {
  const evil = '<script>alert(1)</script>"\'&'
  const { get } = await openPages(t, {
    equipment: EQUIPMENT.map(one => ({ ...one, name: evil })),
    points: POINTS.map(one => ({ ...one, name: evil, states: [evil, evil], source: { protocol: 'bacnet', address: evil } })),
  })
  for (const path of ['/buildings', '/buildings/school/equipment/ahu-1', '/buildings/school/points/ahu-1.fan_status'])
    t.false((await get(path)).includes('<script>alert'), path)
})
