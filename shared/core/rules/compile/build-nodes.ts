/** Turns checked expressions into nodes of an equipment's graph. */
import type { ParamValue } from '#shared/core/findings/finding.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { roleOfColumn } from '#shared/core/priority/array-snapshot.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { setPointsOf } from '#shared/core/model/set-point.ts'
import { type EquipmentContext, type Leaf, OWN_PLACE } from './equipment-context.ts'
import type { BaselineState } from '#shared/core/rules/evaluate/baseline.ts'
import { checkExpr } from '#shared/core/rules/check/check-expr.ts'
import { type TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { toCanonical } from '#shared/core/rules/language/dimension.ts'
import { WINDOW_MAX_MS } from '#shared/core/rules/language/functions.ts'
import type { Graph } from '#shared/core/rules/evaluate/graph.ts'
import type { Node } from '#shared/core/rules/evaluate/node.ts'
import { PLANT_MACHINES, MACROS, OAF, OAF_ROLES, PLANT_MACROS, type RunningProof } from '#shared/core/rules/language/macros.ts'
import {
  baselineNode,
  dayMedianNode,
  fittedNode,
  isWindow,
  sinceNode,
  toleranceNode,
  windowNode,
} from '#shared/core/rules/evaluate/stateful-nodes.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { MINUTE } from '#shared/core/time.ts'
import { parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'

export type BuildContext = {
  rule: Rule
  /** The role to which a rule that runs over roles is bound. */
  role: string | undefined
  equipmentContext: EquipmentContext
  graph: Graph
  params: Record<string, ParamValue>
  smoothMs: number
  /** Times at which the gate is open; undefined while the gate itself is built. */
  active: Node | undefined
  dailyMinimumMs: number
  baselines: Map<string, BaselineState>
  /** Collected while building: missing roles and proofs, roles that are read, whether the median of a day is used. */
  missing: Set<string>
  /** Missing optional roles. They matter only where `first()` has no other alternative. */
  missingOptional: Set<string>
  leaves: Set<Leaf>
  usesDayMedian: boolean
  namedNodes: Map<string, Node>
  /** By expression: a term of a condition is a part of the condition and has the same node. */
  builtNodes: Map<TypedExpr, Node>
}

/** Their only fans are those of towers, which say nothing of the air of what they feed. */
const WATER_TYPES: ReadonlySet<EquipmentType | undefined> = new Set(['chw_plant', 'hw_plant'])
const OAF_TYPED = checkExpr(parseExpr(OAF), { roles: OAF_ROLES, params: {}, lets: new Map(), baselines: new Map() }).typed

/** @throws RangeError when a window is out of bounds or the program is not one that the checker made */
export function buildNode(typed: TypedExpr, context: BuildContext): Node {
  const known = context.builtNodes.get(typed)
  if (known) return known
  const made = createNode(typed, context)
  context.builtNodes.set(typed, made)
  return made
}

function createNode(typed: TypedExpr, context: BuildContext): Node {
  const { graph } = context
  switch (typed.kind) {
    case 'const':
      return graph.constant(typed.value)
    case 'param':
      return graph.constant(constantOf(typed, context))
    case 'role':
      return typed.where === 'own' ? ownRole(typed.role, context) : parentRole(typed.role, context)
    case 'zones':
      return zoneRole(typed.role, typed.join, context)
    case 'ref':
      return reference(typed.name, context)
    case 'baseline':
      return baseline(typed, context)
    case 'op':
      return operation(typed.op, typed.args, context)
  }
}

/** The value of an expression of constants and parameters, in canonical units. */
export function constantOf(typed: TypedExpr, context: BuildContext): number {
  if (typed.kind === 'const') return typed.value
  if (typed.kind === 'param') {
    const { value, unit } = context.params[typed.name]!
    return toCanonical(value, unit, typed.absolute)
  }
  if (typed.kind !== 'op') throw new RangeError('not a constant')
  const [a, b] = typed.args.map(arg => constantOf(arg, context)) as [number, number]
  return typed.op === 'add' ? a + b : typed.op === 'sub' ? a - b : typed.op === 'mul' ? a * b : a / b
}

// ---- roles

const ownerKey = ({ rule, role }: BuildContext): string => `${rule.id} ${role ?? ''}`
/** Replaces `each`, also in `slot(each, 8)`, by the role to which the rule is bound. */
const bound = (role: string, context: BuildContext): string =>
  context.role === undefined ? role : role.replace(/\beach\b/, context.role)

function ownRole(name: string, context: BuildContext): Node {
  const role = bound(name, context)
  const column = rawRole(role, context, context.rule.program.raw)
  const smooth = context.smoothMs > 0 && ROLES[role]?.kind === 'number'
  return smooth ? windowNode(context.graph, 'avg', column, context.smoothMs, 0) : column
}

function rawRole(role: string, context: BuildContext, raw: boolean): Node {
  const found = roleAt(OWN_PLACE, role, context, raw)
  if (!found) (roleOfColumn(role) === undefined ? context.missingOptional : context.missing).add(role)
  return found ?? context.graph.constant(Number.NaN)
}

function roleAt(
  place: number,
  role: string,
  { equipmentContext: around, graph, leaves }: BuildContext,
  raw = false,
): Node | undefined {
  const leaf = around.leaf(place, role)
  if (!leaf) return undefined
  leaves.add(leaf)
  return graph.role(leaf, raw)
}

function parentRole(role: string, context: BuildContext): Node {
  for (const place of context.equipmentContext.above) {
    const node = roleAt(place, role, context)
    if (node) return node
  }
  context.missing.add(`parent ${role}`)
  return context.graph.constant(Number.NaN)
}

function zoneRole(role: string, how: string, context: BuildContext): Node {
  // Zones are no leaves: the sensor of one zone does not explain why the aggregate is not evaluated.
  const leaves = new Set<Leaf>()
  if (how === 'share') return context.graph.constant(shareOfFed(role, context))
  const nodes = context.equipmentContext.below.flatMap(place => roleAt(place, role, { ...context, leaves }) ?? [])
  if (nodes.length === 0) context.missing.add(`zones ${role}`)
  return nodes.length === 0 ? context.graph.constant(Number.NaN) : context.graph.zones(how, nodes)
}

/** The share of the equipment that this one feeds, its own machines apart, that has samples of the role. */
function shareOfFed(role: string, { equipmentContext: around }: BuildContext): number {
  const machines: readonly (EquipmentType | undefined)[] = PLANT_MACHINES[around.equipment.equipment_type] ?? []
  const fed = around.below.filter(place => !machines.includes(around.types[place]))
  return fed.filter(place => around.leaf(place, role)?.signal.ts.length).length / Math.max(1, fed.length)
}

// ---- names

function reference(name: string, context: BuildContext): Node {
  const known = context.namedNodes.get(name)
  if (known) return known
  const made =
    name === 'oaf'
      ? buildNode(OAF_TYPED, context)
      : getOwn(MACROS, name)
        ? macro(name, context)
        : buildNode(letOf(name, context), context)
  context.namedNodes.set(name, made)
  return made
}

function letOf(name: string, { rule }: BuildContext): TypedExpr {
  const found = rule.program.lets.find(item => item.name === name)
  if (!found) throw new RangeError(`no let ${name}`)
  return found.typed
}

/**
 * The first proof that has samples: on the equipment itself, on the equipment that feeds it, on the machines of a plant, or
 * on those of the plant above. The fan of a box of its own draws room air while the air handler may be off, and rests while
 * it supplies: what feeds the box is asked first.
 */
function macro(name: string, context: BuildContext): Node {
  const found = provenBy(name, context)
  if (!found) context.missing.add(MACROS[name]!.proofs[0]!.role)
  return found ?? context.graph.constant(Number.NaN)
}

function provenBy(name: string, context: BuildContext): Node | undefined {
  const { proofs, alwaysFor } = MACROS[name]!
  const { equipmentContext: around, graph } = context
  const { equipment_type } = around.equipment
  if (alwaysFor.includes(equipment_type)) return graph.constant(1)
  for (const place of equipment_type === 'vav' ? [...around.above, OWN_PLACE] : [OWN_PLACE, ...around.above]) {
    if (place !== OWN_PLACE && name === 'fan_on' && WATER_TYPES.has(around.types[place])) continue
    const found = proofAt(place, proofs, context)
    if (found) return found
  }
  const types: readonly (EquipmentType | undefined)[] = PLANT_MACHINES[equipment_type] ?? []
  const below = around.below.filter(place => types.includes(around.types[place]))
  const machines = PLANT_MACROS.has(name) ? [...below, ...around.machines] : below
  const running = machines.flatMap(place => proofAt(place, proofs, context) ?? [])
  return running.length > 0 ? graph.zones('max', running) : undefined
}

function proofAt(place: number, proofs: readonly RunningProof[], context: BuildContext): Node | undefined {
  const { equipmentContext: around, graph } = context
  const proof = proofs.find(({ role }) => around.leaf(place, role)?.signal.ts.length)
  if (!proof) return undefined
  const on = graph.op('gt', roleAt(place, proof.role, context)!, graph.constant(proof.above))
  const { role: command = '' } = STATUS.test(proof.role) ? (proofs.find(({ role }) => COMMAND.test(role)) ?? {}) : {}
  const asked = around.leaf(place, command)?.signal.ts.length ? roleAt(place, command, context)! : undefined
  return asked ? unlessDenied(on, asked, graph) : on
}

const STATUS = /_status$/
const COMMAND = /_cmd$/
/** A command and its status may be read an interval of 15 min apart. */
const DENIED_MS = 20 * MINUTE

/**
 * A status that has differed from its command for long proves nothing: its contact is stuck, a switch on site is on, or it is that of one
 * fan of several.
 */
function unlessDenied(on: Node, asked: Node, graph: Graph): Node {
  const denied = graph.op('ne', on, graph.op('gt', asked, graph.constant(0)))
  const isDenied = graph.op('first', windowNode(graph, 'held', denied, DENIED_MS, 0), graph.constant(0))
  return graph.op('if', isDenied, graph.constant(Number.NaN), on)
}

function baseline(typed: TypedExpr & { kind: 'baseline' }, context: BuildContext): Node {
  const state = context.baselines.get(typed.name)
  if (!state) throw new RangeError(`no baseline ${typed.name}`)
  const owner = ownerKey(context)
  if (typed.what === 'tolerance') return toleranceNode(context.graph, owner, state, buildNode(typed.args[0]!, context))
  const on = typed.what === 'base' ? state.spec.on.map(driver => buildNode(driver, context)) : []
  return on.length > 0 ? fittedNode(context.graph, owner, state, on) : baselineNode(context.graph, typed.what, owner, state)
}

// ---- operations

/** Functions of a role that do not depend on its current value. */
const OF_ROLE = new Set(['has', 'rests', 'nominal', 'lowest', 'highest', 'age', 'off_set_point'])
/** Functions that take any number of arguments. */
const MANY = new Set(['least', 'greatest', 'first'])

function operation(op: string, args: TypedExpr[], context: BuildContext): Node {
  const { graph } = context
  if (isWindow(op)) {
    // `cusum(x, slack, window)` has its window last; every other function has it second.
    const [window, extra] = op === 'cusum' ? [args[2]!, args[1]] : [args[1]!, args[2]]
    return windowNode(graph, op, buildNode(args[0]!, context), windowOf(window, context), extra ? constantOf(extra, context) : 0)
  }
  if (op === 'sensors' || op === 'silent_sensors') return sensorsOf(op, args, context)
  const first = args[0]!
  if (first.kind === 'role' && OF_ROLE.has(op)) return ofRole(op, bound(first.role, context), context)
  // That a proof exists is no reading of it: its own faults explain nothing.
  if (first.kind === 'ref' && op === 'has') return graph.constant(provenBy(first.name, { ...context, leaves: new Set() }) ? 1 : 0)
  if (op === 'if') return choice(args, context)
  if (op === 'coverage') return graph.coverage(buildNode(args[0]!, context), windowOf(args[1]!, context))
  if (op === 'since') return sinceNode(graph, buildNode(args[0]!, context))
  if (op === 'day_median') return dayMedian(args[0]!, context)
  const inputs = op === 'first' ? alternatives(args, context) : args.map(arg => buildNode(arg, context))
  return MANY.has(op) ? inputs.reduce((left, right) => graph.op(op, left, right)) : graph.op(op, ...inputs)
}

/** Where the condition is known from the roles alone, the roles of the other branch may be missing. */
function choice([condition, yes, no]: TypedExpr[], context: BuildContext): Node {
  const { graph } = context
  const chosen = buildNode(condition!, context)
  if (chosen === graph.constant(1)) return buildNode(yes!, context)
  if (chosen === graph.constant(0)) return buildNode(no!, context)
  return graph.op('if', chosen, buildNode(yes!, context), buildNode(no!, context))
}

/**
 * Builds the alternatives of `first()`. The rule runs when one alternative has all of its roles;
 * otherwise those of the first alternative are reported.
 */
function alternatives(args: TypedExpr[], context: BuildContext): Node[] {
  const { missing, missingOptional, namedNodes } = context
  const built = args.map(arg => {
    context.missing = new Set()
    context.missingOptional = new Set()
    context.namedNodes = new Map(namedNodes)
    const node = buildNode(arg, context)
    const lacking = [...context.missing, ...context.missingOptional]
    // A name with missing roles is built again where it is used without an alternative, and then reported.
    if (lacking.length === 0) for (const [name, made] of context.namedNodes) namedNodes.set(name, made)
    return { node, lacking }
  })
  context.missing = missing
  context.missingOptional = missingOptional
  context.namedNodes = namedNodes
  if (built.every(({ lacking }) => lacking.length > 0)) for (const role of built[0]!.lacking) missing.add(role)
  return built.map(({ node }) => node)
}

function windowOf(typed: TypedExpr, context: BuildContext): number {
  const ms = constantOf(typed, context) * 1000
  if (!(ms > 0 && ms <= WINDOW_MAX_MS))
    throw new RangeError(`a window of ${ms / 1000} s is not between 0 and ${WINDOW_MAX_MS / 1000} s`)
  return ms
}

function dayMedian(of: TypedExpr, context: BuildContext): Node {
  if (!context.active) throw new RangeError('day_median cannot stand in a gate')
  context.usesDayMedian = true
  return dayMedianNode(context.graph, buildNode(of, context), context.active, context.dailyMinimumMs)
}

function ofRole(op: string, role: string, context: BuildContext): Node {
  const { graph, equipmentContext: around, leaves } = context
  const leaf = around.leaf(OWN_PLACE, role)
  if (op === 'has') return graph.constant(leaf?.signal.ts.length ? 1 : 0)
  if (op === 'rests') return graph.constant(ROLES[role]?.rests ? 1 : 0)
  if (op === 'lowest' || op === 'highest') return graph.constant(ROLES[role]!.range[op === 'lowest' ? 0 : 1])
  if (op === 'off_set_point') return distanceToSetPoint(role, context)
  if (!leaf) return graph.constant(Number.NaN)
  leaves.add(leaf)
  return op === 'nominal' ? graph.nominal(leaf) : graph.age(leaf)
}

/** A set point without a value counts as far away, so that a missing set point does not stop the rule. */
const FAR = 1e12

function distanceToSetPoint(role: string, context: BuildContext): Node {
  const { graph } = context
  const value = rawRole(role, context, false)
  return setPointsOf(role)
    .flatMap(name => roleAt(OWN_PLACE, name, context) ?? [])
    .map(setPoint => graph.op('abs', graph.op('sub', value, graph.op('first', setPoint, graph.constant(FAR)))))
    .reduce((nearest, distance) => graph.op('least', nearest, distance), graph.constant(FAR))
}

/** A sensor counts as silent after this many of its intervals, for which its samples hold. */
const SILENT_INTERVALS = 3

/**
 * How many sensors of the equipment have samples, or how many of them have given no value for a window and for three of
 * their intervals.
 */
function sensorsOf(op: string, args: TypedExpr[], context: BuildContext): Node {
  const { graph, equipmentContext: around, leaves } = context
  const sensors = Object.keys(around.equipment.roles).flatMap(role => {
    const leaf = ROLES[role]?.rests === false ? around.leaf(OWN_PLACE, role) : undefined
    return leaf && leaf.signal.ts.length > 0 ? [leaf] : []
  })
  const add = (nodes: Node[]) => nodes.reduce((sum, node) => graph.op('add', sum, node), graph.constant(0))
  if (op === 'sensors') return graph.constant(sensors.length)
  const longest = graph.constant(windowOf(args[0]!, context) / 1000)
  return add(
    sensors.map(leaf => {
      leaves.add(leaf)
      const believed = graph.op('mul', graph.nominal(leaf), graph.constant(SILENT_INTERVALS))
      const silent = graph.op('gt', graph.age(leaf), graph.op('greatest', believed, longest))
      return graph.op('first', silent, graph.constant(0))
    }),
  )
}
