import { checkExpr } from '#shared/core/rules/check/check-expr.ts'
import { createEquipmentContext } from '#shared/core/rules/compile/equipment-context.ts'
import { buildNode, type BuildContext } from '#shared/core/rules/compile/build-nodes.ts'
import { Graph, orderOf } from '#shared/core/rules/evaluate/graph.ts'
import { parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { expandRows } from '#shared/core/rules/check/parse-tests.ts'
import { createBuildingSignals } from '#shared/core/rules/compile/building-signals.ts'
import { buildingDays, createRowLayout } from '#shared/core/rules/evaluate/day-rows.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import type { Rule, WrittenRule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunInput } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'
import { ROLES, roleOf } from '#shared/core/model/role.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'

/** Monday, 2 March 2026, midnight UTC. */
export const START = Date.UTC(2026, 2, 2)

export type Rows = Record<string, string>

/** Rows in the test notation as series; `_` is no sample, `?` one without a value. */
export function seriesOf(text: string, stepMs: number, start = START): RoleSeries {
  const rows = expandRows(text)!
  const kept = rows.map((value, row) => ({ value, t: start + row * stepMs })).filter(({ value }) => value !== null)
  const ts = Float64Array.from(kept, ({ t }) => t)
  return { ts, values: Float64Array.from(kept, ({ value }) => value!), nominalMs: stepMs, point_id: 'p' }
}

export const equipment = (roles: Record<string, RoleSeries>, more: Partial<EquipmentData> = {}): EquipmentData => ({
  equipment_id: 'ahu-1',
  equipment_type: 'ahu',
  feeds: [],
  roles,
  ...more,
})

export const ahu = (rows: Rows, stepMs = 5 * MINUTE, more: Partial<EquipmentData> = {}, start = START): EquipmentData =>
  equipment(Object.fromEntries(Object.entries(rows).map(([role, text]) => [roleOf(role)!, seriesOf(text, stepMs, start)])), more)

/** @throws Error with all complaints when the rule does not check */
export function ruleOf(text: string, filename = 'rule.yaml'): WrittenRule {
  const parsed = parseRule(text, filename)
  if (parsed.ok) return parsed.rule
  throw new Error(parsed.errors.map(({ line, column, message }) => `${filename}:${line}:${column}: ${message}`).join('\n'))
}

export const yamlOf = (keys: Record<string, string>): string => {
  const all: Record<string, string> = {
    id: 'R',
    title: 'A rule',
    equipment: '[ahu]',
    roles: '{ sa_t: degC }',
    when: 'sa_t > 20',
    severity: '3',
    source: 'test',
    ...keys,
  }
  return Object.entries(all)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n')
}

export const run = (rules: Rule[], plant: EquipmentData[], lengthMs: number, more: Partial<RunInput> = {}): RunOutput =>
  runRules({ building_id: 'b', timezone: 'UTC', from: START, to: START + lengthMs, rules, equipment: plant, ...more })

/** Episodes as minutes after the start: `60-90`, or `60-` while it lasts. */
export const spans = ({ findings }: RunOutput, start = START): string[] =>
  findings.map(({ from, to }) => `${(from - start) / MINUTE}-${to === null ? '' : (to - start) / MINUTE}`)

/**
 * The value of one expression, `stepMs` apart, rounded to 1e-6; null where it is not evaluated.
 *
 * @param rows in canonical units
 */
export function evaluate(text: string, rows: Rows, stepMs: number, plant: EquipmentData[] = []): (number | null)[] {
  const own = ahu(rows, stepMs, { feeds: plant.map(({ equipment_id }) => equipment_id) })
  const roles = Object.fromEntries(Object.keys(rows).map(name => [name, ROLES[roleOf(name)!]!.unit]))
  const { typed } = checkExpr(parseExpr(text), { roles, params: {}, lets: new Map(), baselines: new Map() })
  const graph = new Graph()
  const always = graph.constant(1)
  const context: BuildContext = {
    rule: ruleOf(yamlOf({})),
    role: undefined,
    equipmentContext: createEquipmentContext(own, createBuildingSignals([own, ...plant])),
    graph,
    params: {},
    smoothMs: 0,
    active: always,
    dailyMinimumMs: 0,
    baselines: new Map(),
    missing: new Set(),
    missingOptional: new Set(),
    leaves: new Set(),
    usesDayMedian: false,
    namedNodes: new Map(),
    builtNodes: new Map(),
  }
  const node = buildNode(typed, context)
  const order = orderOf([always, node])
  graph.begin()
  const count = Math.max(...Object.values(rows).map(row => expandRows(row)!.length))
  const layOut = createRowLayout(order.flatMap(({ leaf }) => leaf?.signal ?? []))
  const found: (number | null)[] = []
  for (const day of buildingDays(START, START + Math.min(count * stepMs, 40 * DAY), 'UTC')) {
    const { n, t, ...rest } = layOut(day)
    graph.run(order, { n, t, ...rest })
    for (let i = 0; i < n; i++) {
      if ((t[i]! - START) % stepMs !== 0) continue
      const value = node.out[i]!
      found.push(Number.isNaN(value) ? null : Math.round(value * 1e6) / 1e6)
    }
  }
  return found
}
