import type { Equipment, Point } from '#shared/core/model.ts'
import type { Historian } from '#shared/core/ports.ts'
import type { Visit } from '#shared/core/priority/visits.ts'
import { ROLES } from '#shared/core/role.ts'
import { historyNeeded } from '#shared/core/rules/needs.ts'
import type { EquipmentData, RoleSeries, Rule } from '#shared/core/rules/types.ts'
import type { Series } from '#shared/core/series.ts'
import { DAY, MINUTE, SECOND } from '#shared/core/time.ts'
import { conversion } from '#shared/core/unit.ts'

/** Least past that is read: an episode keeps the start that it had in an earlier run. */
const PAST_MS = 7 * DAY
/** Spacing of a point with fewer than two samples, of which nothing is known. */
const NOMINAL_MS = 5 * MINUTE
/** Gaps that the usual spacing is told from. */
const GAPS_LOOKED_AT = 2001

/** How far before a run's span rules look. */
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
  visits: Record<string, Visit[]> = {},
): Promise<EquipmentData[]> {
  const readable = points.filter(({ role, unit }) => role !== undefined && ROLES[role] && conversion(unit, ROLES[role].unit))
  const byEquipment = Map.groupBy(readable, ({ equipment_id }) => equipment_id)
  const frames: EquipmentData[] = []
  for (const { equipment_id, equipment_type, feeds = [], parent_id } of equipment) {
    const own = onePerRole(byEquipment.get(equipment_id) ?? [])
    const point_ids = own.map(({ point_id }) => point_id)
    const series = point_ids.length ? await historian.read({ building_id, point_ids, from, to }) : []
    const roles = Object.fromEntries(own.map((point, i) => [point.role!, roleSeries(point, series[i]!)]))
    const visited = own.flatMap(point =>
      visits[point.point_id] ? [[point.role!, canonicalVisits(point, visits[point.point_id]!)]] : [],
    )
    const seen: Record<string, Visit[]> = Object.fromEntries(visited)
    frames.push({ equipment_id, equipment_type, roles, visits: seen, feeds, ...(parent_id !== undefined && { parent_id }) })
  }
  return frames
}

function canonicalVisits({ role, unit }: Point, visits: Visit[]): Visit[] {
  const { scale, offset } = conversion(unit, ROLES[role!]!.unit)!
  const canonical = (value: number | null) => (value === null ? null : value * scale + offset)
  return visits.map(visit => ({ ...visit, slots: visit.slots.map(canonical), fallback: visit.fallback * scale + offset }))
}

function onePerRole(points: Point[]): Point[] {
  const byRole = new Map(points.toSorted((a, b) => (a.point_id < b.point_id ? 1 : -1)).map(point => [point.role!, point]))
  return [...byRole.values()]
}

function roleSeries({ point_id, role, unit, poll_secs }: Point, { ts, values }: Series): RoleSeries {
  const { scale, offset } = conversion(unit, ROLES[role!]!.unit)!
  const canonical = scale === 1 && offset === 0 ? values : values.map(value => value * scale + offset)
  return { point_id, ts, values: canonical, nominalMs: poll_secs === undefined ? medianGap(ts) : poll_secs * SECOND }
}

/** The usual distance between samples, from gaps spread evenly over the series. */
export function medianGap(ts: Float64Array): number {
  const gaps = ts.length - 1
  if (gaps < 1) return NOMINAL_MS
  const looked = Math.min(gaps, GAPS_LOOKED_AT)
  const sample = Float64Array.from({ length: looked }, (_, i) => {
    const at = Math.floor((i * gaps) / looked)
    return ts[at + 1]! - ts[at]!
  })
  return sample.toSorted()[looked >> 1]!
}
