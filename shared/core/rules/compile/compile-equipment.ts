/** Makes the rules of an equipment ready to run: once for each shape of equipment, then again and again with other leaves. */
import { errorText } from '../../error-text.ts'
import { isMeasured, ROLES } from '#shared/core/model/role.ts'
import { type LeafRequest, createEquipmentContext, type Leaf, bindLeaves, unbindLeaves } from './equipment-context.ts'
import { restartBaseline } from '#shared/core/rules/evaluate/baseline.ts'
import { compileRule, type RuleInstance, type CompiledRule } from './compile-rule.ts'
import { createGraph, type Graph } from '#shared/core/rules/evaluate/graph.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { getOwn } from '#shared/core/get-own.ts'
import type { BuildingSignals } from './building-signals.ts'
import type { RoleGroup, Rule } from '#shared/core/rules/check/rule.ts'
import type { RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData } from './equipment-data.ts'

export type CompiledEquipment = {
  instances: RuleInstance[]
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
type RuleTemplate = Omit<CompiledEquipment, 'instances'> & { ready: CompiledRule[]; asked: LeafRequest[] }
/** By shape, the one used last at the end. Any number of runs may share it, one after the other. */
export type TemplateCache = Map<string, RuleTemplate>

/** Shapes that are kept, some 0.5 MB each. */
const TEMPLATES_MAX = 16

type CompileOptions = Pick<RunPlan, 'params' | 'settings' | 'resets'>

/** @param rules of the equipment's type */
export function compileEquipment(
  rules: Rule[],
  equipment: EquipmentData,
  given: CompileOptions,
  plant: BuildingSignals,
  shapes: TemplateCache,
): CompiledEquipment {
  const shape = templateKey(rules, equipment, given, plant)
  const known = shapes.get(shape)
  const kept =
    known && bindLeaves(known.asked, equipment.equipment_id, plant) ? known : compileTemplate(rules, equipment, given, plant)
  shapes.delete(shape)
  shapes.set(shape, kept)
  for (const [oldest] of shapes) if (shapes.size > TEMPLATES_MAX) shapes.delete(oldest)
  const { ready, asked: _asked, ...compiled } = kept
  return { instances: ready.map(each => bindInstance(each, equipment, given)), ...compiled }
}

/** What the rules are made ready from, but for what they ask of roles. */
function templateKey(
  rules: Rule[],
  equipment: EquipmentData,
  { params, settings = [] }: CompileOptions,
  plant: BuildingSignals,
): string {
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

function compileTemplate(
  rules: Rule[],
  equipment: EquipmentData,
  { params, settings = [] }: CompileOptions,
  plant: BuildingSignals,
): RuleTemplate {
  const around = createEquipmentContext(equipment, plant)
  const graph = createGraph()
  const ready: CompiledRule[] = []
  const failed: CompiledEquipment['failed'] = []
  for (const rule of rules) {
    const request = params?.[rule.id] ?? {}
    try {
      for (const role of rolesFor(rule, equipment)) ready.push(compileRule({ rule, role, request, settings }, around, graph))
    } catch (error) {
      failed.push({ rule_id: rule.id, error: errorText(error) })
    }
  }
  const runnable = ready.filter(({ missing }) => missing.length === 0)
  const leaves = new Set(runnable.flatMap(({ order, telling }) => [...order, ...telling].flatMap(({ leaf }) => leaf ?? [])))
  const terms = ready.map(({ rule, role, params: used, missing }) => [rule.id, rule.sha256, role ?? null, used, missing])
  const asked = around.asked()
  const release = () => {
    graph.release()
    unbindLeaves(asked)
  }
  return { ready, asked, graph, failed, leaves: [...leaves], terms: sha256(JSON.stringify(terms)), release }
}

function bindInstance(ready: CompiledRule, equipment: EquipmentData, { resets = [] }: CompileOptions): RuleInstance {
  const { equipment_id } = equipment
  const own = resets.filter(reset => reset.equipment_id === equipment_id && reset.role === ready.role)
  for (const { state } of ready.baselines) {
    restartBaseline(state, own.find(({ rule_id, name }) => rule_id === ready.rule.id && name === state.spec.name)?.at)
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
    .filter(role => isInRoleGroup(which, role) && (!isVisited || getOwn(visits, role)))
    .toSorted()
}

/** Whether a rule over such roles may run over this one; those that must be visited still have to be. */
export function isInRoleGroup(which: RoleGroup, role: string): boolean {
  if (which === 'commandable') return true
  if (which === 'set_point') return SET_POINT.test(role)
  if (which === 'measured') return isMeasured(role)
  return getOwn(ROLES, role)?.rests === false || (which === 'any' && getOwn(ROLES, role) !== undefined)
}
