/** Compiles one rule for equipment of one structure: the values of its parameters, its nodes, its durations. */
import type { ParamValue } from '#shared/core/findings/finding.ts'
import { type WasteMeter, createWasteMeter } from '#shared/core/impact/waste-meter.ts'
import { substituteRoles } from '#shared/core/rules/check/role-alternatives.ts'
import { type EquipmentContext, type Leaf, OWN_PLACE } from './equipment-context.ts'
import { type BaselineState, createBaselineState } from '#shared/core/rules/evaluate/baseline.ts'
import type { CauseWeight } from '#shared/core/findings/finding.ts'
import type { HindsightJudge } from '#shared/core/rules/evaluate/hindsight.ts'
import { buildNode, type BuildContext, constantOf } from './build-nodes.ts'
import { type Graph, orderOf } from '#shared/core/rules/evaluate/graph.ts'
import { type Node } from '#shared/core/rules/evaluate/node.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { settledNode, stillNode } from '#shared/core/rules/evaluate/stateful-nodes.ts'
import { getOwn } from '#shared/core/get-own.ts'
import type { StepSignal } from './step-signal.ts'
import { defaultOf, paramOwner, type ParamSetting, settingFor, unitOfParam } from '#shared/core/rules/check/param-settings.ts'
import { type Stillness, stillTerm } from '#shared/core/rules/episodes/unconfirmed.ts'
import type { BaselineSpec, HindsightCause, SentenceFigure, RuleParam, Program, Rule } from '#shared/core/rules/check/rule.ts'
import type { EquipmentData } from './equipment-data.ts'

/** One rule on one equipment (and one role, when the rule runs over roles), ready to be evaluated day by day. */
export type RuleInstance = {
  rule: Rule
  equipment: EquipmentData
  role?: string
  params: Record<string, ParamValue>
  /** Required roles, and proofs of macros, that the equipment does not have. If there are any, the rule is not run. */
  missing: string[]
  /** The signals that may be the reason for a missing value. */
  leaves: StepSignal[]
  /** Roles among them that are read only while others have no value. */
  substitutes: ReadonlySet<string>
  graph: Graph
  gate: Node
  settled: Node
  guard: Node
  /** Gate, settled and guard together: where the condition is evaluated. */
  active: Node
  when: Node
  terms: TermNode[]
  figures: (string | { word: 'duration' | 'role' } | (Extract<SentenceFigure, { typed: unknown }> & { node: Node }))[]
  causes: { component: string; weight: number; when?: Node }[]
  baselines: { state: BaselineState; of: Node; on: Node[]; when: Node }[]
  /** Set where later days of a baseline may show that its first ones were not normal. */
  hindsight?: HindsightJudge
  /** Set where the condition requires a signal to stay constant for a window: how long it has been constant. */
  stillness?: Stillness
  /** Sums what the fault wastes, where the rule names an impact. */
  meter?: WasteMeter
  /**
   * Nodes that are calculated every day, and nodes without a state that are calculated only on days on which the condition
   * holds, as evidence.
   */
  order: Node[]
  evidenceOrder: Node[]
  /** Nodes that no later rule of the equipment reads: once this rule is done with a day, their columns are free. */
  spent: Node[]
  /** The samples are too far apart for the rule to detect its fault; nothing is evaluated. */
  isTooCoarse: boolean
  /** The actual and the required interval between samples, ms, where the actual one is too long. */
  coarse?: { everyMs: number; needsMs: number }
  persistenceMs: number
  dailyMinimumMs: number
  clearMs: number
}
/** A rule compiled for every equipment of one structure. */
export type CompiledRule = Omit<RuleInstance, 'equipment' | 'leaves' | 'isTooCoarse' | 'coarse'> & {
  leaves: Leaf[]
  /** Leaves whose samples must come at least every `samplingMs`; Infinity where any interval is sufficient. */
  sampled: Leaf[]
  samplingMs: number
}
type TermNode = { text: string; node: Node; sides?: [Node, Node]; measures: boolean }

type RuleBinding = {
  rule: Rule
  role: string | undefined
  request: Record<string, number>
  settings: ParamSetting[]
}

