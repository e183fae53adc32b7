import type { EquipmentData } from '#shared/core/rules/types.ts'
import { ROLES } from '#shared/core/role.ts'
import { MINUTE } from '#shared/core/time.ts'
import { conversion } from '#shared/core/unit.ts'
import { openSimulation } from './building.ts'
import { siteCatalogue } from './catalogue.ts'
import type { ScheduledFault } from './faults.ts'
import { POINTS, type SimPoint } from './points.ts'

/** What history would hold of the site, a sample a minute over `[from, to)`, without a bus between. */
export function sampleSite(script: readonly ScheduledFault[], from: number, to: number): EquipmentData[] {
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
    const roles = own.map(({ point_id, role }) => [role!, { point_id, ts, values: columns.get(point_id)!, nominalMs: MINUTE }])
    return {
      equipment_id: one.equipment_id,
      equipment_type: one.equipment_type,
      roles: Object.fromEntries(roles),
      feeds: 'feeds' in one ? one.feeds : [],
      ...('parent_id' in one ? { parent_id: one.parent_id } : {}),
    } as EquipmentData
  })
}

function canonical({ role, unit }: SimPoint, value: number): number {
  const { scale, offset } = conversion(unit, role === undefined ? unit : ROLES[role]!.unit)!
  return value * scale + offset
}
