/** The page of faults. */
import { type Static, Type } from '@sinclair/typebox'
import type { Finding, Priority } from '#shared/core/findings/finding.ts'
import { URGENCIES, type Urgency } from '#shared/core/findings/urgency.ts'
import { combinedEnergy } from '#shared/core/impact/combined-energy.ts'
import { DAY } from '#shared/core/time.ts'
import { checkedAt } from '#shared/core/telemetry/status.ts'
import type { Together } from '#shared/central/ui/cost-words.ts'
import {
  ANY_AGE_DAYS,
  byAge,
  byCost,
  type FaultQuery,
  type FaultRow,
  GROUPINGS,
  groupRows,
  laneOf,
  LANES,
  type Lane,
  matches,
  type Named,
  SORTS,
  toRows,
} from './fault-list.ts'
import { type FaultsModel, type LastRun } from './faults-model.ts'
import { faultsCsv } from './faults-csv.ts'
import { faultsBody } from './faults.view.ts'
import { BulkForm, changeFaults, DONE, readDone, withDone } from './fault-bulk.ts'
import { ENDED, namedSnoozes, snoozeForms } from './snoozes.route.ts'
import { partOf } from '#shared/central/ui/pager.ts'
import { safeNext } from '#shared/central/pages/typed-form.ts'
import { oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import { panelOf, type RunStores } from '#shared/central/pages/runs.route.ts'
import { readInstant } from '#shared/central/api/record-views.ts'
import { type DataEndContext, type DataEnds, dataEnds } from '#shared/central/pages/data-freshness.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { say } from '#shared/node/http/language.ts'

/** Most episodes that one page gathers into rows. */
const EPISODES_MAX = 1000
/** Rows of one page of the list. */
const ROWS_SHOWN = 100
/** A year. */
const MINUTES_MAX = 366 * 24 * 60

/** An empty text stands for no filter: that is what a form sends. */
const Query = strict({
  lane: Type.Optional(oneOf(LANES)),
  group: Type.Optional(oneOf(GROUPINGS)),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: ANY_AGE_DAYS })),
  sort: Type.Optional(oneOf(SORTS)),
  state: Type.Optional(oneOf(['', 'active', 'cleared'])),
  priority: Type.Optional(oneOf(['', '1', '2', '3'])),
  urgency: Type.Optional(oneOf(['', ...URGENCIES])),
  building: Type.Optional(PAGE_ID),
  equipment: Type.Optional(PAGE_ID),
  rule: Type.Optional(PAGE_ID),
  minutes: Type.Optional(Type.Integer({ minimum: 0, maximum: MINUTES_MAX })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: EPISODES_MAX })),
  ...DONE,
  ...ENDED,
  before: Type.Optional(Type.String({ maxLength: 40 })),
})

type Stores = Reading<Pick<CentralContext, 'model' | 'findings' | 'results' | 'notes' | 'snoozes'>>
type ListModel = Omit<FaultsModel, 'runs' | 'mayOperate' | 'csrf' | 'done' | 'ended'>
type ListStores = Stores & RunStores & DataEndContext & Pick<CentralContext, 'prices' | 'clock' | 'rules'>

export const faultsPage = (context: ListStores, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/faults',
    auth: 'viewer',
    summary: 'The page of faults',
    query: Query,
    handle: async call => {
      const query = readQuery(call.query)
      const user = layout.userOf(call.caller)
      const model = {
        ...(await faultsModel({ ...context, model: layout.modelFor(call.caller) }, layout, query)),
        runs: panelOf(context, layout, call, query.building),
        mayOperate: user?.mayOperate === true,
        csrf: layout.csrfOf(call.caller),
        done: readDone(call.query),
        ended: call.query.ended,
      }
      return layout.document(call, { title: say`Faults`, current: '/faults', here: model.here }, faultsBody(model))
    },
  }),
  route({
    method: 'GET',
    path: '/faults.csv',
    auth: 'viewer',
    summary: 'All faults of the list as CSV',
    query: Query,
    handle: async ({ query, caller, reply }) => {
      const own = { ...context, model: layout.modelFor(caller) }
      const { rows } = await listedRows(own, readQuery(query), layout.here().now)
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="faults.csv"')
      return reply.send(faultsCsv(rows, { buildings: own.model.buildings(), equipmentName: equipmentNames(own) }))
    },
  }),
  route({
    method: 'POST',
    path: '/faults/bulk',
    auth: 'operator',
    summary: 'Acknowledges, snoozes or assigns the chosen faults of the page',
    takes: 'form',
    action: 'finding_bulk',
    body: BulkForm,
    problems: ['unknown_finding', 'bad_request'],
    handle: call => {
      const done = changeFaults(context, call, call.body)
      return call.reply.redirect(withDone(safeNext(call.body.back ?? '/faults'), done), 303)
    },
  }),
  ...snoozeForms(context),
]

function readQuery({ lane = 'faults', group = 'none', days = 7, sort = 'worst', ...given }: Static<typeof Query>): FaultQuery {
  const { state, priority, urgency, building, equipment, rule, minutes, page = 1, before } = given
  return {
    lane,
    group,
    days,
    sort,
    ...(state && { state }),
    ...(priority && { priority: Number(priority) as Priority }),
    ...(urgency && { urgency }),
    ...(building && { building }),
    ...(equipment && { equipment }),
    ...(rule && { rule }),
    ...(minutes && { minutes }),
    ...(page > 1 && { page }),
    ...(before && { before }),
  }
}