/**
 * Compiles one rule. It is longer than 60 lines because it fills two records field by field.
 *
 * @throws RangeError when a parameter or a window is out of bounds
 */
export function compileRule(binding: RuleBinding, around: EquipmentContext, graph: Graph): CompiledRule {
  const { rule, role } = binding
  const { program } = rule
  const context: BuildContext = {
    rule,
    role,
    equipmentContext: around,
    graph,
    smoothMs: 0,
    active: undefined,
    dailyMinimumMs: 0,
    usesDayMedian: false,
    params: paramsOf(binding, around.equipment),
    baselines: new Map(),
    missing: new Set(),
    missingOptional: new Set(),
    leaves: new Set(),
    namedNodes: new Map(),
    builtNodes: new Map(),
  }
  for (const name of Object.keys(rule.roles)) if (!around.leaf(OWN_PLACE, name)) context.missing.add(name)
  const ms = (key: 'smooth' | 'settle' | 'persistence' | 'daily_minimum' | 'clear' | 'sampling') =>
    constantOf(program[key], context) * 1000
  context.smoothMs = ms('smooth')
  const always = graph.constant(1)
  const gate = program.gate ? buildNode(program.gate, context) : always
  const settled = program.gate && ms('settle') > 0 ? settledNode(graph, gate, ms('settle')) : always
  const guard = program.guard ? buildNode(program.guard, context) : always
  const active = [gate, settled, guard].filter(node => node !== always).reduce((a, b) => graph.op('and', a, b), always)
  context.active = active
  context.dailyMinimumMs = ms('daily_minimum')
  const baselines = program.baselines.map(spec => compileBaseline(spec, context, active))
  const hindsight = compileHindsight(program, baselines, context)
  const parts = compileParts(program, context)
  const stillness = stillnessOf(program, active, context)
  const meter = createWasteMeter(program.impact, context)
  const ready: CompiledRule = {
    rule,
    graph,
    gate,
    settled,
    guard,
    active,
    baselines,
    ...(role !== undefined && { role }),
    params: context.params,
    ...parts,
    ...(hindsight && { hindsight }),
    ...(stillness && { stillness }),
    ...(meter && { meter }),
    missing: [...context.missing],
    leaves: [...context.leaves],
    substitutes: substituteRoles(program, name => (around.leaf(OWN_PLACE, name)?.signal.ts.length ?? 0) > 0),
    order: [],
    evidenceOrder: [],
    spent: [],
    persistenceMs: ms('persistence'),
    // The median of a day exists only after the daily minimum has passed, so it is not required again.
    dailyMinimumMs: context.usesDayMedian ? 0 : context.dailyMinimumMs,
    clearMs: ms('clear'),
    sampled: (role === undefined ? Object.keys(rule.roles) : [role]).flatMap(name => around.leaf(OWN_PLACE, name) ?? []),
    samplingMs: ms('sampling') || Infinity,
  }
  const judges = conditionNodes(ready)
  const tellers = evidenceNodes(ready)
  ready.order = orderOf([...judges, ...orderOf(tellers).filter(({ isStateful }) => isStateful)])
  ready.evidenceOrder = orderOf(tellers, ready.order)
  return ready
}

function compileParts(program: Program, context: BuildContext): Pick<RuleInstance, 'when' | 'terms' | 'figures' | 'causes'> {
  return {
    when: buildNode(program.when, context),
    terms: program.terms.map(({ text, typed, sides, measures }) => {
      const term: TermNode = { text, node: buildNode(typed, context), measures }
      if (sides) term.sides = [buildNode(sides[0], context), buildNode(sides[1], context)]
      return term
    }),
    figures: program.explains.map(part =>
      typeof part === 'string' || 'word' in part ? part : { ...part, node: buildNode(part.typed, context) },
    ),
    causes: program.causes.map(({ component, weight, when }) =>
      when ? { component, weight, when: buildNode(when, context) } : { component, weight },
    ),
  }
}

