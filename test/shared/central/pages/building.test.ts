/** The page of one building: its health in a sentence, faults by day, the tree, overrides by age, and the figures that come later. */
import test from 'ava'
import type { Equipment } from '#shared/core/model/model.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { buildingHealth } from '#shared/central/pages/equipment/building-sections.ts'
import { branchList, branchOf } from '#shared/central/pages/equipment/equipment-tree.ts'
import { NONE_OPEN } from '#shared/central/pages/faults/open-counts.ts'
import { inLanguage } from '#shared/node/http/language.ts'
import { IN_GERMAN } from '../../../support/in-german.ts'
import { BUILDING, COOLING, EQUIPMENT, FINDINGS, finding, NOW, POINTS } from '../../../support/page-fixture.ts'
import { signedIn } from '../../../support/signed-in.ts'
import { openSite, PASSWORDS } from '../../../support/sites/page-site.ts'

const words = (page: string) =>
  page
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(' ,', ',')

const [ahu, vav] = [EQUIPMENT[0]!, EQUIPMENT[1]!]
const energy = [{ carrier: 'electricity' as const, low: 100, mid: 120, high: 140 }]
const waste = { building: BUILDING, energy, prices: undefined }
const quiet = { waste: undefined, wasters: [], open: 0, checked: { at: NOW - 12 * MINUTE, isOfBox: false }, now: NOW }
for (const [what, health, said] of [
  ['all is well', {}, 'Nothing is in fault; everything was checked 12\u00a0min ago.'],
  ['nobody has looked', { checked: { at: null, isOfBox: false } }, 'Nobody has looked for faults yet.'],
  ['a box reports what it found', { checked: { at: null, isOfBox: true }, open: 2 }, '2 faults open.'],
  [
    'a box of an earlier version reports nothing',
    { checked: { at: null, isOfBox: true } },
    'Its box looks for faults and has reported none.',
  ],
  ['a cost is not known', { open: 1 }, '1 fault is open; all else was checked 12\u00a0min ago.'],
  [
    'one kind wastes',
    { open: 3, waste, wasters: [ahu, { ...ahu, equipment_id: 'ahu-2' }] },
    '2 air handlers waste about 120 kWh a day; all else was checked 12\u00a0min ago.',
  ],
  [
    'one box wastes',
    { open: 1, waste, wasters: [vav] },
    '1 VAV box wastes about 120 kWh a day; all else was checked 12\u00a0min ago.',
  ],
  [
    'several kinds waste',
    { open: 2, waste, wasters: [ahu, vav] },
    '2 pieces of equipment waste about 120 kWh a day; all else was checked 12\u00a0min ago.',
  ],
] as [string, Partial<Parameters<typeof buildingHealth>[0]>, string][]) {
  test(`the sentence of a building when ${what}`, t => t.is(buildingHealth({ ...quiet, ...health }), said))
}

test('a kind of equipment within a German sentence has its capital', t => {
  const wasters = [ahu, { ...ahu, equipment_id: 'ahu-2' }]
  const said = inLanguage(IN_GERMAN, () => buildingHealth({ ...quiet, open: 3, waste, wasters }))
  t.regex(said, /^2 Lüftungsgeräte /)
})

test('a branch counts what is below it, and equipment that feeds itself in a circle ends it', t => {
  const row = (equipment_id: string, parent_id: string | undefined, high: number) => ({
    equipment: { ...ahu, equipment_id, name: equipment_id, ...(parent_id && { parent_id }) } as Equipment,
    open: { ...NONE_OPEN, 1: high },
    points: 2,
  })
  const rows = [row('plant', undefined, 1), row('ahu', 'plant', 2), row('vav', 'ahu', 4), row('lost', 'nobody', 8)]
  const root = branchOf(BUILDING, rows, POINTS, undefined)
  t.deepEqual(
    root.rows.map(({ equipment, open }) => [equipment.equipment_id, open[1]]),
    [
      ['plant', 7],
      ['lost', 8],
    ],
  )
  const circle = [row('a', 'b', 1), row('b', 'a', 1)]
  t.is(branchOf(BUILDING, circle, [], 'a').rows[0]!.open[1], 2)
  t.regex(branchList(branchOf(BUILDING, rows, [], 'vav')).text, /Nothing below it/)
})