/** The rows of the asked lane in the asked order, how many each lane has, and what they were gathered from. */
async function listedRows(context: ListStores, query: FaultQuery, now: number) {
  const buildings = context.model.buildings()
  const listedOf = query.building === undefined ? buildings.map(({ building_id }) => building_id) : [query.building]
  const ends = dataEnds(context, listedOf, now)
  const items = episodesWithin(context, query, ends, now)
  const all = toRows(items, now, building_id => ends.has(building_id))
  const { urgency: _urgency, ...rest } = query
  const beside = all.filter(({ lane, row }) => lane === query.lane && matches(row, rest)).map(({ row }) => row)
  const found = all.filter(({ row }) => matches(row, query))
  const urgencies = Object.fromEntries(URGENCIES.map(one => [one, beside.filter(({ urgency }) => urgency === one).length]))
  const counts = Object.fromEntries(LANES.map(lane => [lane, found.filter(row => row.lane === lane).length]))
  const listed = found.filter(({ lane }) => lane === query.lane).map(({ row }) => row)
  const rows = query.sort === 'cost' ? listed.toSorted(byCost) : query.sort === 'oldest' ? listed.toSorted(byAge) : listed
  return { rows, counts: counts as Record<Lane, number>, urgencies: urgencies as Record<Urgency, number>, items, ends }
}

async function faultsModel(context: ListStores, layout: PageLayout, query: FaultQuery): Promise<ListModel> {
  const buildings = context.model.buildings()
  const byId = new Map(buildings.map(building => [building.building_id, building]))
  const chosen = byId.get(query.building ?? '')
  const here = { ...layout.here(), ...(chosen && { timezone: chosen.timezone }) }
  const { rows, counts, urgencies, items, ends } = await listedRows(context, query, here.now)
  const equipmentName = equipmentNames(context)
  const asked = ({ building_id }: { building_id: string }) => query.building === undefined || building_id === query.building
  const part = partOf(rows, query.page, ROWS_SHOWN)
  const buildingName = ({ building_id }: Finding) => byId.get(building_id)?.name ?? building_id
  const names = {
    building: buildingName,
    equipment: (finding: Finding) =>
      buildings.length > 1 ? `${equipmentName(finding)}, ${buildingName(finding)}` : equipmentName(finding),
  }
  return {
    query,
    here,
    groups: groupsOf(part.rows, query, names),
    part,
    equipmentWords: equipment_id => {
      const found = items.find(({ finding }) => finding.equipment_id === equipment_id)
      return found ? equipmentName(found.finding) : equipment_id
    },
    ruleWords: rule_id => items.find(({ finding }) => finding.rule_id === rule_id)?.finding.title ?? rule_id,
    counts,
    urgencies,
    ...(items.length === EPISODES_MAX && { truncated: { at: EPISODES_MAX, oldest: items.at(-1)!.finding.from + 1 } }),
    dataEnds: ends,
    snoozes: query.lane === 'silenced' ? namedSnoozes(context, here, query.building, equipmentName) : [],
    buildings,
    equipmentName,
    together: togetherOf(context, query, items, ends, here.now),
    lastRuns: buildings.filter(asked).flatMap(({ building_id }) => lastRun(context, building_id) ?? []),
    boxes: context.edges
      .list()
      .filter(asked)
      .map(({ edge_id, name, building_id, last_data_at, status_body }) => ({
        ...{ name: name || edge_id, building_id, last_data_at },
        last_check_at: checkedAt(status_body),
      })),
  }
}

/** In the order of the worst, what is urgent stands apart from the rest where there is both. */
function groupsOf(rows: FaultRow[], { lane, group, sort }: FaultQuery, names: Parameters<typeof groupRows>[2]) {
  const groups = lane === 'faults' && group === 'none' && sort === 'worst' ? groupRows(rows, 'urgency', names) : []
  return groups.length > 1 ? groups : groupRows(rows, group, names)
}

/** The cost of the listed faults by building; nothing where the list shows only some of those that overlap. */
function togetherOf({ model, prices }: ListStores, query: FaultQuery, items: Named[], ends: DataEnds, now: number): Together[] {
  const { lane, state, priority, urgency, equipment, rule, minutes, before, days } = query
  if (lane !== 'faults' || [state, priority, urgency, rule, minutes, before].some(one => one !== undefined)) return []
  const listed = items
    .filter(item => laneOf(item, now) === lane && (equipment === undefined || item.finding.equipment_id === equipment))
    .map(({ finding }) => finding)
  const byBuilding = Map.groupBy(listed, ({ building_id }) => building_id)
  return model.buildings().flatMap(building => {
    const own = byBuilding.get(building.building_id)
    if (own === undefined) return []
    const until = ends.get(building.building_id) ?? now
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
    .map(finding => ({ finding, note: notes.of(finding, now) }))
}

/** Rows of what is open, the worst first: only what lasts is looked at. */
export function openRows({ findings, notes }: Pick<Stores, 'findings' | 'notes'>, now: number): ReturnType<typeof toRows> {
  const active = findings.list({ state: 'active', limit: EPISODES_MAX })
  return toRows(
    active.map(finding => ({ finding, note: notes.of(finding, now) })),
    now,
  )
}

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
  return run && { building_id, finished_at: run.finished_at, failed: run.failed.length, standing: results.standing(building_id) }
}
