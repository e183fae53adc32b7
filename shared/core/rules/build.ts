/** Turns checked expressions into columns of one equipment's graph. */
import type { ParamValue } from '../finding.ts'
import { roleOfColumn } from '../priority/visits.ts'
import { ROLES } from '../role.ts'
import type { BaselineState } from './baseline.ts'
import { checkExpr, type Typed } from './check-expr.ts'
import { canonical } from './dimension.ts'
import { WINDOW_MAX_MS } from './functions.ts'
import type { Graph, Node } from './graph.ts'
import { MACHINES, MACROS, OAF, OAF_ROLES, type Proof } from './macros.ts'
import { baselineNode, dayMedianNode, isWindow, sinceNode, toleranceNode, windowNode } from './nodes.ts'
import { own } from './own.ts'
import { parseExpr } from './parse-expr.ts'
import type { Plant } from './plant.ts'
import type { Steps } from './steps.ts'
import type { EquipmentData, Rule } from './types.ts'

export type Context = {
  rule: Rule
  equipment: EquipmentData
  /** The role to which a rule over every role is bound. */
  role: string | undefined
  plant: Plant
  graph: Graph
  params: Record<string, ParamValue>
  smoothMs: number
  /** Where the rule looks; undefined while the gate itself is built. */
  active: Node | undefined
  dailyMinimumMs: number
  baselines: Map<string, BaselineState>
  /** What gathers on the way: proofs that are not there, roles that are read, whether a day's median is used. */
  missing: Set<string>
  /** Optional roles that are not there: of weight only where first() has nothing else. */
  lacks: Set<string>
  leaves: Set<Steps>
  usesDay: boolean
  refs: Map<string, Node>
  /** What has been built: a term of a condition is a part of it. */
  built: Map<Typed, Node>
}

const OAF_TYPED = checkExpr(parseExpr(OAF), { roles: OAF_ROLES, params: {}, lets: new Map(), baselines: new Map() }).typed

/** @throws RangeError when a window is out of bounds or the program is not one that the checker made */
export function build(typed: Typed, context: Context): Node {
  const known = context.built.get(typed)
  if (known) return known
  const made = buildAnew(typed, context)
  context.built.set(typed, made)
  return made
}

