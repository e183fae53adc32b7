/** Pages of a building whose data ended: an imported package, or a site that has long been silent. */
import test, { type ExecutionContext } from 'ava'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import { DAY, formatInstant, HOUR } from '#shared/core/time.ts'
import { asRead } from '../../../support/signed-in.ts'
import { BUILDING, COOLING, EDGES, EQUIPMENT, NOW, POINTS, RUN, samplesOf } from '../../../support/page-fixture.ts'
import { openSite } from '../../../support/sites/page-site.ts'

/** The fixture's building, a year and more ago. */
const EARLIER = 400 * DAY
const END = NOW - EARLIER

async function openEnded(t: ExecutionContext) {
  const site = await openSite({ product: 'appliance', open: true, empty: true, equipment: [], points: [], findings: [] })
  t.teardown(site.close)
  const { historian } = site.context
  const { model, findings, runRecorder } = site.stores
  model.put({ building: BUILDING, equipment: EQUIPMENT, points: POINTS })
  runRecorder.replace({ ...RUN, from: RUN.from - EARLIER, to: END }, [])
  const { from, evidence } = COOLING
  const open = {
    ...COOLING,
    from: from - EARLIER,
    confirmed_at: from - EARLIER + HOUR,
    to: null,
    duration_secs: 2.5 * 3600,
    stretches: [
      [from - EARLIER, from - EARLIER + HOUR, HOUR],
      [from - EARLIER + 2 * HOUR, from - EARLIER + 3.5 * HOUR, 1.5 * HOUR],
    ] as const,
    evidence: { ...evidence, worst_at: evidence.worst_at - EARLIER },
  }
  const ago = { from: open.from - 200 * DAY, to: open.from - 199 * DAY, state: 'cleared' as const }
  const { stretches: _, ...old } = { ...open, finding_id: 'f-old', ...ago }
  findings.put([open, old])
  for (const point of POINTS) {
    const { ts, values } = samplesOf(point)
    const readings = Array.from(ts, (at, i) => ({ id: point.point_id, t: at - EARLIER, v: values[i]! }))
    await historian.append(BUILDING.building_id, readings)
  }
  const headers = { accept: 'text/html' }
  return async (path: string) => asRead(await fetch(site.url + path, { headers })).text()
}

test('a finding that was open when data ended says so, and its plot ends there', async t => {
  const read = await openEnded(t)
  const page = await read('/faults/f-cooling')
  t.regex(page, /Open when data ended on \w{3} \d+ Oct 2025, not acknowledged/)
  t.notRegex(page, /Active/)
  const day = await read('/faults/f-cooling?window=day')
  t.regex(day, /In fault \(shaded\) for 2 h 30 min; worst at/)
  t.regex(day, /<dt>In fault<\/dt><dd>2 h 30 min,/)
})

test('the list counts its days from the last sample, and findings of any age can be reached', async t => {
  const read = await openEnded(t)
  const week = await read('/faults')
  t.regex(week, /f-cooling/)
  t.regex(week, /Open when data ended on/)
  t.notRegex(week, /f-old/)
  t.regex(await read('/faults?days=366'), /in 2 episodes/)
  const before = await read(`/faults?days=366&before=${formatInstant(END - 100 * DAY)}`)
  t.regex(before, /f-old/)
  t.notRegex(before, /f-cooling/)
})

test('the edges of a hub are listed once for all of its buildings, and each building has its own', async t => {
  const site = await openSite({ product: 'hub', open: true })
  t.teardown(site.close)
  const { context, stores } = site
  const ids = Array.from({ length: 20 }, (_, n) => `silent-${n}`)
  for (const building_id of ids) stores.model.put({ building: { ...BUILDING, building_id } })
  stores.edges.put(
    ...ids.map((building_id, n) => ({ ...EDGES[0]!, edge_id: `e${n}`, building_id, last_data_at: NOW - (n + 1) * DAY })),
  )
  let lists = 0
  const edges = { ...context.edges, list: () => (lists++, context.edges.list()) }
  const ends = dataEnds({ ...context, edges }, [...ids, 'no edge'], NOW)
  t.is(lists, 1)
  t.deepEqual(
    [...ends],
    ids.slice(1).map((building_id, n) => [building_id, NOW - (n + 2) * DAY]),
  )
})
