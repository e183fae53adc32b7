import { medianGap, reportingGap } from '#shared/core/series/statistics.ts'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { Historian } from '#shared/core/ports.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { historyNeeded } from '#shared/core/rules/check/history-needed.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'
import { firstAtOrAfter } from '#shared/core/rules/compile/step-signal.ts'
import type { Series } from '#shared/core/series/series.ts'
import { DAY, SECOND } from '#shared/core/time.ts'
import { leapOf } from '#shared/core/model/role-leap.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { withoutDoubtful } from '#shared/core/series/doubtful.ts'
import { withoutUntrusted } from '#shared/core/series/untrusted-spans.ts'

/** Least history to read before the span: an episode has the same start as in an earlier run. */
const PAST_MS = 7 * DAY
/**
 * More gaps than this may replace an interval from an earlier run, if they differ by more than this factor; a sample holds
 * until one that is three intervals late.
 */
const GAPS_TOLD_FROM = 12
const SPACING_DRIFT = 2

/** How much history before a run's span the rules need, ms. */
export const pastOf = (rules: Rule[]): number => Math.max(PAST_MS, historyNeeded(rules))

/**
 * The history of a building's equipment by role, each value converted once to the role's canonical unit.
 *
 * @param from, to the span that rules may see, ms
 * @param visits to priority arrays by point, in the point's own unit
 * @returns one entry for each equipment, also for one without a point; a role has the point with the lowest id
 */
export async function buildFrames(
  building_id: string,
  equipment: Equipment[],
  points: Point[],
  { from, to }: { from: number; to: number },
  historian: Pick<Historian, 'read'>,
  visits: Record<string, ArraySnapshot[]> = {},
): Promise<EquipmentData[]> {
  const roles = rolesOf(points)
  const frames: EquipmentData[] = []
  for (const each of equipment) {
    const own = roles(each.equipment_id)
    const point_ids = own.map(({ point_id }) => point_id)
    const series = point_ids.length ? await historian.read({ building_id, point_ids, from, to }) : []
    const seriesOf = new Map(point_ids.map((point_id, i) => [point_id, series[i]!]))
    const read = own.map(point => roleSeries(point, seriesOf.get(point.point_id)!))
    frames.push(frameOf(each, own, read, own, visits))
  }
  return frames
}

/** A point that rules can read. */
export type RolePoint = Point & { role: string }

/** @returns a function that gives an equipment's points, one for each role: that with the lowest id */
export function rolesOf(points: Point[]): (equipment_id: string) => RolePoint[] {
  const byEquipment = Map.groupBy(points.filter(isReadable), ({ equipment_id }) => equipment_id)
  return equipment_id => onePerRole(byEquipment.get(equipment_id) ?? [])
}

const isReadable = (point: Point): point is RolePoint =>
  point.role !== undefined && ROLES[point.role] !== undefined && conversion(point.unit, ROLES[point.role]!.unit) !== undefined

function onePerRole(points: RolePoint[]): RolePoint[] {
  const byRole = new Map(points.toSorted((a, b) => (a.point_id < b.point_id ? 1 : -1)).map(point => [point.role, point]))
  return [...byRole.values()]
}

/**
 * The frame of one equipment, or of some of its roles, as rules read it.
 *
 * @param series of each of the points
 * @param visited points of which visits are wanted
 */
export function frameOf(
  { equipment_id, equipment_type, feeds = [], parent_id }: Equipment,
  points: RolePoint[],
  series: RoleSeries[],
  visited: RolePoint[],
  visits: Record<string, ArraySnapshot[]>,
): EquipmentData {
  const roles = Object.fromEntries(points.map(({ role }, i) => [role, series[i]!]))
  const known = visited.filter(({ point_id }) => visits[point_id])
  const seen = Object.fromEntries(known.map(point => [point.role, canonicalVisits(point, visits[point.point_id]!)]))
  return { equipment_id, equipment_type, roles, visits: seen, feeds, ...(parent_id !== undefined && { parent_id }) }
}

function canonicalVisits({ role, unit }: RolePoint, visits: ArraySnapshot[]): ArraySnapshot[] {
  const { scale, offset } = conversion(unit, ROLES[role]!.unit)!
  const canonical = (value: number | null) => (value === null ? null : value * scale + offset)
  return visits.map(visit => ({ ...visit, slots: visit.slots.map(canonical), fallback: visit.fallback * scale + offset }))
}

/**
 * @param pinnedMs the usual interval as derived from more samples than these; it is used as long as these agree with it
 * @param from samples before it are left out; they only tell which of the later ones are believed
 */
export function roleSeries(
  { point_id, role, unit, poll_secs, source }: RolePoint,
  series: Series,
  pinnedMs?: number,
  from = -Infinity,
): RoleSeries {
  const { scale, offset } = conversion(unit, ROLES[role]!.unit)!
  const { untrusted } = source
  const first = firstAtOrAfter(series.ts, from)
  const canonical = scale === 1 && offset === 0 ? series.values : series.values.map(value => value * scale + offset)
  const trusted = untrusted ? withoutUntrusted(series.ts, canonical, untrusted) : canonical
  const leap = leapOf(role)
  const believed = leap ? withoutDoubtful(series.ts, trusted, leap, offset, ROLES[role]!.range) : trusted
  const ts = series.ts.subarray(first)
  return {
    point_id,
    unit,
    ts,
    values: believed.subarray(first),
    ...(believed !== trusted && { read: trusted.subarray(first) }),
    ...(untrusted && { untrusted }),
    ...(poll_secs === undefined ? spacingOf(ts, pinnedMs) : { nominalMs: poll_secs * SECOND }),
  }
}

/** A point that reports changes alone is stale when it does not repeat its value either. */
function spacingOf(ts: Float64Array, pinnedMs: number | undefined): Pick<RoleSeries, 'nominalMs' | 'reportsChanges'> {
  const nominalMs = usualGap(ts, pinnedMs)
  return nominalMs > medianGap(ts) * SPACING_DRIFT ? { nominalMs, reportsChanges: true } : { nominalMs }
}

function usualGap(ts: Float64Array, pinnedMs: number | undefined): number {
  if (pinnedMs !== undefined && ts.length <= GAPS_TOLD_FROM) return pinnedMs
  const own = reportingGap(ts)
  const agree = pinnedMs !== undefined && own <= pinnedMs * SPACING_DRIFT && pinnedMs <= own * SPACING_DRIFT
  return agree ? pinnedMs : own
}
