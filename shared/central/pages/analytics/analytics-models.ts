/** From what analytics found to what its pages show. */
import { DT_MIN } from '#shared/core/analytics/economizer-cells.ts'
import { economizerVerdict } from '#shared/core/analytics/economizer-verdict.ts'
import { HIGH_LIMIT } from '#shared/core/analytics/free-cooling.ts'
import { sumOperations, figuresOf } from '#shared/core/analytics/operations.ts'
import { anomaliesOf } from '#shared/core/analytics/seasonal.ts'
import type { Html } from '#shared/node/http/html.ts'
import { Problem } from '#shared/core/problem.ts'
import type { AnalyticsHead, AnalyticsPage } from './analytics-frame.ts'
import { anomaliesBody, screeningOff } from './anomalies.view.ts'
import { economizerBody } from './economizer.view.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { operationsBody, type Order, ORDER_WORDS, ORDERS } from './operations.view.ts'
import { MIXES } from '#shared/flow/analytics/analyse-economizer.ts'
import { wholeHours } from '#shared/central/analytics/span.ts'
import { SCORE_LEAST } from '#shared/central/api/analytics.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import type { Building } from '#shared/core/model/model.ts'
import { say } from '#shared/node/http/language.ts'

/** `sort` and `page` are for operations, `equipment` for the economizer, `point` for anomalies. */
export type AnalyticsQuery = {
  building?: string
  from?: string
  to?: string
  sort?: string
  page?: number
  equipment?: string
  point?: string
}
export type AnalyticsContext = Reading<Pick<CentralContext, 'model' | 'historian' | 'clock' | 'analytics' | 'results' | 'edges'>>
/** The days of a building that a page shows, as instants [from, to). */
export type ShownSpan = { building: Building; from: number; to: number; head: AnalyticsHead }

type Body = (
  context: AnalyticsContext,
  asked: ShownSpan,
  query: AnalyticsQuery,
  at: { here: Here; gone: AbortSignal },
) => Promise<Html>

/** Rows of a list. */
const ROWS_MAX = 200

/** Whether rules have run over a building, here or on an appliance that has reported. */
const isLookedAt = ({ results, edges }: AnalyticsContext, building_id: string): boolean =>
  results.runs({ building_id, limit: 1 }).length > 0 ||
  edges.list().some(edge => edge.building_id === building_id && edge.last_data_at !== null)

const operations: Body = async (context, { building, from, to, head }, { sort, page }, { here, gone }) => {
  const { analytics } = context
  const found = await analytics.operations({ building_id: building.building_id, from, to }, gone)
  const order: Order = ORDERS.find(one => one === sort) ?? 'fault_hours'
  const options = ORDERS.map(one => [one, ORDER_WORDS[one]] as const)
  const days = found.days.filter(({ at }) => at < here.now)
  return operationsBody({
    page,
    head: { ...head, choices: [{ name: 'sort', label: say`Sort by`, chosen: order, options }] },
    here,
    building,
    from,
    to: Math.min(to, Math.max(here.now, from + 1)),
    order,
    rows: found.equipment.map(({ sums, plan: _plan, ...one }) => ({ ...one, figures: figuresOf(sums) })),
    days: days.map(({ at, sums }) => ({ at, figures: figuresOf(sums) })),
    total: { ...found.building, figures: figuresOf(sumOperations(found.days.map(({ sums }) => sums))) },
    looked: isLookedAt(context, building.building_id),
    findingsCut: found.findings_cut,
    readAt: found.at,
  })
}

const economizer: Body = async ({ analytics, model }, { building, from, to, head }, { equipment }, { here, gone }) => {
  const { building_id } = building
  const own = new Set(model.points(building_id).flatMap(point => (point.role === 'oa_damper' ? (point.equipment_id ?? []) : [])))
  const units = model
    .equipment(building_id)
    .filter(({ equipment_id, equipment_type }) => own.has(equipment_id) || MIXES.includes(equipment_type))
  const first = units.find(({ equipment_id }) => own.has(equipment_id)) ?? units[0]
  const chosen = equipment ? units.find(({ equipment_id }) => equipment_id === equipment) : first
  // Another one's figures under the name that was asked for would be worse than none.
  if (equipment && !chosen) throw new Problem('unknown_equipment', `Building ${building_id} has no air handler ${equipment}`)
  const params = { dt_min: DT_MIN, high_limit: HIGH_LIMIT }
  if (!chosen) return economizerBody({ head, building, params, unit: undefined })
  const options = units.map(one => [one.equipment_id, one.name] as const)
  const choices = [{ name: 'equipment', label: say`Air handler`, chosen: chosen.equipment_id, options }]
  const span = { building_id, from, to: Math.min(to, Math.max(here.now, from + 1)) }
  const [answer] = await analytics.economizer({ ...span, ...params, equipment_ids: [chosen.equipment_id] }, gone)
  const { name, missing_roles, result } = answer!
  const told = result && { result, verdict: economizerVerdict(result, params) }
  return economizerBody({
    head: { ...head, choices },
    building,
    params,
    unit: { equipment_id: chosen.equipment_id, name, missing_roles, told },
  })
}

const anomalies: Body = async ({ analytics, model }, { building, from, to, head }, { point: point_id }, { here }) => {
  const { enabled, weeks } = analytics.screening.status()
  if (!enabled) return screeningOff()
  const { building_id } = building
  const span = wholeHours({ building_id, from, to: Math.min(to, Math.max(here.now, from + 1)) })
  const found = await analytics.screening.scores({ ...span, equipment_id: undefined, point_id, least: SCORE_LEAST })
  const points = new Map(model.points(building_id).map(point => [point.point_id, point]))
  const names = new Map(model.equipment(building_id).map(one => [one.equipment_id, one.name]))
  const equipmentOf = (id: string) => names.get(points.get(id)?.equipment_id ?? '') ?? say`of no equipment`
  const hours = point_id === undefined ? [] : (found.hours?.[point_id] ?? [])
  const one = point_id === undefined ? undefined : points.get(point_id)
  return anomaliesBody({
    head,
    here,
    building,
    from: span.from,
    to: span.to,
    weeks,
    least: SCORE_LEAST,
    rows: found.anomalies.slice(0, ROWS_MAX).flatMap(row => {
      const point = points.get(row.point_id)
      return point ? [{ ...row, point, equipment: equipmentOf(row.point_id) }] : []
    }),
    total: found.anomalies_total,
    pointsScored: found.points_scored,
    notScored: found.not_scored,
    screenedAt: found.at,
    one: one && { point: one, equipment: equipmentOf(one.point_id), hours, anomalies: anomaliesOf(hours, SCORE_LEAST) },
  })
}

export const analyticsBodies: Record<AnalyticsPage, Body> = { operations, economizer, anomalies }
