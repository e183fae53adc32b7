/** Links between equipment that a package states: `parent` and `feeds` of column_map.json. */
import test from 'ava'
import { checkOf, importer } from '../../../support/packages/importer.ts'
import { type Files, MANIFEST, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral({ pages: true })
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, imported } = importer(() => site)

const CSV = table(['2026-03-01T00:00:00Z,55', '2026-03-01T00:05:00Z,56'], 'timestamp_utc,T')
const map = (equipType: string, more: object = {}) =>
  JSON.stringify({ equipType, points: { [equipType === 'vav' ? 'da_t' : 'sa_t']: 'T' }, units: { T: 'degF' }, ...more })

/** @param maps by folder: type and links of each equipment */
const linked = (building: object, maps: Record<string, [type: string, more?: object]>): Files => ({
  'manifest.json': JSON.stringify({ ...MANIFEST, ...building }),
  ...Object.fromEntries(
    Object.entries(maps).flatMap(([folder, [type, more]]) => [
      [`${folder}/column_map.json`, map(type, more)],
      [`${folder}/history_wide.csv`, CSV],
    ]),
  ),
})
const linksIn = (building_id: string) =>
  Object.fromEntries(
    site.central.context.model
      .equipment(building_id)
      .map(({ equipment_id, parent_id, feeds }) => [equipment_id, { parent_id, feeds }]),
  )

test('parent and feeds of a column map become links of the model', async t => {
  const building = ownBuilding()
  await imported(
    linked(building, {
      'AHU-1': ['ahu', { feeds: ['VAV-1', 'VAV-1'] }],
      'VAV-1': ['vav'],
      'VAV-2': ['vav', { parent: 'AHU-1' }],
    }),
  )
  t.deepEqual(linksIn(building.building_id), {
    'AHU-1': { parent_id: undefined, feeds: ['VAV-1'] },
    'VAV-1': { parent_id: undefined, feeds: undefined },
    'VAV-2': { parent_id: 'AHU-1', feeds: undefined },
  })
})

test('a later package may link to equipment of the building, and keeps links that it does not state', async t => {
  const building = ownBuilding()
  await imported(linked(building, { 'AHU-1': ['ahu'], 'AHU-2': ['ahu'] }))
  await imported(linked(building, { 'VAV-1': ['vav', { parent: 'AHU-1' }] }))
  t.is(linksIn(building.building_id)['VAV-1']!.parent_id, 'AHU-1')
  await imported(linked(building, { 'VAV-1': ['vav'] }))
  t.is(linksIn(building.building_id)['VAV-1']!.parent_id, 'AHU-1')
  await imported(linked(building, { 'VAV-1': ['vav', { parent: 'AHU-2' }] }))
  t.is(linksIn(building.building_id)['VAV-1']!.parent_id, 'AHU-2')
})

test('a link that replaces one of the model may turn its direction', async t => {
  const building = ownBuilding()
  await imported(linked(building, { P: ['hw_plant', { parent: 'B' }], B: ['boiler'] }))
  await imported(
    linked(building, { P: ['hw_plant', { feeds: [], parent: 'Q' }], B: ['boiler', { parent: 'P' }], Q: ['hw_plant'] }),
  )
  t.is(linksIn(building.building_id)['B']!.parent_id, 'P')
})

