/**
 * The inputs that a resumed run needs from before its start: the last sample of each role and the last visit to each
 * priority array. They are put before the new data, so the result does not depend on where the earlier run stopped.
 */
import { roleOfColumn, type ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { type BuildingSignals } from '#shared/core/rules/compile/building-signals.ts'
import { roleKey } from '#shared/core/rules/compile/topology.ts'
import { firstAtOrAfter, type StepSignal } from '#shared/core/rules/compile/step-signal.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'

export type ResumeInputs = {
  /** By `roleKey`: instant and value of the last sample, and the value that was read. For a running sum over visits, its value then. */
  last: Record<string, LastSample>
  visits: Record<string, SeenVisits>
}
type LastSample = [t: number, value: number, read: number]
/**
 * `next` is the instant of the visit after the last one, null when none was known; it decides how long the last one counts.
 * `usualMs` is the interval between visits that was used; it remains when there are few new visits.
 */
type SeenVisits = { last: ArraySnapshot; next: number | null; usualMs: number }

/** @returns the inputs before `at` */
export function inputsBefore(
  at: number,
  { requested: asked }: Pick<BuildingSignals, 'requested'>,
  data: EquipmentData[],
): ResumeInputs {
  const inputs: ResumeInputs = { last: {}, visits: {} }
  const byId = new Map(data.map(item => [item.equipment_id, item]))
  for (const [key, steps] of asked) {
    if (!steps) continue
    const last = firstAtOrAfter(steps.ts, at) - 1
    if (last >= 0) inputs.last[key] = [steps.ts[last]!, steps.values[last]!, (steps.read ?? steps.values)[last]!]
    const role = roleOfColumn(steps.role)
    const visits = role === undefined ? [] : (byId.get(steps.equipment_id)?.visits?.[role] ?? [])
    const next = visits.findIndex(({ t }) => t >= at)
    const seen = next < 0 ? visits.at(-1) : visits[next - 1]
    if (!seen) continue
    inputs.visits[roleKey(steps.equipment_id, role!)] = { last: seen, next: visits[next]?.t ?? null, usualMs: steps.nominalMs }
  }
  return inputs
}

/** @returns `data` from `at` on, after the saved inputs */
export function prependInputs(at: number, { last, visits }: ResumeInputs, data: EquipmentData[]): EquipmentData[] {
  return data.map(equipment => {
    const { equipment_id, roles, visits: visited = {} } = equipment
    const series = Object.entries(roles).map(([role, one]) => [role, after(at, last[roleKey(equipment_id, role)], one)])
    const seen = Object.keys(roles).flatMap(role => {
      const before = visits[roleKey(equipment_id, role)]
      const since = visited[role]?.filter(({ t }) => t >= at)
      return before ? [[role, [before.last, ...(since ?? [])]]] : since ? [[role, since]] : []
    })
    const usual = Object.keys(roles).flatMap(role => {
      const before = visits[roleKey(equipment_id, role)]
      return before ? [[role, before.usualMs]] : []
    })
    const visitMs = { ...Object.fromEntries(usual), ...equipment.visitMs }
    return { ...equipment, roles: Object.fromEntries(series), visits: Object.fromEntries(seen), visitMs }
  })
}

function after(at: number, last: LastSample | undefined, { ts, values, read, ...series }: RoleSeries): RoleSeries {
  let early = 0
  for (let i = 0; i < ts.length; i++) if (ts[i]! < at) early++
  const from = (column: Float64Array) => {
    if (early === 0) return column
    return early === ts.length ? column.subarray(ts.length) : column.filter((_, i) => ts[i]! >= at)
  }
  const behind = (column: Float64Array, first: number | undefined) => {
    const rest = from(column)
    const all = new Float64Array(rest.length + (first === undefined ? 0 : 1))
    all.set(rest, all.length - rest.length)
    if (first !== undefined) all[0] = first
    return all
  }
  const isDoubted = read !== undefined || (last !== undefined && !Object.is(last[1], last[2]))
  return {
    ...series,
    ts: behind(ts, last?.[0]),
    values: behind(values, last?.[1]),
    ...(isDoubted && { read: behind(read ?? values, last?.[2]) }),
  }
}

/**
 * @returns the first priority array whose next visit is not the one that was known, so that earlier results are no longer
 *   valid
 */
export function unexpectedVisit(at: number, { visits }: ResumeInputs, data: EquipmentData[]): string | undefined {
  const byId = new Map(data.map(item => [item.equipment_id, item]))
  return Object.keys(visits).find(key => {
    const [equipment_id = '', role = ''] = key.split('\n')
    const next = byId.get(equipment_id)?.visits?.[role]?.find(({ t }) => t >= at)
    return (next?.t ?? null) !== visits[key]!.next
  })
}

/** @returns the running sums at the last visit */
export const runningSumOrigins = ({ last }: ResumeInputs): Record<string, number> =>
  Object.fromEntries(Object.entries(last).map(([key, [, value]]) => [key, value]))

/** Usual intervals between samples, by `roleKey`; used where the caller does not know them better. */
export const nominalIntervals = ({ requested: asked }: Pick<BuildingSignals, 'requested'>): Record<string, number> =>
  Object.fromEntries(
    [...asked].flatMap(([key, steps]: [string, StepSignal | undefined]) => (steps ? [[key, steps.nominalMs]] : [])),
  )
