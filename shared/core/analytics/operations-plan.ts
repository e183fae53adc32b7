/** Selects the points that describe the operation of an equipment. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { MACROS } from '#shared/core/rules/language/macros.ts'
import { COMFORT_BAND, type OperationRules } from './operations.ts'

/** When comfort counts: while the zone is occupied, otherwise while the fan of the air handler runs, otherwise always. */
export const COMFORT_TIMES = ['occupied', 'fan', 'always'] as const
type ComfortTime = (typeof COMFORT_TIMES)[number]
export const COMFORT_LIMITS = ['set_points', 'band'] as const
export type OperationPlan = {
  equipment: Equipment
  /** By the signal indices of `operations.ts`: run, gate, zone_t, heat_sp, cool_sp. */
  points: (Point | undefined)[]
  rules: OperationRules
  /** The role that proves that it runs; undefined when there is none. */
  run_role: string | undefined
  comfort_time: ComfortTime
  /** The limits of comfort of a zone. */
  comfort_limits: (typeof COMFORT_LIMITS)[number]
}

const PROOFS = ['running', 'occ', 'fan_on'] as const
const ROLES_READ = new Set([
  ...PROOFS.flatMap(macro => MACROS[macro]!.proofs.map(({ role }) => role)),
  ...['zone_t', 'zone_t_sp_heat', 'zone_t_sp_cool'],
])
/** @returns the points that a plan may hold: a building has several times as many */
export const operationPoints = (points: readonly Point[]): Point[] =>
  points.filter(({ role }) => role !== undefined && ROLES_READ.has(role))

/** @returns one plan for each equipment that has a proof of running or a zone temperature */
export function planOperations(equipment: readonly Equipment[], points: readonly Point[]): OperationPlan[] {
  const byEquipment = Map.groupBy(points, ({ equipment_id }) => equipment_id)
  const pointOf = (equipment_id: string, role: string) =>
    byEquipment
      .get(equipment_id)
      ?.filter(point => point.role === role)
      .toSorted((a, b) => (a.point_id < b.point_id ? -1 : 1))[0]
  return equipment.flatMap(one => planOf(one, feedersOf(one, equipment), pointOf) ?? [])
}

/** @returns ids of the equipment itself, its parent, and the equipment that feeds it */
export const feedersOf = (own: Equipment, equipment: readonly Equipment[]): string[] => [
  own.equipment_id,
  ...(own.parent_id === undefined ? [] : [own.parent_id]),
  ...equipment.filter(({ feeds = [] }) => feeds.includes(own.equipment_id)).map(one => one.equipment_id),
]

type PointOf = (equipment_id: string, role: string) => Point | undefined

function planOf(equipment: Equipment, places: string[], pointOf: PointOf): OperationPlan | undefined {
  const { equipment_id } = equipment
  const run = proofOf('running', [equipment_id], pointOf)
  const zone = pointOf(equipment_id, 'zone_t')
  if (!run && !zone) return undefined
  const occupied = proofOf('occ', places, pointOf)
  const gate = occupied ?? proofOf('fan_on', places, pointOf)
  const [heat, cool] = [pointOf(equipment_id, 'zone_t_sp_heat'), pointOf(equipment_id, 'zone_t_sp_cool')]
  const hasLimits = heat !== undefined && cool !== undefined
  return {
    equipment,
    points: [run?.point, gate?.point, zone, ...(hasLimits ? [heat, cool] : [undefined, undefined])],
    rules: { runAbove: run?.above ?? 0, gateAbove: gate?.above, band: hasLimits ? undefined : COMFORT_BAND },
    run_role: run?.point.role,
    comfort_time: occupied ? 'occupied' : gate ? 'fan' : 'always',
    comfort_limits: hasLimits ? 'set_points' : 'band',
  }
}

/** @returns the first proof of a macro of the rules at one of `places` */
export function proofOf(
  macro: (typeof PROOFS)[number],
  places: readonly string[],
  pointOf: PointOf,
): { point: Point; above: number } | undefined {
  for (const place of places) {
    for (const { role, above } of MACROS[macro]!.proofs) {
      const point = pointOf(place, role)
      if (point) return { point, above }
    }
  }
  return undefined
}
