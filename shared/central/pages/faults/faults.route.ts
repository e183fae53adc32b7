/** The page of faults. */
import { type Static, Type } from '@sinclair/typebox'
import type { Finding, Priority } from '#shared/core/findings/finding.ts'
import { combinedEnergy } from '#shared/core/impact/combined-energy.ts'
import { DAY } from '#shared/core/time.ts'
import type { Together } from '#shared/central/ui/cost-words.ts'
import {
  ANY_AGE_DAYS,
  byCost,
  countOpen,
  type FaultQuery,
  GROUPINGS,
  groupRows,
  laneOf,
  LANES,
  type Lane,
  matches,
  type Named,
  type OpenCounts,
  SORTS,
  toRows,
} from './fault-list.ts'
import { type FaultsModel, faultsBody, type LastRun } from './faults.view.ts'
import { oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { panelOf, type RunStores } from '#shared/central/pages/runs.route.ts'
import { readInstant } from '#shared/central/api/record-views.ts'
import { type DataEndContext, type DataEnds, dataEnds } from '#shared/central/pages/data-freshness.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'

/** Most episodes that one page gathers into rows. */
const EPISODES_MAX = 1000

/** An empty text stands for no filter: that is what a form sends. */
const Query = strict({
  lane: Type.Optional(oneOf(LANES)),
  group: Type.Optional(oneOf(GROUPINGS)),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: ANY_AGE_DAYS })),
  sort: Type.Optional(oneOf(SORTS)),
  state: Type.Optional(oneOf(['', 'active', 'cleared'])),
  priority: Type.Optional(oneOf(['', '1', '2', '3'])),
  building: Type.Optional(PAGE_ID),
  equipment: Type.Optional(PAGE_ID),
  before: Type.Optional(Type.String({ maxLength: 40 })),
})

type Stores = Pick<CentralContext, 'model' | 'findings' | 'results' | 'notes'>
type ListStores = Stores & RunStores & DataEndContext & Pick<CentralContext, 'prices'>

export const faultsPage = (context: ListStores, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/faults',
    auth: 'viewer',
    summary: 'The page of faults',
    query: Query,
    handle: async call => {
      const query = readQuery(call.query)
      const runs = panelOf(context, layout, call, query.building)
      const model = { ...(await faultsModel(context, layout, query)), runs }
      return layout.document(call, { title: 'Faults', current: '/faults', here: model.here }, faultsBody(model))
    },
  }),
]

function readQuery({
  lane = 'faults',
  group = 'equipment',
  days = 7,
  sort = 'worst',
  ...given
}: Static<typeof Query>): FaultQuery {
  const { state, priority, building, equipment, before } = given
  return {
    lane,
    group,
    days,
    sort,
    ...(state && { state }),
    ...(priority && { priority: Number(priority) as Priority }),
    ...(building && { building }),
    ...(equipment && { equipment }),
    ...(before && { before }),
  }
}

async function faultsModel(context: ListStores, layout: PageLayout, query: FaultQuery): Promise<Omit<FaultsModel, 'runs'>> {
  const buildings = context.model.buildings()
  const chosen = buildings.find(({ building_id }) => building_id === query.building)
  const here = { ...layout.here(), ...(chosen && { timezone: chosen.timezone }) }
  const listedOf = query.building === undefined ? buildings.map(({ building_id }) => building_id) : [query.building]
  const ends = await dataEnds(context, listedOf, here.now)
  const items = episodesWithin(context, query, ends, here.now)
  const rows = toRows(items, here.now).filter(({ row }) => matches(row, query))
  const counts = Object.fromEntries(LANES.map(lane => [lane, rows.filter(row => row.lane === lane).length]))
  const equipmentName = equipmentNames(context)
  const asked = ({ building_id }: { building_id: string }) => query.building === undefined || building_id === query.building
  const listed = rows.filter(({ lane }) => lane === query.lane).map(({ row }) => row)
  const shown = query.sort === 'cost' ? listed.toSorted(byCost) : listed
  const titleOf = (finding: Finding) => {
    const building = buildings.length > 1 ? buildings.find(({ building_id }) => building_id === finding.building_id) : undefined
    return building ? `${equipmentName(finding)}, ${building.name}` : equipmentName(finding)
  }
  return {
    query,
    here,
    groups: groupRows(shown, query.group, titleOf),
    counts: counts as Record<Lane, number>,
    ...(items.length === EPISODES_MAX && { truncated: { at: EPISODES_MAX, oldest: items.at(-1)!.finding.from + 1 } }),
    dataEnds: ends,
    buildings,
    equipmentName,
    together: togetherOf(context, query, items, ends, here.now),
    lastRuns: buildings.filter(asked).flatMap(({ building_id }) => lastRun(context, building_id) ?? []),
    boxes: context.edges
      .list()
      .filter(asked)
      .map(({ edge_id, name, building_id, last_data_at }) => ({ name: name || edge_id, building_id, last_data_at })),
  }
}