/** Undefined where no signal has to be constant, where the bound is not a constant, or where it is negative. */
function stillnessOf({ when }: Program, active: Node, context: BuildContext): Stillness | undefined {
  const term = stillTerm(when)
  if (!term || !isConstant(term.bound)) return undefined
  const bound = constantOf(term.bound, context)
  if (bound < 0) return undefined
  const holds = term.others.reduce((node, other) => context.graph.op('and', node, buildNode(other, context)), active)
  return {
    node: stillNode(context.graph, buildNode(term.signal, context), bound),
    holds,
    windowMs: constantOf(term.window, context) * 1000,
  }
}

const isConstant = (typed: TypedExpr): boolean => typed.kind === 'const' || typed.kind === 'param'

function compileBaseline(spec: BaselineSpec, context: BuildContext, active: Node): RuleInstance['baselines'][number] {
  const constant = (typed: BaselineSpec['fallback']) => typed && constantOf(typed, context)
  const state = createBaselineState(spec, constant(spec.fallback), constant(spec.tolerance_cold))
  context.baselines.set(spec.name, state)
  const on = spec.on.map(driver => buildNode(driver, context))
  return { state, of: buildNode(spec.of, context), on, when: spec.when ? buildNode(spec.when, context) : active }
}

function compileHindsight(
  { hindsight: spec }: Program,
  baselines: RuleInstance['baselines'],
  context: BuildContext,
): HindsightJudge | undefined {
  const state = baselines.find(({ state: { spec: of } }) => of.name === spec?.of)?.state
  if (!spec || !state) return undefined
  const causesOf = (causes: HindsightCause[]): CauseWeight[] =>
    causes.filter(({ when }) => !when || isThere(when, context)).map(({ component, weight }) => ({ component, weight }))
  return {
    state,
    limit: constantOf(spec.limit, context),
    usual: spec.usual && constantOf(spec.usual, context),
    above: causesOf(spec.above),
    below: causesOf(spec.below),
  }
}

/** Whether a condition of nothing but `has` holds on the equipment. */
function isThere(typed: TypedExpr, context: BuildContext): boolean {
  if (typed.kind !== 'op' || typed.op === 'has') return buildNode(typed, context) === context.graph.constant(1)
  if (typed.op === 'not') return !isThere(typed.args[0]!, context)
  return typed.op === 'and' ? typed.args.every(each => isThere(each, context)) : typed.args.some(each => isThere(each, context))
}

/** Nodes that decide whether the condition holds. */
function conditionNodes({ gate, settled, guard, active, when, stillness, baselines }: CompiledRule): Node[] {
  const still = stillness ? [stillness.node, stillness.holds] : []
  return [gate, settled, guard, active, when, ...still, ...baselines.flatMap(({ of, on, when }) => [of, ...on, when])]
}

/** Nodes that describe a moment at which the condition holds. */
function evidenceNodes({ terms, figures, causes, meter }: CompiledRule): Node[] {
  return [
    ...terms.flatMap(({ node, sides }) => [node, ...(sides ?? [])]),
    ...figures.flatMap(part => (typeof part === 'object' && 'node' in part ? [part.node] : [])),
    ...causes.flatMap(({ when }) => (when ? [when] : [])),
    ...(meter ? [meter.waste, ...(meter.weight ? [meter.weight] : [])] : []),
  ]
}

function paramsOf(binding: RuleBinding, equipment: EquipmentData): Record<string, ParamValue> {
  const { rule, request } = binding
  for (const name of Object.keys(request))
    if (!getOwn(rule.params, name)) throw new RangeError(`${rule.id} has no parameter ${name}`)
  return Object.fromEntries(Object.entries(rule.params).map(([name, param]) => [name, paramOf(name, param, binding, equipment)]))
}

function paramOf(
  name: string,
  param: RuleParam,
  { rule, role, request, settings }: RuleBinding,
  equipment: EquipmentData,
): ParamValue {
  const unit = unitOfParam(param, role)
  const asked = getOwn(request, name)
  if (asked === undefined) {
    const set = settingFor(settings, paramOwner(rule), name, equipment, role)
    return set ? { value: set.value, unit, source: set.scope } : { value: defaultOf(param, role), unit, source: 'default' }
  }
  if (asked >= param.min && asked <= param.max) return { value: asked, unit, source: 'request' }
  throw new RangeError(`${name} = ${asked} is not within ${param.min} and ${param.max} ${unit}`)
}
