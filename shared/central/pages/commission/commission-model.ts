/** Gathers where the setting up of a building stands, from the stores alone. */
import { type CommissionFacts, commissionSteps } from '#shared/core/commission-steps.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { Suggestion } from '#shared/core/suggest/suggest.ts'
import { isOpen, LIKELY, suggestFor } from '#shared/flow/commission.ts'
import { countCoverage } from '#shared/central/api/commission.ts'
import type { CentralContext } from '#shared/central/context.ts'

export type OpenPoint = { point: Point; equipment: Equipment; suggestion: Suggestion }
type Stores = Pick<CentralContext, 'model' | 'rules' | 'runs' | 'health' | 'unitDoubts'>

/** Points that are measured or were imported. */
export const livePoints = ({ model }: Pick<CentralContext, 'model'>, { building_id }: Building): Point[] =>
  model.points(building_id).filter(({ gone }) => !gone)

/** @returns points of equipment without a role for which there is a suggestion, the surest first */
export function suggestedPoints({ model }: Pick<CentralContext, 'model'>, { building_id }: Building): OpenPoint[] {
  const equipment = model.equipment(building_id)
  const byId = new Map(equipment.map(one => [one.equipment_id, one]))
  const points = suggestFor(model.points(building_id), equipment)
  const open = points.flatMap(({ suggestions: [suggestion], ...point }) => {
    const own = byId.get(point.equipment_id ?? '')
    return own && suggestion && isOpen(point) ? [{ point, equipment: own, suggestion }] : []
  })
  return open.toSorted((a, b) => b.suggestion.confidence - a.suggestion.confidence)
}

export async function commissionModel(context: Stores, building: Building) {
  const { building_id } = building
  const points = livePoints(context, building)
  const [{ lines }, doubtful, silent] = await Promise.all([
    context.rules.coverage(building_id),
    context.unitDoubts(building_id),
    silentPoints(context),
  ])
  const { can_run: canRun, cannot_run: cannotRun } = countCoverage(lines)
  const unplaced = points.filter(({ equipment_id }) => equipment_id === undefined).length
  const [newest] = context.runs.list({ building_id, limit: 1 })
  const facts: CommissionFacts = {
    points: points.length,
    silent,
    unplaced,
    withoutRole: points.filter(point => point.equipment_id !== undefined && isOpen(point)).length,
    likely: suggestedPoints(context, building).filter(({ suggestion }) => suggestion.confidence >= LIKELY).length,
    doubtful: doubtful.length,
    canRun,
    cannotRun,
    lastRunAt: newest?.run.finished_at ?? null,
  }
  return { facts, steps: commissionSteps(facts) }
}

/** @returns undefined where this process polls nothing */
async function silentPoints({ health }: Pick<CentralContext, 'health'>): Promise<number | undefined> {
  const poll = await health.checks['poll']?.()
  const figures = ['points_stale', 'points_down', 'points_fault'].map(name => poll?.[name])
  return poll && figures.reduce<number>((sum, figure) => sum + (typeof figure === 'number' ? figure : 0), 0)
}
