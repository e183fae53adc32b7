/** Makes the rules of an equipment ready to run: once for each shape of equipment, then again and again with other leaves. */
import { isMeasured, ROLES } from '#shared/core/model/role.ts'
import { type Asked, aroundOf, type Leaf, rebind, unbind } from './equipment-context.ts'
import { restart } from '#shared/core/rules/evaluate/baseline.ts'
import { compileRule, type Instance, type Ready } from './compile-rule.ts'
import { createGraph, type Graph } from '#shared/core/rules/evaluate/graph.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { own } from '#shared/core/get-own.ts'
import type { Plant } from './building-signals.ts'
import type { Each, Rule } from '#shared/core/rules/check/rule.ts'
import type { RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData } from './equipment-data.ts'

export type Compiled = {
  instances: Instance[]
  graph: Graph
  failed: { rule_id: string; error: string }[]
  /** Leaves that those instances read which can run. */
  leaves: Leaf[]
  /** SHA-256 of rules, parameters and what is missing. */
  terms: string
  /** The equipment is done: lets go of its samples and columns. */
  release(): void
}

/** What is ready for a shape. Its columns serve one equipment at a time. */
type Kept = Omit<Compiled, 'instances'> & { ready: Ready[]; asked: Asked[] }
/** By shape, the one used last at the end. Any number of runs may share it, one after the other. */
export type Shapes = Map<string, Kept>

/** Shapes that are kept, some 0.5 MB each. */
const SHAPES_MAX = 16

type Given = Pick<RunPlan, 'params' | 'settings' | 'resets'>

/** @param rules of the equipment's type */
export function compileAll(rules: Rule[], equipment: EquipmentData, given: Given, plant: Plant, shapes: Shapes): Compiled {
  const shape = shapeOf(rules, equipment, given, plant)
  const known = shapes.get(shape)
  const kept = known && rebind(known.asked, equipment.equipment_id, plant) ? known : makeReady(rules, equipment, given, plant)
  shapes.delete(shape)
  shapes.set(shape, kept)
  for (const [oldest] of shapes) if (shapes.size > SHAPES_MAX) shapes.delete(oldest)
  const { ready, asked: _asked, ...compiled } = kept
  return { instances: ready.map(each => instanceOf(each, equipment, given)), ...compiled }
}

/** What the rules are made ready from, but for what they ask of roles. */
function shapeOf(rules: Rule[], equipment: EquipmentData, { params, settings = [] }: Given, plant: Plant): string {
  const { equipment_id, equipment_type, roles, visits = {} } = equipment
  const types = new Map(plant.equipment.map(each => [each.equipment_id, each.equipment_type]))
  const typesOf = (ids: string[]) => ids.map(id => types.get(id))
  const around = [plant.upstream(equipment_id), plant.downstream(equipment_id), plant.machinesAbove(equipment_id)].map(typesOf)
  const set = settings.filter(({ scope, scope_id }) => scope !== 'equipment' || scope_id === equipment_id)
  const values = set.map(({ scope_id, ...one }) => (one.scope === 'type' ? { ...one, scope_id } : one))
  const mapped = [Object.keys(roles), Object.keys(visits)]
  return JSON.stringify([rules.map(numberOf), equipment_type, mapped, around, params ?? null, values])
}

const numbers = new WeakMap<Rule, number>()
let lastNumber = 0

/** The same for the same rule as long as it is loaded. */
function numberOf(rule: Rule): number {
  const known = numbers.get(rule) ?? ++lastNumber
  numbers.set(rule, known)
  return known
}

function makeReady(rules: Rule[], equipment: EquipmentData, { params, settings = [] }: Given, plant: Plant): Kept {
  const around = aroundOf(equipment, plant)
  const graph = createGraph()
  const ready: Ready[] = []
  const failed: Compiled['failed'] = []
  for (const rule of rules) {
    const request = params?.[rule.id] ?? {}
    try {
      for (const role of rolesFor(rule, equipment)) ready.push(compileRule({ rule, role, request, settings }, around, graph))
    } catch (error) {
      failed.push({ rule_id: rule.id, error: error instanceof Error ? error.message : String(error) })
    }
  }
  const runnable = ready.filter(({ missing }) => missing.length === 0)
  const leaves = new Set(runnable.flatMap(({ order, telling }) => [...order, ...telling].flatMap(({ leaf }) => leaf ?? [])))
  const terms = ready.map(({ rule, role, params: used, missing }) => [rule.id, rule.sha256, role ?? null, used, missing])
  const asked = around.asked()
  const release = () => {
    graph.release()
    unbind(asked)
  }
  return { ready, asked, graph, failed, leaves: [...leaves], terms: sha256(JSON.stringify(terms)), release }
}

function instanceOf(ready: Ready, equipment: EquipmentData, { resets = [] }: Given): Instance {
  const { equipment_id } = equipment
  const own = resets.filter(reset => reset.equipment_id === equipment_id && reset.role === ready.role)
  for (const { state } of ready.baselines) {
    restart(state, own.find(({ rule_id, name }) => rule_id === ready.rule.id && name === state.spec.name)?.at)
  }
  const everyMs = Math.max(0, ...ready.sampled.map(({ steps }) => steps.nominalMs))
  const isTooCoarse = everyMs > ready.samplingMs
  const coarse = isTooCoarse && { coarse: { everyMs, needsMs: ready.samplingMs } }
  return { ...ready, ...coarse, equipment, isTooCoarse, leaves: [...new Set(ready.leaves.map(({ steps }) => steps))] }
}

/** As every role of a set point is named: `sa_t_sp`, `sa_t_sp_cool`. */
const SET_POINT = /_sp(_|$)/

/** `undefined` once for a plain rule; every mapped role for a rule over roles. */
function rolesFor({ program }: Rule, { roles, visits = {} }: EquipmentData): (string | undefined)[] {
  if (!program.each) return [undefined]
  const { which } = program.each
  const isVisited = which === 'commandable' || which === 'set_point'
  return Object.keys(roles)
    .filter(role => runsOver(which, role) && (!isVisited || own(visits, role)))
    .toSorted()
}

/** Whether a rule over such roles may run over this one; those that must be visited still have to be. */
export function runsOver(which: Each, role: string): boolean {
  if (which === 'commandable') return true
  if (which === 'set_point') return SET_POINT.test(role)
  if (which === 'measured') return isMeasured(role)
  return own(ROLES, role)?.rests === false || (which === 'any' && own(ROLES, role) !== undefined)
}