for (const [what, maps, code, entry] of [
  ['unknown parent', { 'VAV-1': ['vav', { parent: 'AHU-9' }] }, 'link_unknown', 'parent "AHU-9"'],
  ['parent in another case', { 'AHU-1': ['ahu'], 'VAV-1': ['vav', { parent: 'ahu-1' }] }, 'link_unknown', 'perhaps AHU-1'],
  ['unknown fed equipment', { 'AHU-1': ['ahu', { feeds: ['VAV-9'] }] }, 'link_unknown', 'feeds "VAV-9"'],
  ['equipment that is its own parent', { 'AHU-1': ['ahu', { parent: 'AHU-1' }] }, 'link_circular', 'parent "AHU-1"'],
  ['equipment that feeds itself', { 'AHU-1': ['ahu', { feeds: ['AHU-1'] }] }, 'link_circular', 'feeds "AHU-1"'],
  [
    'two that are each other’s parent',
    { A: ['ahu', { parent: 'B' }], B: ['ahu', { parent: 'A' }] },
    'link_circular',
    'parent "A" closes the loop A → B → A',
  ],
  [
    'a loop of three through both fields',
    { A: ['ahu', { feeds: ['B'] }], B: ['ahu'], C: ['ahu', { parent: 'B', feeds: ['A'] }] },
    'link_circular',
    'feeds "A" closes the loop C → A → B → C',
  ],
] as [string, Record<string, [string, object?]>, string, string][]) {
  test(`${what} is an error that names the entry`, async t => {
    const { body } = await preflight(linked(ownBuilding(), maps))
    const check = checkOf(body.checks, code)
    t.is(check?.severity, 'error', JSON.stringify(body.checks))
    t.true(check!.message.includes(entry) && check!.message.includes('column_map.json'), check!.message)
    t.false(body.can_execute)
    t.is((await execute(body.session_id)).status, 422)
  })
}

test('links of a wrong form make a column map invalid', async t => {
  for (const more of [{ parent: 7 }, { parent: null }, { feeds: 'VAV-1' }, { feeds: [1] }]) {
    const { body } = await preflight(linked(ownBuilding(), { 'AHU-1': ['ahu', more] }))
    t.is(checkOf(body.checks, 'column_map_invalid')?.severity, 'error', JSON.stringify(more))
  }
})

test('boxes in a building without a handler wait as information, for the package has nothing to state', async t => {
  const points = { discharge_t: 'DAT', zone_flow: 'Flow' }
  const { body } = await preflight({
    'manifest.json': JSON.stringify({ ...MANIFEST, ...ownBuilding() }),
    'B/column_map.json': JSON.stringify({ equipType: 'vav', points, units: { DAT: 'degF', Flow: 'cfm' } }),
    'B/history_wide.csv': table(['2026-03-01T00:00:00Z,70,200', '2026-03-01T00:05:00Z,71,200'], 'timestamp_utc,DAT,Flow'),
  })
  t.is(checkOf(body.checks, 'link_missing')?.severity, 'info')
  t.deepEqual(body.links.waiting[0].server_ids, [])
  t.is(body.verdict, 'pass', JSON.stringify(body.checks))
})

test('preflight and the page say how many rules wait for which link, and nothing once it is stated', async t => {
  const building = ownBuilding()
  const header = 'timestamp_utc,SAT,Fan,DAT,Flow'
  const csv = table(['2026-03-01T00:00:00Z,55,1,70,200', '2026-03-01T00:05:00Z,56,1,71,200'], header)
  const BOX = { discharge_t: 'DAT', zone_flow: 'Flow' }
  const files = (more: object): Files => ({
    'manifest.json': JSON.stringify({ ...MANIFEST, ...building }),
    'A/column_map.json': JSON.stringify({ equipType: 'ahu', points: { sa_t: 'SAT', fan_status: 'Fan' }, units: { SAT: 'degF' } }),
    'A/history_wide.csv': csv,
    ...Object.fromEntries(
      ['North', 'South'].flatMap(box => [
        [
          `${box}/column_map.json`,
          JSON.stringify({ equipType: 'vav', points: BOX, units: { DAT: 'degF', Flow: 'cfm' }, ...more }),
        ],
        [`${box}/history_wide.csv`, csv],
      ]),
    ),
  })
  const { body } = await preflight(files({}))
  const [wait] = body.links.waiting
  t.like(wait, { equipment_type: 'vav', equipment_ids: ['North', 'South'] })
  t.true(wait.rule_ids.includes('VAV-DISCHARGE-COLD'))
  t.regex(wait.message, /^\d+ rules? for 2 boxes waits? for the air handler that serves them$/)
  t.like(checkOf(body.checks, 'link_missing'), { severity: 'warning', message: `vav: ${wait.message}` })
  t.true(body.agent_hints.some(({ code }: { code: string }) => code === 'link_missing'))
  t.like(body.links.proposals, [{ equipment_id: 'North', parent_id: 'A', confidence: 0.9 }, { equipment_id: 'South' }])
  t.deepEqual(body.links.proposals[0].why, ['A is the only equipment that can serve it'])
  t.true(body.can_execute)
  t.is((await execute(body.session_id)).status, 200)
  t.is(linksIn(building.building_id)['North']!.parent_id, undefined, 'a proposal is not applied')
  const page = `/coverage?building=${building.building_id}`
  const shown = (await site.call('viewer', 'GET', page)).text
  t.regex(shown, new RegExp(`2 [^<]+ without a link \\(Air handler\\): ${wait.rule_ids.length} rules: North, South`))
  const { body: coverage } = await site.call('viewer', 'GET', `/api/fdd/coverage?building_id=${building.building_id}`)
  t.deepEqual(coverage.waits[0].equipment_ids, ['North', 'South'])

  const stated = await preflight(files({ parent: 'A' }))
  t.deepEqual(stated.body.links.waiting, [])
  t.is(checkOf(stated.body.checks, 'link_missing'), undefined)
  t.is((await execute(stated.body.session_id)).status, 200)
  t.false((await site.call('viewer', 'GET', page)).text.includes('Waiting for a link'))
})

