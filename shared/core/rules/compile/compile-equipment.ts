/**
 * Compiles all rules of an equipment. This is the entry of the phase: it takes checked rules and the data of one equipment,
 * and gives rule instances that can be evaluated day by day. Equipment of the same structure shares one template, in which
 * only the signals that the leaves read are exchanged.
 */
import { errorText } from '#shared/core/error-text.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import { isMeasured, ROLES } from '#shared/core/model/role.ts'
import type { RoleGroup, Rule } from '#shared/core/rules/check/rule.ts'
import { restartBaseline } from '#shared/core/rules/evaluate/baseline.ts'
import { ColumnPool } from '#shared/core/rules/evaluate/column-pool.ts'
import type { Node } from '#shared/core/rules/evaluate/node.ts'
import { Graph } from '#shared/core/rules/evaluate/graph.ts'
import type { RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { BuildingSignals } from './building-signals.ts'
import { compileRule, type CompiledRule, type RuleInstance } from './compile-rule.ts'
import { bindLeaves, createEquipmentContext, type Leaf, type LeafRequest, unbindLeaves } from './equipment-context.ts'
import type { EquipmentData } from './equipment-data.ts'

export type CompiledEquipment = {
  instances: RuleInstance[]
  graph: Graph
  failed: { rule_id: string; error: string }[]
  /** Leaves of the instances that can run. */
  leaves: Leaf[]
  /** SHA-256 of rules, parameters and missing roles. */
  contentHash: string
  /** Drops the samples and columns of the equipment, which is done. */
  release(): void
}

/** The rules compiled for one structure of equipment. Its columns serve one equipment at a time. */
type RuleTemplate = Omit<CompiledEquipment, 'instances'> & { rules: CompiledRule[]; requests: LeafRequest[] }

/** Size of the template cache; a template has about 0.5 MB. */
const TEMPLATES_MAX = 16

/** The most recently used templates of a process. Any number of runs may share it, one after the other. */
export class TemplateCache {
  /** The columns of all templates. */
  readonly columns = new ColumnPool()
  /** By key, the most recently used last. */
  private readonly templates = new Map<string, RuleTemplate>()
  private readonly ruleNumbers = new WeakMap<Rule, number>()
  private lastRuleNumber = 0

  get size(): number {
    return this.templates.size
  }

  /** @returns the templates, the most recently used last */
  values(): Iterable<RuleTemplate> {
    return this.templates.values()
  }

  get(key: string): RuleTemplate | undefined {
    return this.templates.get(key)
  }

  /** Adds a template, or marks it as used. */
  put(key: string, template: RuleTemplate): void {
    this.templates.delete(key)
    this.templates.set(key, template)
    for (const [oldest] of this.templates) if (this.templates.size > TEMPLATES_MAX) this.templates.delete(oldest)
  }

  /** @returns the same number for the same rule as long as it is loaded */
  numberOf(rule: Rule): number {
    const known = this.ruleNumbers.get(rule) ?? ++this.lastRuleNumber
    this.ruleNumbers.set(rule, known)
    return known
  }
}

type CompileOptions = Pick<RunPlan, 'params' | 'settings' | 'resets'>

/** @param rules of the equipment's type */
export function compileEquipment(
  rules: Rule[],
  equipment: EquipmentData,
  options: CompileOptions,
  signals: BuildingSignals,
  cache: TemplateCache,
): CompiledEquipment {
  const key = templateKey(rules, equipment, options, signals, cache)
  const known = cache.get(key)
  const isUsable = known !== undefined && bindLeaves(known.requests, equipment.equipment_id, signals)
  const template = isUsable ? known : compileTemplate(rules, equipment, options, signals, cache)
  cache.put(key, template)
  const { rules: compiledRules, requests: _requests, ...compiled } = template
  return { instances: compiledRules.map(each => bindInstance(each, equipment, options)), ...compiled }
}

/** @returns a key of everything that a template depends on, except the samples of the roles that it reads */
function templateKey(
  rules: Rule[],
  equipment: EquipmentData,
  { params, settings = [] }: CompileOptions,
  topology: BuildingSignals,
  cache: TemplateCache,
): string {
  const { equipment_id, equipment_type, roles, visits = {} } = equipment
  const { upstream, downstream, machinesAbove, typeOf } = topology
  const places = [upstream(equipment_id), downstream(equipment_id), machinesAbove(equipment_id)].map(ids => ids.map(typeOf))
  const set = settings.filter(({ scope, scope_id }) => scope !== 'equipment' || scope_id === equipment_id)
  const values = set.map(({ scope_id, ...one }) => (one.scope === 'type' ? { ...one, scope_id } : one))
  const mapped = [Object.keys(roles), Object.keys(visits)]
  const numbers = rules.map(rule => cache.numberOf(rule))
  return JSON.stringify([numbers, equipment_type, mapped, places, params ?? null, values])
}

function compileTemplate(
  rules: Rule[],
  equipment: EquipmentData,
  { params, settings = [] }: CompileOptions,
  signals: BuildingSignals,
  cache: TemplateCache,
): RuleTemplate {
  const context = createEquipmentContext(equipment, signals)
  const graph = new Graph(cache.columns)
  const compiled: CompiledRule[] = []
  const failed: CompiledEquipment['failed'] = []
  for (const rule of rules) {
    const request = params?.[rule.id] ?? {}
    try {
      for (const role of rolesFor(rule, equipment)) compiled.push(compileRule({ rule, role, request, settings }, context, graph))
    } catch (error) {
      failed.push({ rule_id: rule.id, error: errorText(error) })
    }
  }
  const runnable = compiled.filter(({ missing }) => missing.length === 0)
  findSpent(runnable)
  const leaves = new Set(
    runnable.flatMap(({ order, evidenceOrder }) => [...order, ...evidenceOrder].flatMap(({ leaf }) => leaf ?? [])),
  )
  const content = compiled.map(({ rule, role, params: used, missing }) => [rule.id, rule.sha256, role ?? null, used, missing])
  const requests = context.requests()
  const release = () => {
    graph.release()
    unbindLeaves(requests)
  }
  return { rules: compiled, requests, graph, failed, leaves: [...leaves], contentHash: sha256(JSON.stringify(content)), release }
}

/** Finds the last reader of each node, so that a day takes as few columns as possible at once. */
function findSpent(runnable: CompiledRule[]): void {
  const seen = new Set<Node>()
  for (const rule of runnable.toReversed()) {
    rule.spent = [...rule.order, ...rule.evidenceOrder].filter(node => !seen.has(node))
    for (const node of rule.spent) seen.add(node)
  }
}

function bindInstance(compiled: CompiledRule, equipment: EquipmentData, { resets = [] }: CompileOptions): RuleInstance {
  const { equipment_id } = equipment
  const own = resets.filter(reset => reset.equipment_id === equipment_id && reset.role === compiled.role)
  for (const { state } of compiled.baselines) {
    restartBaseline(state, own.find(({ rule_id, name }) => rule_id === compiled.rule.id && name === state.spec.name)?.at)
  }
  const everyMs = Math.max(0, ...compiled.sampled.map(({ signal }) => (signal.reportsChanges ? 0 : signal.nominalMs)))
  const isTooCoarse = everyMs > compiled.samplingMs
  const coarse = isTooCoarse && { coarse: { everyMs, needsMs: compiled.samplingMs } }
  return { ...compiled, ...coarse, equipment, isTooCoarse, leaves: [...new Set(compiled.leaves.map(({ signal }) => signal))] }
}

/** The names of set points contain this: `sa_t_sp`, `sa_t_sp_cool`. */
const SET_POINT = /_sp(_|$)/

/** @returns one undefined for a plain rule; every mapped role for a rule that runs over roles */
function rolesFor({ program }: Rule, { roles, visits = {} }: EquipmentData): (string | undefined)[] {
  if (!program.each) return [undefined]
  const { which } = program.each
  const isVisited = which === 'commandable' || which === 'set_point'
  return Object.keys(roles)
    .filter(role => isInRoleGroup(which, role) && (!isVisited || getOwn(visits, role)))
    .toSorted()
}

/** Whether a rule over a group of roles may run over this role. Whether the role is visited, where it must be, is not tested. */
export function isInRoleGroup(which: RoleGroup, role: string): boolean {
  if (which === 'commandable') return true
  if (which === 'set_point') return SET_POINT.test(role)
  if (which === 'measured') return isMeasured(role)
  return getOwn(ROLES, role)?.rests === false || (which === 'any' && getOwn(ROLES, role) !== undefined)
}