function buildAnew(typed: Typed, context: Context): Node {
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
export function constantOf(typed: Typed, context: Context): number {
  if (typed.kind === 'const') return typed.value
  if (typed.kind === 'param') {
    const { value, unit } = context.params[typed.name]!
    return canonical(value, unit, typed.absolute)
  }
  if (typed.kind !== 'op') throw new RangeError('not a constant')
  const [a, b] = typed.args.map(arg => constantOf(arg, context)) as [number, number]
  return typed.op === 'add' ? a + b : typed.op === 'sub' ? a - b : typed.op === 'mul' ? a * b : a / b
}

// ---- roles

const ownerKey = ({ rule, equipment, role }: Context): string => `${rule.id} ${equipment.equipment_id} ${role ?? ''}`
/** `each`, and `slot(each, 8)`, with the role to which the rule is bound. */
const bound = (role: string, context: Context): string =>
  context.role === undefined ? role : role.replace(/\beach\b/, context.role)

function ownRole(name: string, context: Context): Node {
  const role = bound(name, context)
  const column = rawRole(role, context, context.rule.program.raw)
  const smooth = context.smoothMs > 0 && ROLES[role]?.kind === 'number'
  return smooth ? windowNode(context.graph, 'avg', column, context.smoothMs, 0) : column
}

function rawRole(role: string, context: Context, raw: boolean): Node {
  const found = roleOf(context.equipment.equipment_id, role, context, raw)
  if (!found) (roleOfColumn(role) === undefined ? context.lacks : context.missing).add(role)
  return found ?? context.graph.constant(Number.NaN)
}

function roleOf(equipment_id: string, role: string, { plant, graph, leaves }: Context, raw = false): Node | undefined {
  const steps = plant.steps(equipment_id, role)
  if (!steps) return undefined
  leaves.add(steps)
  return graph.role(steps, raw)
}

function parentRole(role: string, context: Context): Node {
  for (const id of context.plant.upstream(context.equipment.equipment_id)) {
    const node = roleOf(id, role, context)
    if (node) return node
  }
  context.missing.add(`parent ${role}`)
  return context.graph.constant(Number.NaN)
}

function zoneRole(role: string, how: string, context: Context): Node {
  const fed = context.plant.downstream(context.equipment.equipment_id)
  // A zone's own sensor does not explain why the whole is not known: zones are no leaves.
  const leaves = new Set<Steps>()
  const nodes = fed.flatMap(id => roleOf(id, role, { ...context, leaves }) ?? [])
  if (nodes.length === 0) context.missing.add(`zones ${role}`)
  return nodes.length === 0 ? context.graph.constant(Number.NaN) : context.graph.zones(how, nodes)
}

// ---- names

function reference(name: string, context: Context): Node {
  const known = context.refs.get(name)
  if (known) return known
  const made =
    name === 'oaf' ? build(OAF_TYPED, context) : own(MACROS, name) ? macro(name, context) : build(letOf(name, context), context)
  context.refs.set(name, made)
  return made
}

function letOf(name: string, { rule }: Context): Typed {
  const found = rule.program.lets.find(item => item.name === name)
  if (!found) throw new RangeError(`no let ${name}`)
  return found.typed
}

/** The first proof that has samples: on the equipment itself, on what feeds it, or on the machines of a plant. */
function macro(name: string, context: Context): Node {
  const { proofs, alwaysFor } = MACROS[name]!
  const { equipment, plant, graph } = context
  if (alwaysFor.includes(equipment.equipment_type)) return graph.constant(1)
  for (const id of [equipment.equipment_id, ...plant.upstream(equipment.equipment_id)]) {
    const found = proofOn(id, proofs, context)
    if (found) return found
  }
  const types = MACHINES[equipment.equipment_type] ?? []
  const below = plant.downstream(equipment.equipment_id)
  const machines = plant.equipment.filter(item => types.includes(item.equipment_type) && below.includes(item.equipment_id))
  const running = machines.flatMap(({ equipment_id }) => proofOn(equipment_id, proofs, context) ?? [])
  if (running.length > 0) return graph.zones('max', running)
  context.missing.add(proofs[0]!.role)
  return graph.constant(Number.NaN)
}

function proofOn(equipment_id: string, proofs: readonly Proof[], context: Context): Node | undefined {
  const { plant, graph } = context
  const proof = proofs.find(({ role }) => plant.steps(equipment_id, role)?.ts.length)
  return proof && graph.op('gt', roleOf(equipment_id, proof.role, context)!, graph.constant(proof.above))
}

function baseline(typed: Typed & { kind: 'baseline' }, context: Context): Node {
  const state = context.baselines.get(typed.name)
  if (!state) throw new RangeError(`no baseline ${typed.name}`)
  const owner = ownerKey(context)
  if (typed.what === 'tolerance') return toleranceNode(context.graph, owner, state, build(typed.args[0]!, context))
  return baselineNode(context.graph, typed.what, owner, state)
}

// ---- operations

/** What they tell of a role is no matter of its values. */
const OF_ROLE = new Set(['has', 'rests', 'nominal', 'lowest', 'highest', 'age'])
/** Those that take any number of arguments. */
const MANY = new Set(['least', 'greatest', 'first'])

function operation(op: string, args: Typed[], context: Context): Node {
  const { graph } = context
  if (isWindow(op)) {
    // cusum(x, slack, window) carries its window last; every other function has it second.
    const [window, extra] = op === 'cusum' ? [args[2]!, args[1]] : [args[1]!, args[2]]
    return windowNode(graph, op, build(args[0]!, context), windowOf(window, context), extra ? constantOf(extra, context) : 0)
  }
  const first = args[0]!
  if (first.kind === 'role' && OF_ROLE.has(op)) return ofRole(op, bound(first.role, context), context)
  if (op === 'coverage') return graph.coverage(build(args[0]!, context), windowOf(args[1]!, context))
  if (op === 'since') return sinceNode(graph, build(args[0]!, context))
  if (op === 'day_median') return dayMedian(args[0]!, context)
  const inputs = op === 'first' ? alternatives(args, context) : args.map(arg => build(arg, context))
  return MANY.has(op) ? inputs.reduce((left, right) => graph.op(op, left, right)) : graph.op(op, ...inputs)
}

/** What one of them lacks keeps no rule from running while another lacks nothing; else the first says what is missing. */
function alternatives(args: Typed[], context: Context): Node[] {
  const { missing, lacks, refs } = context
  const tried = args.map(arg => {
    Object.assign(context, { missing: new Set(), lacks: new Set(), refs: new Map(refs) })
    const node = build(arg, context)
    const wanting = [...context.missing, ...context.lacks]
    // A name that was found wanting here is to be missed where nothing stands in.
    if (wanting.length === 0) for (const [name, made] of context.refs) refs.set(name, made)
    return { node, wanting }
  })
  Object.assign(context, { missing, lacks, refs })
  if (tried.every(({ wanting }) => wanting.length > 0)) for (const role of tried[0]!.wanting) missing.add(role)
  return tried.map(({ node }) => node)
}

function windowOf(typed: Typed, context: Context): number {
  const ms = constantOf(typed, context) * 1000
  if (!(ms > 0 && ms <= WINDOW_MAX_MS))
    throw new RangeError(`a window of ${ms / 1000} s is not between 0 and ${WINDOW_MAX_MS / 1000} s`)
  return ms
}

function dayMedian(of: Typed, context: Context): Node {
  if (!context.active) throw new RangeError('day_median cannot stand in a gate')
  context.usesDay = true
  return dayMedianNode(context.graph, build(of, context), context.active, context.dailyMinimumMs)
}

function ofRole(op: string, role: string, context: Context): Node {
  const { graph, plant, equipment, leaves } = context
  const steps = plant.steps(equipment.equipment_id, role)
  if (op === 'has') return graph.constant(steps?.ts.length ? 1 : 0)
  if (op === 'rests') return graph.constant(ROLES[role]?.rests ? 1 : 0)
  if (op === 'lowest' || op === 'highest') return graph.constant(ROLES[role]!.range[op === 'lowest' ? 0 : 1])
  if (!steps) return graph.constant(Number.NaN)
  leaves.add(steps)
  return op === 'nominal' ? graph.constant(steps.nominalMs / 1000) : graph.age(steps)
}