/** Four days of 15-minute rows; handlers run at different hours. @param hours from and to, of each column */
const scheduled = (header: string, hours: [number, number][], on: number) =>
  table(
    Array.from({ length: 4 * 96 }, (_, i) => {
      const hour = (i / 4) % 24
      const cells = hours.map(([from, to]) => (hour >= from && hour < to ? on : 0))
      return [new Date(Date.UTC(2026, 2, 1) + i * 900_000).toISOString(), ...cells].join(',')
    }),
    `timestamp_utc,${header}`,
  )
const EARLY: [number, number] = [4, 12]
const LATE: [number, number] = [9, 19]

/** @param boxes name → hours of its flow */
async function proposedByFlow(boxes: Record<string, [number, number]>, second = LATE, tail = '') {
  const handler = (hours: [number, number]) => scheduled('Fan', [hours], 1)
  const ahu = JSON.stringify({ equipType: 'ahu', points: { fan_status: 'Fan' } })
  const units = { Flow: 'cfm', DAT: 'degF' }
  const box = JSON.stringify({ equipType: 'vav', points: { zone_flow: 'Flow', discharge_t: 'DAT' }, units })
  const { body } = await preflight({
    'manifest.json': JSON.stringify({ ...MANIFEST, ...ownBuilding(), grid_minutes: 15 }),
    'H-one/column_map.json': ahu,
    'H-one/history_wide.csv': handler(EARLY),
    'H-two/column_map.json': ahu,
    'H-two/history_wide.csv': handler(second) + tail,
    ...Object.fromEntries(
      Object.entries(boxes).flatMap(([name, hours]) => [
        [`${name}/column_map.json`, box],
        [`${name}/history_wide.csv`, scheduled('Flow,DAT', [hours, [0, 24]], 60)],
      ]),
    ),
  })
  return Object.fromEntries(body.links.proposals.map((one: any) => [one.equipment_id, one]))
}

test('where names say nothing, the flow of a box tells whose fan it follows', async t => {
  const found = await proposedByFlow({
    North: EARLY,
    Library: LATE,
    Always: [0, 24],
    Never: [0, 0],
    Both: [4, 19],
    Mixed: [8, 19],
  })
  t.like(found, { North: { parent_id: 'H-one', confidence: 0.9 }, Library: { parent_id: 'H-two', confidence: 0.9 } })
  t.regex(found['North'].why[0], /^its flow follows the fan of H-one at \d+ samples/)
  t.deepEqual(Object.keys(found).toSorted(), ['Library', 'North'])
})

test('a table that cannot be read to its end leaves the flows aside, and preflight still answers', async t => {
  t.deepEqual(await proposedByFlow({ North: EARLY }, LATE, `2026-03-05T00:00:00Z,"${'x'.repeat(100_000)}`), {})
})

test('no flow under a fan that runs alone is likely to mean the other handler, and fans that run together tell nothing', async t => {
  t.like(await proposedByFlow({ Short: [6, 12] }, [6, 12]), { Short: { parent_id: 'H-two', confidence: 0.7 } })
  t.deepEqual(await proposedByFlow({ North: EARLY }, EARLY), {})
})
