import { nameTable } from '#shared/core/name-table.ts'
import { createCellAverager } from '#shared/core/analytics/cells.ts'
import { createEconomizerAnalysis, type EconomizerParams, type EconomizerResult } from '#shared/core/analytics/economizer.ts'
import { ECONOMIZER_ROLES } from '#shared/core/analytics/economizer-cells.ts'
import { feedersOf, proofOf } from '#shared/core/analytics/operations-plan.ts'
import type { Equipment, EquipmentType, Point } from '#shared/core/model/model.ts'
import { loadSpans, type AnalyticsPorts, type AnalyticsSpan } from './analytics-span.ts'
import { walkHistory } from './walk-history.ts'

/** Types of equipment that mix outdoor air. */
export const MIXES: readonly EquipmentType[] = ['ahu', 'rtu']

export type EconomizerJob = AnalyticsSpan & {
  equipment: Equipment[]
  points: Point[]
  /** Undefined: every air handler and rooftop unit that has an outdoor-air damper. */
  equipment_ids: string[] | undefined
  params: EconomizerParams
}
/** `result` is absent where roles are missing. */
export type EconomizerAnswer = {
  equipment_id: string
  name: string
  missing_roles: string[]
  result?: EconomizerResult
}

/**
 * Economizer diagnostics of the air handlers of a building.
 *
 * @throws Problem too_much history, or history_damaged
 */
export async function analyseEconomizer(job: EconomizerJob, ports: AnalyticsPorts): Promise<EconomizerAnswer[]> {
  const plans = job.equipment.filter(one => isAsked(one, job)).map(one => planOf(one, job))
  const points = plans.flatMap(plan => plan.points.flatMap(point => point ?? []))
  const walk = await loadSpans(job, points, ports)
  const answers: EconomizerAnswer[] = []
  for (const { equipment_id, name, missing_roles, points: signals, onAbove } of plans) {
    if (missing_roles.length > 0) {
      answers.push({ equipment_id, name, missing_roles })
      continue
    }
    const economizer = createEconomizerAnalysis(job.params, onAbove)
    const cells = createCellAverager(signals.length, economizer.take)
    await walkHistory(walk, [{ points: signals, take: cells.take }], ports)
    cells.end()
    answers.push({ equipment_id, name, missing_roles, result: economizer.result() })
  }
  return answers
}

function isAsked({ equipment_id, equipment_type }: Equipment, { equipment_ids, points }: EconomizerJob): boolean {
  if (equipment_ids) return equipment_ids.includes(equipment_id)
  return MIXES.includes(equipment_type) && points.some(point => point.equipment_id === equipment_id && point.role === 'oa_damper')
}

/** Roles that may be measured elsewhere: outdoor air is the same everywhere. */
const ELSEWHERE = nameTable<string[]>({ oa_t: ['oa_t', 'wx_oa_t'] })
const OPTIONAL = ['clg_valve', 'oa_damper_min']

function planOf(own: Equipment, { equipment, points }: EconomizerJob) {
  const weather = equipment.filter(({ equipment_type }) => equipment_type === 'weather').map(one => one.equipment_id)
  const places = [...feedersOf(own, equipment), ...weather]
  const find = (equipment_id: string, role: string) =>
    points
      .filter(point => point.equipment_id === equipment_id && point.role === role)
      .toSorted((a, b) => (a.point_id < b.point_id ? -1 : 1))[0]
  const fan = proofOf('fan_on', [own.equipment_id], find)
  const signals = ECONOMIZER_ROLES.map(role => {
    if (role === 'fan') return fan?.point
    const names = ELSEWHERE[role]
    if (!names) return find(own.equipment_id, role)
    return places.flatMap(place => names.flatMap(name => find(place, name) ?? []))[0]
  })
  const missing_roles = ECONOMIZER_ROLES.filter((role, i) => !signals[i] && !OPTIONAL.includes(role)).map(role =>
    role === 'fan' ? 'fan_status' : role,
  )
  const { equipment_id, name } = own
  return { equipment_id, name, points: signals, missing_roles, onAbove: fan?.above ?? 0 }
}
