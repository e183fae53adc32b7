/** Gathers what the page of one equipment shows. */
import { stretchesOf, stretchesWithin } from '#shared/core/findings/fault-time.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Snooze } from '#shared/core/findings/snooze.ts'
import { combinedEnergy } from '#shared/core/impact/combined-energy.ts'
import { needBuilding, needEquipment } from '#shared/core/lookup.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { activeSlot, type ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { type OverridePeriod, overridePeriods } from '#shared/core/priority/override-periods.ts'
import type { Span } from '#shared/core/series/spans.ts'
import type { Clock } from '#shared/core/ports.ts'
import { DAY } from '#shared/core/time.ts'
import { inForce } from '#shared/central/commands/snoozes.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import { laneOf, type Named } from '#shared/central/pages/faults/fault-list.ts'
import type { Together } from '#shared/central/ui/cost-words.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { readPointValues, type PointValue } from './point-values.ts'

/** Five minutes a bucket: a sparkline has 160 pixels. */
const BUCKETS = 288
/** Episodes of one equipment in thirty days that the page gathers. */
const EPISODES_MAX = 500
/** How far back overrides are looked for. */
const OVERRIDES_SPAN = 7 * DAY
const MONTH = 30 * DAY
/** The page waits so long for the coverage of the building: after a change of a large model it takes seconds, once. */
const COVERAGE_WAIT_MS = 400
export const LANE_DAYS = [7, 30] as const

export type EquipmentStores = Reading<
  Pick<
    CentralContext,
    | 'clock'
    | 'model'
    | 'findings'
    | 'results'
    | 'notes'
    | 'snoozes'
    | 'historian'
    | 'live'
    | 'priority'
    | 'rules'
    | 'edges'
    | 'prices'
  >
>
type FaultLane = { title: string; rule_id: string; newest: Finding; bars: Span[]; episodes: number; trueMs: number }
export type HeldPoint = { point: Point; held: OverridePeriod[]; now: OverridePeriod | undefined }
type Neighbour = Equipment & { open: number }
/** The part of the page that refreshes itself. */
export type EquipmentNow = {
  here: Here
  building: Building
  equipment: Equipment
  /** When the building's data ended; undefined while data arrives. */
  dataEnd: number | undefined
  values: PointValue[]
  /** Undefined where this process does not know priority arrays. */
  overrides: HeldPoint[] | undefined
}
export type EquipmentModel = EquipmentNow & {
  /** The snooze of the equipment that is in force. */
  snooze: Snooze | undefined
  days: number
  span: Span
  /** Active faults and findings about data, the worst first; none that is silenced. */
  open: Named[]
  lanes: FaultLane[]
  feeds: Neighbour[]
  fedBy: Neighbour[]
  rules: RulesHere
  cost: Together | undefined
  /** Edges that report for the building; their pages have its overrides. */
  edges: { site_id: string; edge_id: string; name: string }[]
}
/** Rules for this equipment: how many can run, what the newest results say, and the roles that would let more run. */
type RulesHere = {
  /** Undefined while the coverage is being computed. */
  coverage: { canRun: number; all: number; gains: { role: string; rule_ids: string[] }[] } | undefined
  /** Those that can run, by name. */
  runnable: { rule_id: string; title: string }[]
  inFault: number
  passed: number
  other: number
}

type Asked = { building_id: string; equipment_id: string; here: Here }

/** @throws Problem unknown_building or unknown_equipment */
export async function equipmentNowModel(context: EquipmentStores, asked: Asked): Promise<EquipmentNow> {
  const { building_id, equipment_id } = asked
  const building = needBuilding(context.model, building_id)
  const equipment = needEquipment(context.model, building_id, equipment_id)
  const here = { ...asked.here, timezone: building.timezone }
  const dataEnd = dataEnds(context, [building_id], here.now).get(building_id)
  const until = dataEnd ?? here.now
  const points = context.model.points(building_id).filter(point => point.equipment_id === equipment_id)
  const [values, overrides] = await Promise.all([
    readPointValues(context, points, { from: until - DAY, to: until + 1 }, BUCKETS),
    readHeld(context, building_id, points, until),
  ])
  return { here, building, equipment, dataEnd, values, overrides }
}

/** @throws Problem unknown_building or unknown_equipment */
export async function equipmentModel(context: EquipmentStores, asked: Asked & { days: number }): Promise<EquipmentModel> {
  const { building_id, equipment_id, days } = asked
  const [now, rules] = await Promise.all([equipmentNowModel(context, asked), rulesHere(context, building_id, equipment_id)])
  const { here, building, equipment, dataEnd } = now
  const until = dataEnd ?? here.now
  const span = { from: until - days * DAY, to: until }
  const month = episodesOf(context, equipment, { from: until - MONTH, to: until + 1 })
  const spoken = month.filter(item => laneOf(item, here.now) !== 'silenced')
  const loud = spoken.filter(({ finding }) => finding.state === 'active')
  return {
    ...now,
    days,
    span,
    snooze: inForce(context, { building_id, equipment_id }),
    open: loud.toSorted((a, b) => a.finding.severity - b.finding.severity || a.finding.from - b.finding.from),
    lanes: lanesOf(spoken, span, until),
    ...neighboursOf(context, equipment),
    rules,
    cost: costOf(context, building, spoken, until),
    edges: context.edges.list().filter(edge => edge.building_id === building_id),
  }
}

