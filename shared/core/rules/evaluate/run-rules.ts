/**
 * Runs a set of rules over the equipment of one building. This is the entry of the phase: `runRules` takes checked rules
 * and all data at once; `createRun` takes the data equipment by equipment, so that only that of one is in memory, and can
 * resume from the states that an earlier run saved.
 */
import { compileEquipment, TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { createBuildingSignals } from '#shared/core/rules/compile/building-signals.ts'
import { type DataNeed, dataNeedsOf, rolesReadBy } from '#shared/core/rules/compile/data-needs.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { createFingerprint, type Fingerprint } from '#shared/core/rules/compile/fingerprint.ts'
import { createTopology, firstSampleOf, outlineOf } from '#shared/core/rules/compile/topology.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import { createActivity } from '#shared/core/rules/episodes/activity.ts'
import { type EquipmentReport, reportEquipment } from '#shared/core/rules/report/findings-report.ts'
import { collectOutput } from '#shared/core/rules/report/run-output.ts'
import { dayStart } from '#shared/core/time-zone.ts'
import type { EquipmentState } from './equipment-state.ts'
import { prependInputs, runningSumOrigins, unexpectedVisit } from './resume-inputs.ts'
import { runEquipment } from './run-equipment.ts'
import type { RunInput, RunOutput, RunPlan } from './run-types.ts'

/** `outdated`: why the run could not resume from the state; nothing was evaluated. `states`: those requested, oldest first. */
type EquipmentEvaluation = { outdated: string } | { outdated?: never; states: EquipmentState[] }

export type RuleRun = {
  /** Ids of the equipment in the order of evaluation, each once. */
  order: string[]
  /** The data to load for an equipment, its own first. */
  needs(equipment_id: string): DataNeed[]
  /**
   * @param data what `needs` lists, with every role; more is ignored. To resume, samples and visits from `resume.at` on are
   *   enough, and earlier ones are ignored.
   */
  evaluate(equipment_id: string, data: EquipmentData[], resume?: EquipmentState): EquipmentEvaluation
  /** The findings of `[from, to)`. They are the same whether the run resumed from states or not. */
  finish(): RunOutput
}

/**
 * Finds the episodes of every rule on every equipment of its types within `[from, to)`.
 *
 * The result depends on the input alone: not on the order of rules, equipment or samples. A rule that throws fails on that
 * equipment and is listed; the others run.
 *
 * @param templates as for `createRun`
 * @throws RangeError when the time zone is unknown or the span is longer than ten years
 */
export function runRules(input: RunInput, templates?: TemplateCache): RunOutput {
  const run = createRun({ ...input, equipment: input.equipment.map(outlineOf) }, templates)
  for (const equipment_id of run.order) run.evaluate(equipment_id, input.equipment)
  return run.finish()
}

/**
 * @param templates compiled by earlier runs of this process; this run adds its own
 * @throws RangeError when the time zone is unknown or the span is longer than ten years
 */
export function createRun(request: RunPlan, templates: TemplateCache = new TemplateCache()): RuleRun {
  const plan: RunPlan = { ...request, rules: request.rules.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
  const topology = createTopology(plan.equipment)
  const shared = { topology, created: new WeakMap() }
  const outlines = new Map(topology.equipment.map(each => [each.equipment_id, each]))
  const activity = createActivity(plan.rules)
  const fingerprints = new Map<string, Fingerprint>()
  const failed: RunOutput['failed'] = []
  const reports: EquipmentReport[] = []
  const reportOnly = plan.reportOnly && new Set(plan.reportOnly)
  const isReported = ({ rule_id }: { rule_id: string }) => !reportOnly || reportOnly.has(rule_id)
  const rolesRead = new Map(plan.rules.map(rule => [rule.id, rolesReadBy(rule)]))

  const rulesFor = (equipment_id: string): Rule[] => {
    const { equipment_type } = outlines.get(equipment_id)!
    return plan.rules.filter(({ equipment }) => equipment.includes('any') || equipment.includes(equipment_type))
  }

  return {
    order: topology.equipment.map(({ equipment_id }) => equipment_id),
    needs(equipment_id) {
      const read = rulesFor(equipment_id).map(({ id }) => rolesRead.get(id)!)
      return dataNeedsOf(outlines.get(equipment_id)!, read, topology)
    },
    evaluate(equipment_id, given, resume) {
      const data = resume ? prependInputs(resume.at, resume.inputs, given) : given
      const signals = createBuildingSignals(data, shared, resume && runningSumOrigins(resume.inputs))
      const equipment = data.find(each => each.equipment_id === equipment_id)
      if (!equipment) throw new Error(`${equipment_id} was not loaded`)
      const compiled = compileEquipment(rulesFor(equipment_id), equipment, plan, signals, templates)
      const read = compiled.instances.flatMap(({ leaves }) => leaves.map(leaf => leaf.equipment_id))
      const above = new Set([...topology.upstream(equipment_id), ...read])
      above.delete(equipment_id)
      const known = [...above].flatMap(id => fingerprints.get(id) ?? [])
      const fingerprint = createFingerprint(equipment_id, compiled, signals, plan, known)
      const outdated = resume && resumeProblem(resume, equipment_id, plan, fingerprint, given)
      if (outdated !== undefined) return { outdated }
      fingerprints.set(equipment_id, fingerprint)
      const since = firstSampleOf(outlines.get(equipment_id)!, signals.requested.keys())
      const outcome = runEquipment({ equipment_id, compiled, signals, data, resume, fingerprint, since }, plan, activity)
      failed.push(...[...compiled.failed, ...outcome.failed].map(each => ({ ...each, equipment_id })))
      const { carried = plan.carried ?? [], carriedFrom = plan.from } = resume ?? {}
      const open = (plan.carried ?? []).filter(one => one.equipment_id === equipment_id)
      compiled.release()
      reports.push(reportEquipment(outcome.rules, plan, { carried, carriedFrom, open }))
      return { states: outcome.states }
    },
    finish: () => ({ ...collectOutput(reports, plan.to, topology, isReported), failed: failed.filter(isReported) }),
  }
}

/** @returns why a run cannot resume from a state; undefined when it can */
function resumeProblem(
  { equipment_id: owner, at, from, fingerprint: saved, inputs }: EquipmentState,
  equipment_id: string,
  plan: RunPlan,
  fingerprint: Fingerprint,
  given: EquipmentData[],
): string | undefined {
  if (owner !== equipment_id) return `the state is that of ${owner}`
  if (at > plan.to) return 'the state is later than the end of the run'
  if (plan.from < from) return 'the run begins earlier than the one that saved the state'
  if (plan.from !== from && dayStart(plan.from, plan.timezone) !== plan.from) return 'the run begins within a building day'
  if (saved !== fingerprint(at)) return 'rules, parameters, points or equipment have changed'
  const visit = unexpectedVisit(at, inputs, given)
  return visit === undefined ? undefined : `a new visit to ${visit.split('\n').join(' ')} concerns the time before the state`
}