/** The cost of the listed faults by building; nothing where the list shows only some of those that overlap. */
function togetherOf({ model, prices }: ListStores, query: FaultQuery, items: Named[], ends: DataEnds, now: number): Together[] {
  const { lane, state, priority, equipment, before, days } = query
  if (lane !== 'faults' || [state, priority, before].some(one => one !== undefined)) return []
  const listed = items
    .filter(item => laneOf(item, now) === lane && (equipment === undefined || item.finding.equipment_id === equipment))
    .map(({ finding }) => finding)
  return model.buildings().flatMap(building => {
    const until = ends.get(building.building_id) ?? now
    const own = listed.filter(({ building_id }) => building_id === building.building_id)
    const energy = combinedEnergy(own, { from: until - days * DAY, to: until }).get(building.building_id) ?? []
    return energy.length > 0 ? [{ building, energy, prices: prices.get(building.building_id) }] : []
  })
}

/**
 * Episodes that overlap the last days, newest start first, with what people noted. Of a building whose data ended they are
 * the last days of its data.
 */
function episodesWithin({ findings, notes }: Stores, query: FaultQuery, ends: DataEnds, now: number): Named[] {
  const { days, building, before } = query
  const to = before === undefined ? now + 1 : readInstant('before', before)
  const within = (until: number, building_id: string | undefined) =>
    findings.list({ ...(building_id !== undefined && { building_id }), from: until - days * DAY, to, limit: EPISODES_MAX })
  const listed = [...within(now, building), ...[...ends].flatMap(([building_id, end]) => within(end, building_id))]
  const once = [...new Map(listed.map(finding => [finding.finding_id, finding])).values()]
  return once
    .toSorted((a, b) => b.from - a.from)
    .slice(0, EPISODES_MAX)
    .map(finding => ({ finding, note: notes.get(finding.finding_id) }))
}

/** Rows of what is open, the worst first: only what lasts is looked at. */
export function openRows(
  { findings, notes }: Pick<Stores, 'findings' | 'notes'>,
  now: number,
  building_id?: string,
): ReturnType<typeof toRows> {
  const active = findings.list({ ...(building_id !== undefined && { building_id }), state: 'active', limit: EPISODES_MAX })
  return toRows(
    active.map(finding => ({ finding, note: notes.get(finding.finding_id) })),
    now,
  )
}

/** Open faults by priority, for Fleet. */
export const openFaults = (stores: Pick<Stores, 'findings' | 'notes'>, now: number, building_id?: string): OpenCounts =>
  countOpen(openRows(stores, now, building_id))

/** Names by building and equipment, looked up once for a page. */
export function equipmentNames({ model }: Pick<Stores, 'model'>) {
  const names = new Map<string, Map<string, string>>()
  return ({ building_id, equipment_id }: { building_id: string; equipment_id: string }): string => {
    const known = names.get(building_id) ?? new Map(model.equipment(building_id).map(({ equipment_id: id, name }) => [id, name]))
    names.set(building_id, known)
    return known.get(equipment_id) || equipment_id
  }
}

/** Results and gaps of the newest run of a building; undefined before the first. */
function lastRun({ results }: Pick<Stores, 'results'>, building_id: string): LastRun | undefined {
  const [run] = results.runs({ building_id, limit: 1 })
  return run && { building_id, finished_at: run.finished_at, failed: run.failed.length, results: results.latest(building_id) }
}