/** Episodes of an equipment that overlap a span, newest first, with their notes. */
export const episodesOf = (
  { findings, notes, clock }: Pick<EquipmentStores, 'findings' | 'notes' | 'clock'>,
  { building_id, equipment_id }: Pick<Equipment, 'building_id' | 'equipment_id'>,
  span: Span,
): Named[] =>
  findings
    .list({ building_id, equipment_id, ...span, limit: EPISODES_MAX })
    .map(finding => ({ finding, note: notes.of(finding, clock.now()) }))

/** One lane for each rule (and role, of a rule over every role), the longest in fault first. */
function lanesOf(items: Named[], { from, to }: Span, until: number): FaultLane[] {
  const groups = Map.groupBy(
    items.map(({ finding }) => finding),
    ({ rule_id, role = '' }) => `${rule_id}\n${role}`,
  )
  const lanes = [...groups.values()].flatMap((findings): FaultLane[] => {
    const stretches = findings.flatMap(finding => stretchesWithin(stretchesOf(finding, until), from, to))
    const [newest] = findings
    if (!newest || stretches.length === 0) return []
    const title = titleOf(newest)
    const bars = stretches.map(([first, last]) => ({ from: first, to: last }))
    const trueMs = stretches.reduce((sum, [, , ms]) => sum + ms, 0)
    const episodes = findings.filter(one => one.from < to && (one.to ?? until) > from).length
    return [{ title, rule_id: newest.rule_id, newest, bars, episodes, trueMs }]
  })
  return lanes.toSorted((a, b) => b.trueMs - a.trueMs)
}

/** The points with an override within the last days, those that are overridden now first. */
async function readHeld(
  { priority }: Pick<EquipmentStores, 'priority'>,
  building_id: string,
  points: Point[],
  until: number,
): Promise<HeldPoint[] | undefined> {
  if (!priority) return undefined
  const point_ids = points.map(({ point_id }) => point_id)
  const visits = await priority.snapshots(building_id, { from: until - OVERRIDES_SPAN, to: until + 1, point_ids })
  const held = points.flatMap((point): HeldPoint[] => {
    const seen = visits[point.point_id] ?? []
    const periods = overridePeriods(seen)
    const last = seen.at(-1)
    if (!last || (periods.length === 0 && !last.overridden)) return []
    return [{ point, held: periods, now: last.overridden ? heldNow(periods, last) : undefined }]
  })
  return held.toSorted((a, b) => (a.now?.from ?? Infinity) - (b.now?.from ?? Infinity))
}

/** The period that the newest visit continues, or that visit alone where it is the first to show the override. */
function heldNow(periods: OverridePeriod[], last: ArraySnapshot): OverridePeriod {
  const slot = activeSlot(last)
  return (
    periods.findLast(({ to }) => to === last.t) ?? { from: last.t, to: last.t, slot, value: last.slots[slot - 1] ?? Number.NaN }
  )
}

function neighboursOf({ model, findings }: EquipmentStores, { building_id, equipment_id, feeds = [], parent_id }: Equipment) {
  const all = model.equipment(building_id)
  const active = Map.groupBy(
    findings.active(building_id).filter(({ suppressed_by }) => suppressed_by === undefined),
    finding => finding.equipment_id,
  )
  const withOpen = (one: Equipment): Neighbour => ({ ...one, open: active.get(one.equipment_id)?.length ?? 0 })
  const isFed = (one: Equipment) => feeds.includes(one.equipment_id) || one.parent_id === equipment_id
  const feedsThis = (one: Equipment) => one.equipment_id === parent_id || one.feeds?.includes(equipment_id) === true
  return { feeds: all.filter(isFed).map(withOpen), fedBy: all.filter(feedsThis).map(withOpen) }
}

async function rulesHere(context: EquipmentStores, building_id: string, equipment_id: string): Promise<RulesHere> {
  const { clock, rules, results } = context
  const known = await within(clock, COVERAGE_WAIT_MS, rules.coverage(building_id))
  const byId = known && (await rules.catalogue()).byId
  const own = known?.lines.filter(line => line.equipment_id === equipment_id) ?? []
  const latest = results.latest(building_id, equipment_id)
  const counted = (status: 'fault' | 'pass') => latest.filter(result => result.status === status).length
  const [inFault, passed] = [counted('fault'), counted('pass')]
  const runnable = own
    .filter(({ missing }) => missing.length === 0)
    .map(({ rule_id }) => ({ rule_id, title: byId?.get(rule_id)?.title ?? rule_id }))
  const canRun = runnable.length
  const gains = known?.gains.filter(gain => gain.equipment_id === equipment_id) ?? []
  return {
    coverage: known && { canRun, all: own.length, gains },
    runnable,
    inFault,
    passed,
    other: Math.max(0, latest.length - inFault - passed),
  }
}

/** @returns undefined when `work` takes longer; it continues */
async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const waiting = new AbortController()
  try {
    return await Promise.race([work, clock.sleep(ms, waiting.signal).then(() => undefined)])
  } finally {
    waiting.abort()
  }
}

function costOf({ prices }: EquipmentStores, building: Building, items: Named[], until: number): Together | undefined {
  const { building_id } = building
  const findings = items.map(({ finding }) => finding)
  const energy = combinedEnergy(findings, { from: until - MONTH, to: until }).get(building_id) ?? []
  return energy.length > 0 ? { building, energy, prices: prices.get(building_id) } : undefined
}
