/**
 * A run of rules, equipment by equipment: a caller holds the samples of one at a time, may stop between two, and goes on from
 * what an earlier run left instead of reckoning all of the past again.
 */
import { dayStart } from '#shared/core/time-zone.ts'
import { collectOutput } from '#shared/core/rules/report/run-output.ts'
import { compileEquipment, type TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { type Fingerprint, createFingerprint } from '#shared/core/rules/compile/fingerprint.ts'
import { prependInputs, runningSumOrigins, unexpectedVisit } from './resume-inputs.ts'
import { firstSampleOf, createBuildingSignals, createTopology } from '#shared/core/rules/compile/building-signals.ts'
import { type DataNeed, dataNeedsOf, rolesReadBy } from '#shared/core/rules/compile/data-needs.ts'
import { runEquipment } from './run-equipment.ts'
import type { EquipmentState } from './equipment-state.ts'
import type { Activity } from '#shared/core/rules/episodes/suppress.ts'
import { reportEquipment, type EquipmentReport } from '#shared/core/rules/report/findings-report.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunPlan } from './run-types.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'

/** `outdated`: why it could not go on from the state; nothing has been done. `states`: those asked for, oldest first. */
export type EquipmentEvaluation = { outdated: string } | { outdated?: never; states: EquipmentState[] }

export type RuleRun = {
  /** Ids of the equipment in the order in which they are evaluated, each once. */
  order: string[]
  /** What to load for an equipment, itself first. */
  needs(equipment_id: string): DataNeed[]
  /**
   * @param data what `needs` says, every role there; more does no harm. Of a run that goes on, samples and visits from
   *   `resume.at` on are enough, and earlier ones are passed over.
   */
  evaluate(equipment_id: string, data: EquipmentData[], resume?: EquipmentState): EquipmentEvaluation
  /** What is found within `[from, to)`, the same whether the run went on from states or not. */
  finish(): RunOutput
}

/**
 * @param shapes what earlier runs in this process have made ready, to which this one adds
 * @throws RangeError when the time zone is unknown or the span is longer than ten years
 */
export function createRun(asked: RunPlan, shapes: TemplateCache = new Map()): RuleRun {
  const plan: RunPlan = { ...asked, rules: asked.rules.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
  const shared = { site: createTopology(plan.equipment), made: new WeakMap() }
  const { site } = shared
  const activity: Activity = new Map()
  const fingerprints = new Map<string, Fingerprint>()
  const failed: RunOutput['failed'] = []
  const told: EquipmentReport[] = []
  const only = plan.only && new Set(plan.only)
  const isAsked = ({ rule_id }: { rule_id: string }) => !only || only.has(rule_id)
  const reads = new Map(plan.rules.map(rule => [rule.id, rolesReadBy(rule)]))

  const rulesFor = (equipment_id: string): Rule[] => {
    const { equipment_type } = site.equipment.find(each => each.equipment_id === equipment_id)!
    return plan.rules.filter(({ equipment }) => equipment.includes('any') || equipment.includes(equipment_type))
  }

  return {
    order: site.equipment.map(({ equipment_id }) => equipment_id),
    needs(equipment_id) {
      const own = site.equipment.find(each => each.equipment_id === equipment_id)!
      return dataNeedsOf(
        own,
        rulesFor(equipment_id).map(({ id }) => reads.get(id)!),
        site,
      )
    },
    evaluate(equipment_id, given, resume) {
      const data = resume ? prependInputs(resume.at, resume.inputs, given) : given
      const plant = createBuildingSignals(data, shared, resume && runningSumOrigins(resume.inputs))
      const equipment = data.find(each => each.equipment_id === equipment_id)
      if (!equipment) throw new Error(`${equipment_id} was not loaded`)
      const compiled = compileEquipment(rulesFor(equipment_id), equipment, plan, plant, shapes)
      const { instances } = compiled
      const above = new Set([
        ...site.upstream(equipment_id),
        ...instances.flatMap(({ leaves }) => leaves.map(leaf => leaf.equipment_id)),
      ])
      above.delete(equipment_id)
      const fingerprint = createFingerprint(
        equipment_id,
        compiled,
        plant,
        plan,
        [...above].flatMap(id => fingerprints.get(id) ?? []),
      )
      const outdated = resume && resumeProblem(resume, equipment_id, plan, fingerprint, given)
      if (outdated !== undefined) return { outdated }
      fingerprints.set(equipment_id, fingerprint)
      const since = firstSampleOf(site.equipment.find(each => each.equipment_id === equipment_id)!, plant.asked.keys())
      const ran = runEquipment({ equipment_id, compiled, plant, data, resume, fingerprint, since }, plan, activity)
      failed.push(...[...compiled.failed, ...ran.failed].map(each => ({ ...each, equipment_id })))
      const { carried = plan.carried ?? [], carriedFrom = plan.from } = resume ?? {}
      const open = (plan.carried ?? []).filter(one => one.equipment_id === equipment_id)
      compiled.release()
      told.push(reportEquipment(ran.verdicts, plan, { carried, carriedFrom, open }))
      return { states: ran.states }
    },
    finish: () => ({ ...collectOutput(told, plan.to, site, isAsked), failed: failed.filter(isAsked) }),
  }
}

/** @returns why a run cannot go on from a state; undefined when it can */
function resumeProblem(
  { equipment_id: of, at, from, fingerprint: known, inputs }: EquipmentState,
  equipment_id: string,
  plan: RunPlan,
  fingerprint: Fingerprint,
  given: EquipmentData[],
): string | undefined {
  if (of !== equipment_id) return `it is that of ${of}`
  if (at > plan.to) return 'it is later than the end of the run'
  if (plan.from < from) return 'the run begins earlier than those before it'
  if (plan.from !== from && dayStart(plan.from, plan.timezone) !== plan.from) return 'the run begins within a building day'
  if (known !== fingerprint(at)) return 'rules, parameters, points or equipment have changed'
  const visit = unexpectedVisit(at, inputs, given)
  return visit === undefined ? undefined : `a visit to ${visit.split('\n').join(' ')} tells of the time before it`
}
