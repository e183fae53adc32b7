/** Sums what a fault wastes while its condition holds, interval by interval: the engine's part of pricing a fault. */
import { OWN_PLACE } from '#shared/core/rules/compile/equipment-context.ts'
import { buildNode, type BuildContext } from '#shared/core/rules/compile/build-nodes.ts'
import { checkExpr } from '#shared/core/rules/check/check-expr.ts'
import { type TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import type { Node } from '#shared/core/rules/evaluate/node.ts'
import { parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import type { Program } from '#shared/core/rules/check/rule.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { HOUR } from '#shared/core/time.ts'
import { chooseGauge, type Gauge, GAUGES, type GaugeName, gaugeOf, rolesForGauge } from './gauges.ts'
import type { Waste } from './impact.ts'
import type { ImpactKind, Measure } from './kinds.ts'
import { SENSORS_K } from './range.ts'

/** The nodes that are read at each row: the waste and its weight. */
export type WasteMeter = {
  kind: ImpactKind
  measure: Measure
  gauge: GaugeName
  waste: Node
  weight?: Node
  power: number
  because?: string
  /** Roles that it needs and the equipment does not have. */
  absent: string[]
}

/**
 * The sums of a meter, in ms times their unit: known time; waste × weight above zero, the certain part of it, and the weight
 * meanwhile; the same three below zero.
 */
const SPENT = 7
export const emptyWasteSums = (): Float64Array => new Float64Array(SPENT)

const CANONICAL = Object.fromEntries(Object.entries(ROLES).map(([role, { unit }]) => [role, unit]))
const parsed = (text: string): TypedExpr =>
  checkExpr(parseExpr(text), { roles: CANONICAL, params: {}, lets: new Map(), baselines: new Map() }).typed
const WEIGHTS = new Map(
  Object.entries(GAUGES).flatMap(([name, gauge]: [string, Gauge]) =>
    gauge.text === undefined ? [] : [[name, parsed(gauge.text)]],
  ),
)

/**
 * Compiles a rule's impact for one equipment. A rule runs also when roles of its impact are missing.
 *
 * @returns undefined when the rule names no impact that is measured
 */
export function createWasteMeter(spec: Program['impact'], rule: BuildContext): WasteMeter | undefined {
  if (!spec || spec.kind === 'none') return undefined
  const { kind, measure, because } = spec
  const context: BuildContext = { ...rule, missing: new Set(), leaves: new Set(), builtNodes: new Map() }
  const { equipment_type } = context.equipmentContext.equipment
  const has = (role: string) => context.equipmentContext.leaf(OWN_PLACE, role) !== undefined
  const gauge = chooseGauge(kind, measure, equipment_type, has)
  const waste = buildNode(spec.waste, context)
  const roles = spec.roles.filter(role => !has(role))
  const absent = [...new Set([...(gauge ? [] : rolesForGauge(equipment_type)), ...context.missing, ...roles])].toSorted()
  const weight = gauge === undefined ? undefined : WEIGHTS.get(gauge)
  return {
    kind,
    measure,
    gauge: gauge ?? 'plain',
    waste: gauge ? waste : context.graph.constant(Number.NaN),
    ...(weight && { weight: buildNode(weight, context) }),
    power: (gauge && gaugeOf(gauge).power) ?? 1,
    ...(because !== undefined && { because }),
    absent,
  }
}

/**
 * Sums over rows `[start, end)` of a day.
 *
 * @param t [n + 1] instants, ms; row i lasts until t[i + 1]
 */
export function sumWaste({ waste, weight, power }: WasteMeter, t: Float64Array, start: number, end: number): Float64Array {
  const spent = emptyWasteSums()
  for (let i = start; i < end; i++) {
    const wasted = waste.out[i]!
    const raw = weight ? weight.out[i]! : 1
    const heavy = power === 1 ? raw : raw ** power
    const product = wasted * heavy
    if (product !== product) continue
    const ms = t[i + 1]! - t[i]!
    spent[0]! += ms
    if (wasted === 0) continue
    const at = wasted > 0 ? 1 : 4
    const size = Math.abs(wasted)
    spent[at]! += size * heavy * ms
    spent[at + 1]! += Math.max(0, size - SENSORS_K) * heavy * ms
    spent[at + 2]! += heavy * ms
  }
  return spent
}

/** @returns the sums of a finding, to continue with; zero where it was measured with another gauge */
export function wasteSumsOf(meter: WasteMeter | undefined, waste: Waste | undefined): Float64Array {
  if (!meter || !waste || waste.kind !== meter.kind || waste.measure !== meter.measure || waste.gauge !== meter.gauge) {
    return emptyWasteSums()
  }
  const { hours, up, up_sure, up_gauge, down, down_sure, down_gauge } = waste
  return Float64Array.of(hours, up, up_sure, up_gauge, down, down_sure, down_gauge).map(sum => sum * HOUR)
}

/** @returns the sums in hours, as a finding stores them */
export function wasteOf({ kind, measure, gauge, because, absent }: WasteMeter, spent: Float64Array): Waste {
  const [hours, up, up_sure, up_gauge, down, down_sure, down_gauge] = Array.from(spent, ms => Number((ms / HOUR).toPrecision(6)))
  return {
    kind,
    measure,
    gauge,
    hours: hours!,
    up: up!,
    up_sure: up_sure!,
    up_gauge: up_gauge!,
    down: down!,
    down_sure: down_sure!,
    down_gauge: down_gauge!,
    ...(because !== undefined && { because }),
    ...(absent.length > 0 && { absent }),
  }
}
