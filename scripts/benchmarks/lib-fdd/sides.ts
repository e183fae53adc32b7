/** Input of both sides of the comparison: one air handler, and the rules that fit it and can be written in SQL. */
import { errorText } from '#shared/core/error-text.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { createEquipmentContext } from '#shared/core/rules/compile/equipment-context.ts'
import { compileRule, type CompiledRule } from '#shared/core/rules/compile/compile-rule.ts'
import { Graph } from '#shared/core/rules/evaluate/graph.ts'
import { createBuildingSignals } from '#shared/core/rules/compile/building-signals.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import type { Series } from '#shared/core/series/series.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { HistoryReader } from '#shared/core/ports.ts'
import { AIR_HANDLER_ROLES, YEAR_START } from './air-handler.ts'
import { type Found, keyOf } from './peer.ts'
import { translate } from './rule-sql.ts'

type Span = { from: number; to: number }

export const building_id = 'bench'
const equipment_id = 'ahu'
/** Role → point id. */
export const POINT_OF = Object.fromEntries(AIR_HANDLER_ROLES.map(role => [role, `${equipment_id}.${role}`]))

function equipmentOf(series: Series[]): EquipmentData {
  const roles = AIR_HANDLER_ROLES.map((role, i) => [role, { ...series[i]!, point_id: POINT_OF[role]!, nominalMs: MINUTE }])
  return { equipment_id, equipment_type: 'ahu', roles: Object.fromEntries(roles), feeds: [] }
}

type Chosen = { rules: Rule[]; instances: CompiledRule[]; leftOut: { rule_id: string; why: string }[] }

export function chooseRules(all: Rule[]): Chosen {
  const nothing: Series = { ts: Float64Array.of(YEAR_START), values: Float64Array.of(0) }
  const equipment = equipmentOf(AIR_HANDLER_ROLES.map(() => nothing))
  const around = createEquipmentContext(equipment, createBuildingSignals([equipment]))
  const graph = new Graph()
  const chosen: Chosen = { rules: [], instances: [], leftOut: [] }
  for (const rule of all) {
    if (!rule.equipment.includes('any') && !rule.equipment.includes(equipment.equipment_type)) continue
    const each = rule.program.each
    const roles = each ? AIR_HANDLER_ROLES.filter(role => each.which === 'any' || !ROLES[role]!.rests) : [undefined]
    const own = roles.map(role => compileRule({ rule, role, request: {}, settings: [] }, around, graph))
    if (own.some(({ missing }) => missing.length > 0)) continue
    try {
      translate(own, AIR_HANDLER_ROLES)
      chosen.rules.push(rule)
      chosen.instances.push(...own)
    } catch (error) {
      chosen.leftOut.push({ rule_id: rule.id, why: errorText(error) })
    }
  }
  return chosen
}

/** Our side: history read and run through the engine. */
export async function runOurs(rules: Rule[], reader: Pick<HistoryReader, 'read'>, span: Span): Promise<RunOutput> {
  const series = await reader.read({ building_id, point_ids: Object.values(POINT_OF), ...span })
  return runRules({ building_id, timezone: 'UTC', ...span, rules, equipment: [equipmentOf(series)] })
}

/** Faulty minutes of one rule: ours, those of the SQL, and how many of those lie in our episodes. */
type Agreement = { key: string; ours: number; theirs: number; within: number }

/**
 * Compares what both sides find, without daily minimum and clearing. An episode of ours goes on while nothing is
 * evaluated, so it spans more than its faulty minutes: each of the SQL's has to lie in one, and there have to be as many.
 */
export async function compareSides(
  rules: Rule[],
  reader: Pick<HistoryReader, 'read'>,
  span: Span,
  found: Found,
): Promise<Agreement[]> {
  const none = { kind: 'const', value: 0 } as const
  const bare = rules.map(rule => ({ ...rule, program: { ...rule.program, daily_minimum: none, clear: none } }))
  const { findings, failed } = await runOurs(bare, reader, span)
  if (failed[0]) throw new Error(`${failed[0].rule_id}: ${failed[0].error}`)
  const ours = Map.groupBy(findings, keyOf)
  return [...found].map(([key, stretches]) => {
    const episodes = ours.get(key) ?? []
    const minutes = (some: Span[]) => some.reduce((sum, { from, to }) => sum + (to - from) / MINUTE, 0)
    const inside = stretches.filter(({ from, to }) => episodes.some(one => one.from <= from && to <= (one.to ?? span.to)))
    const seconds = episodes.reduce((sum, { duration_secs }) => sum + duration_secs, 0)
    return { key, ours: seconds / 60, theirs: minutes(stretches), within: minutes(inside) }
  })
}