async function* oldSamples() {
  yield { point_id: 'p', series: { ts: Float64Array.of(Date.UTC(2024, 1, 1)), values: Float64Array.of(1) } }
}

test('a building says how it is, when what was in fault, which overrides are how old, and what feeds what', async t => {
  const overridden = (finding_id: string, days: number) => ({
    ...finding({ finding_id, rule_id: finding_id, equipment_id: 'vav-3', title: `Held ${finding_id}`, from: NOW - days * DAY }),
    kind: 'override' as const,
  })
  const impact = {
    kind: 'cooling' as const,
    low: 1,
    mid: 30,
    high: 60,
    unit: 'kWh',
    basis: [],
    energy: [{ ...energy[0]!, mid: 30 }],
  }
  const site = await openSite({
    product: 'appliance',
    findings: [...FINDINGS, { ...COOLING, impact }, overridden('old', 40), overridden('week', 8), overridden('new', 0.1)],
  })
  t.teardown(site.close)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const get = async (path: string) => (await viewer.get(path)).text()
  const before = words(await get('/buildings/school'))
  // What the site holds may have been sealed meanwhile.
  t.notRegex(before, /2024-02/)
  await site.context.loader.load('school', ['p'], 'replace', oldSamples())
  const page = await get('/buildings/school')
  const text = words(page)
  t.regex(text, /History takes \d+\.\d kB: every sample since 2024-02\./)
  t.regex(text, /1 air handler wastes about 30 kWh a day; all else was checked 12 min ago\./)
  t.regex(text, /VAV 3, library in fault 26 h on 2 days Air handler 1 in fault 9 h on 2 days Chiller 1 in fault 6 h on 1 day/)
  t.is(page.match(/class="day d\d"/g)?.length, 5)
  t.regex(text, /3 overrides : 1 of more than 30 days, 1 of more than a week, 1 of today\. Held old VAV 3, library/)
  t.regex(text, /What feeds what Air handler 1 1 1 high 1 2 medium H 3 overrides 5 points/)
  const branch = await get('/buildings/school/tree?of=ahu-1')
  t.true(branch.startsWith('<ul class="tree">'))
  t.regex(words(branch), /VAV 3, library .* Page of VAV 3, library AHU-1 CLG_VALVE clg_valve/)
  t.is((await viewer.get('/buildings/school/tree?of=nothing')).status, 404)
  const boxes = await get('/buildings/school?kind=vav')
  t.regex(words(boxes), /All of Riverside School VAV boxes 1 /)
  t.notRegex(words(boxes), /Chillers|Faults by day/)
})

test('comfort, running hours, energy and coverage come later, with the power of the meters over the weather', async t => {
  const meter: Equipment = { equipment_id: 'meter-1', building_id: 'school', name: 'Main meter', equipment_type: 'meter' }
  const kw = { ...POINTS[0]!, point_id: 'meter-1.kw', equipment_id: 'meter-1', name: 'METER KW', role: 'kw', unit: 'kW' }
  const site = await openSite({ product: 'appliance', equipment: [...EQUIPMENT, meter], points: [...POINTS, kw] })
  t.teardown(site.close)
  const viewer = await signedIn(site.url, 'viewer', PASSWORDS.viewer)
  const page = await (await viewer.get('/buildings/school')).text()
  t.regex(page, /id="figures" hx-get="\/buildings\/school\/figures" hx-trigger="load"/)
  const answer = await viewer.get('/buildings/school/figures')
  t.is(answer.status, 200)
  const figures = await answer.text()
  t.regex(
    words(figures),
    /Rooms in comfort – Mean room temperature – Running, all equipment [\d.]+ h Rules that can run \d+ of \d+/,
  )
  t.regex(figures, /Electric power<\/h3>/)
  t.regex(figures, /<svg class="plot/)
  t.is((await viewer.get('/buildings/elsewhere/figures')).status, 404)
})
