import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { LEVELS } from '#shared/core/priority/priority-record.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { openSimulation, SITE_START, TIMEZONE } from './building.ts'
import { siteCatalogue } from './catalogue.ts'
import type { ScheduledFault } from './faults.ts'
import { commandsOf, type Override } from './overrides.ts'
import { POINTS, type SimPoint } from './points.ts'

/**
 * History of the site, a sample a minute over `[from, to)`, without a bus between.
 *
 * @param overrides what people hold; hourly visits see it. Without them nothing is visited
 */
export function sampleSite(
  script: readonly ScheduledFault[],
  from: number,
  to: number,
  overrides?: readonly Override[],
): EquipmentData[] {
  const simulation = openSimulation(script)
  const count = Math.ceil((to - from) / MINUTE)
  const ts = Float64Array.from({ length: count }, (_, i) => from + i * MINUTE)
  const columns = new Map(POINTS.map(point => [point.point_id, new Float64Array(count)]))
  for (const [i, ms] of ts.entries()) {
    for (const point of POINTS) {
      const silent = point.silencedBy !== undefined && simulation.faults(ms).has(point.silencedBy)
      columns.get(point.point_id)![i] = silent ? Number.NaN : canonical(point, simulation.read(point, ms))
    }
  }
  return siteCatalogue(1).site.equipment.map(one => {
    const own = POINTS.filter(({ equipment_id, role }) => equipment_id === one.equipment_id && role !== undefined)
    const seen = overrides && own.flatMap(point => visitsTo(point, simulation, overrides, from, to))
    const roles = own.map(({ point_id, role }) => [role!, { point_id, ts, values: columns.get(point_id)!, nominalMs: MINUTE }])
    return {
      equipment_id: one.equipment_id,
      equipment_type: one.equipment_type,
      roles: Object.fromEntries(roles),
      ...(seen && { visits: Object.fromEntries(seen) }),
      feeds: 'feeds' in one ? one.feeds : [],
      ...('parent_id' in one ? { parent_id: one.parent_id } : {}),
    } as EquipmentData
  })
}

const MEANINGS = levelMeanings()

/** @returns the point's role and its visits; nothing for a point that nothing commands */
function visitsTo(
  point: SimPoint,
  simulation: ReturnType<typeof openSimulation>,
  overrides: readonly Override[],
  from: number,
  to: number,
): [string, ArraySnapshot[]][] {
  let t = from
  const commands = commandsOf(
    point,
    () => simulation.read(point, t),
    () => t - SITE_START,
    overrides,
  )
  if (!commands) return []
  const visits: ArraySnapshot[] = []
  for (; t < to; t += HOUR) {
    const levels = Array.from({ length: LEVELS }, (_level, i): unknown => commands.level(i + 1))
    const slots = levels.map((value): number | null => (typeof value === 'number' ? canonical(point, value) : null))
    const active = slots.findIndex(value => value !== null)
    const fallback = canonical(point, commands.relinquishDefault)
    visits.push({ t, slots, fallback, date: dateOf(t, TIMEZONE), overridden: MEANINGS[active]?.override === true })
  }
  return [[point.role!, visits]]
}

function canonical({ role, unit }: SimPoint, value: number): number {
  const { scale, offset } = conversion(unit, role === undefined ? unit : ROLES[role]!.unit)!
  return value * scale + offset
}
