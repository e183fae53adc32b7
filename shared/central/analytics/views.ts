/** Results of analytics, as the API and CSV show them. */
import type { EconomizerParams } from '#shared/core/analytics/economizer.ts'
import { economizerVerdict } from '#shared/core/analytics/economizer-verdict.ts'
import { sumOperations, figuresOf, type OperationFigures } from '#shared/core/analytics/operations.ts'
import type { ScoredHour } from '#shared/core/analytics/seasonal.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import type { Building, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { formatInstant } from '#shared/core/time.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import type { EconomizerAnswer } from '#shared/flow/analytics/analyse-economizer.ts'
import type { EquipmentOperations, Operations } from '#shared/flow/analytics/analyse-operations.ts'
import { measureOf, toTyped, type UnitSystem } from '#shared/central/ui/measure.ts'
import type { Screened } from './service.ts'

const NOT_TELLABLE = 'not_tellable'

export function economizerView({ equipment_id, name, missing_roles, result }: EconomizerAnswer, params: EconomizerParams) {
  if (!result) {
    const sentence = `Nothing can be told without ${missing_roles.join(', ')}.`
    return { equipment_id, name, missing_roles, verdict: { code: NOT_TELLABLE, sentence } }
  }
  const points = result.points.map(({ at, ...point }) => ({ at: formatInstant(at), ...point }))
  return { equipment_id, name, missing_roles, verdict: economizerVerdict(result, params), ...result, points }
}

export function operationsView({ equipment, days, building, findings_cut }: Operations, { timezone }: Building) {
  return {
    building: { ...figuresOf(sumOperations(days.map(({ sums }) => sums))), ...building },
    days: days.map(({ at, sums }) => ({ date: dateOf(at, timezone), ...figuresOf(sums) })),
    equipment: equipment.map(({ sums, plan, ...one }) => ({
      ...one,
      ...figuresOf(sums),
      ...(plan && { run_role: plan.run_role ?? null, comfort_time: plan.comfort_time, comfort_limits: plan.comfort_limits }),
    })),
    ...(findings_cut !== undefined && { findings_cut }),
  }
}

/** Columns of the CSV, as the fields of the API. */
const FIGURES = [
  'running_hours',
  'known_hours',
  'starts',
  'comfort_share',
  'comfort_known_hours',
  'too_warm_hours',
  'too_cold_hours',
  'zone_t_mean',
] as const satisfies readonly (keyof OperationFigures)[]

/**
 * One line for each equipment; hours, shares of 1 and °C.
 *
 * @param read the units of a person who downloads it, which its header then names
 */
export function operationsCsv(rows: readonly EquipmentOperations[], read?: UnitSystem): string {
  const measure = read && measureOf('degC', read)
  const names = FIGURES.map(field => (measure && field === 'zone_t_mean' ? `${field} (${measure.label})` : field))
  const head = ['equipment_id', 'name', 'equipment_type', 'fault_hours', 'findings', 'open', ...names, 'comfort_limits']
  const lines = rows.map(({ equipment_id, name, equipment_type, fault_hours, findings, open, sums, plan }) => {
    const { zone_t_mean, ...others } = figuresOf(sums)
    const figures = { ...others, zone_t_mean: measure && zone_t_mean !== null ? toTyped(zone_t_mean, measure) : zone_t_mean }
    const own = FIGURES.map(field => figures[field] ?? undefined)
    return csvLine([equipment_id, name, equipment_type, fault_hours, findings, open, ...own, plan?.comfort_limits], ',')
  })
  return [csvLine(head, ','), ...lines].join('')
}

const hourView = ({ at, to: _to, ...hour }: ScoredHour) => ({ at: formatInstant(at), ...hour })

export function screeningView({ from, to, at, anomalies, hours, ...figures }: Screened, points: readonly Point[]) {
  const byId = new Map(points.map(point => [point.point_id, point]))
  return {
    from: formatInstant(from),
    to: formatInstant(to),
    screened_at: formatInstant(at),
    ...figures,
    anomalies: anomalies.map(({ point_id, worst, ...one }) => {
      const { name = point_id, equipment_id = null, role = null, unit: own = '' } = byId.get(point_id) ?? {}
      const unit = (role === null ? undefined : ROLES[role]?.unit) ?? own
      const span = { from: formatInstant(one.from), to: formatInstant(one.to), hours: one.hours }
      return { point_id, name, equipment_id, role, unit, ...span, worst: hourView(worst) }
    }),
    ...(hours && { series: Object.entries(hours).map(([point_id, own]) => ({ point_id, hours: own.map(hourView) })) }),
  }
}
