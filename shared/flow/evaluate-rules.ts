import type { Building, Equipment, Point } from '#shared/core/model.ts'
import type { Historian } from '#shared/core/ports.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { Visit } from '#shared/core/priority/visits.ts'
import { runRules } from '#shared/core/rules/run-rules.ts'
import type { RunProgress } from '#shared/core/run-state.ts'
import type { ParamSetting } from '#shared/core/rules/param-settings.ts'
import type { BaselineReset, Carried, Rule, RunOutput } from '#shared/core/rules/types.ts'
import { buildFrames, pastOf } from './build-frames.ts'

/** All that a run needs to know, as plain data that goes to another process. */
export type EvaluateJob = {
  building: Pick<Building, 'building_id' | 'timezone'>
  equipment: Equipment[]
  points: Point[]
  from: number
  to: number
  /** Undefined: every rule that is not in `inactive`. */
  rule_ids: string[] | undefined
  inactive: string[]
  /** Undefined: all. */
  equipment_ids: string[] | undefined
  params: Record<string, Record<string, number>> | undefined
  /** What people have set for the building's rules; `params` counts before it. */
  settings: ParamSetting[]
  resets: BaselineReset[]
  carried: Carried[]
  /** Visits to priority arrays by point. */
  visits?: Record<string, Visit[]>
}

export type Evaluation = Pick<RunOutput, 'findings' | 'results' | 'days' | 'failed' | 'baselines'> & {
  /** Rules that ran. */
  rule_ids: string[]
  timings: { step: string; ms: number }[]
}

export type EvaluatePorts = {
  historian: Pick<Historian, 'read'>
  /** Reads the rules afresh. */
  loadRules: () => { rules: Rule[]; errors: { filename: string; line: number; message: string }[] }
  /** A stopwatch, ms. */
  elapsed: () => number
  /** Told at the beginning of each step and after each equipment. */
  progress?: (progress: RunProgress) => void
  /** Ends the run between two pieces of its work. */
  signal?: AbortSignal
  /** Lets what came meanwhile be heard, an abort above all. */
  breathe?: () => Promise<void>
}

/**
 * Runs rules over a building's history.
 *
 * A rule file that does not check, and a rule that throws on some equipment, fail alone and are listed.
 *
 * @throws Problem unknown_rule, or invalid when a parameter is none of a rule's or beyond its limits; the reason of the abort
 */
export async function evaluateRules(job: EvaluateJob, ports: EvaluatePorts): Promise<Evaluation> {
  const { historian, loadRules, elapsed, progress, signal, breathe } = ports
  const timings: Evaluation['timings'] = []
  const timed = async <T>(step: string, work: () => T | Promise<T>): Promise<T> => {
    await breathe?.()
    signal?.throwIfAborted()
    const started = elapsed()
    const result = await work()
    timings.push({ step, ms: Math.round(elapsed() - started) })
    return result
  }
  const { building_id, timezone } = job.building
  progress?.({ step: 'rules', equipment_done: 0, equipment_total: 0, rules: 0 })
  const loaded = await timed('rules', loadRules)
  const rules = selectRules(loaded.rules, job)
  refuseParams(job.params ?? {}, rules)
  const equipment = selectEquipment(job)
  const at = { equipment_done: 0, equipment_total: equipment.length, rules: rules.length }
  progress?.({ step: 'history', ...at })
  const span = { from: job.from - pastOf(rules), to: job.to }
  const frames = await timed('history', () => buildFrames(building_id, equipment, job.points, span, historian, job.visits))
  const { from, to, params, settings, resets, carried } = job
  const asked = { settings, resets, carried, ...(params && { params }) }
  const input = { building_id, timezone, from, to, rules, equipment: frames, ...asked }
  progress?.({ step: 'evaluation', ...at })
  const output = await timed('evaluation', () => runRules(input))
  progress?.({ step: 'evaluation', ...at, equipment_done: equipment.length })
  const wanted = (one: { equipment_id: string }) => !job.equipment_ids || job.equipment_ids.includes(one.equipment_id)
  const broken = job.rule_ids ? [] : loaded.errors.map(brokenFile)
  return {
    findings: output.findings.filter(wanted),
    results: output.results.filter(wanted),
    days: output.days.filter(wanted),
    failed: [...output.failed.filter(wanted), ...broken],
    baselines: output.baselines.filter(wanted),
    rule_ids: rules.map(({ id }) => id),
    timings,
  }
}

const brokenFile = ({ filename, line, message }: { filename: string; line: number; message: string }) => {
  return { rule_id: filename, equipment_id: '', error: `line ${line}: ${message}` }
}

function selectRules(rules: Rule[], { rule_ids, inactive }: EvaluateJob): Rule[] {
  if (!rule_ids) return rules.filter(({ id }) => !inactive.includes(id))
  const known = new Set(rules.map(({ id }) => id))
  const unknown = rule_ids.filter(id => !known.has(id))
  if (unknown.length) throw new Problem('unknown_rule', `There is no rule ${unknown.join(', ')}`)
  return rules.filter(({ id }) => rule_ids.includes(id))
}

/** @throws Problem invalid that points to each parameter which no rule of the run takes so */
function refuseParams(params: Record<string, Record<string, number>>, rules: Rule[]): void {
  const known = new Map(rules.map(rule => [rule.id, rule]))
  const errors = Object.entries(params).flatMap(([id, values]) => {
    const rule = known.get(id)
    const at = `/params/${escaped(id)}`
    return rule ? paramErrors(rule, values, at) : [{ pointer: at, message: `${id} is none of the rules that this run has` }]
  })
  if (errors.length) throw new Problem('invalid', errors[0]!.message, errors)
}

const paramErrors = ({ id, params }: Rule, values: Record<string, number>, at: string): DataError[] =>
  Object.entries(values).flatMap(([name, value]) => {
    const pointer = `${at}/${escaped(name)}`
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    if (!param) return [{ pointer, message: `${id} has no parameter ${name}` }]
    const { min, max, unit } = param
    return value >= min && value <= max ? [] : [{ pointer, message: `${name} takes ${min} to ${max} ${unit}, not ${value}` }]
  })

/** Part of a JSON pointer. @source RFC 6901 §3 */
const escaped = (part: string) => part.replaceAll('~', '~0').replaceAll('/', '~1')

/** The equipment asked for, with what feeds it and what it feeds: rules look at both. */
function selectEquipment({ equipment, equipment_ids }: EvaluateJob): Equipment[] {
  if (!equipment_ids) return equipment
  const asked = equipment.filter(({ equipment_id }) => equipment_ids.includes(equipment_id))
  const near = new Set(
    asked.flatMap(({ equipment_id, feeds = [], parent_id }) => [equipment_id, ...feeds, ...(parent_id ? [parent_id] : [])]),
  )
  return equipment.filter(
    ({ equipment_id, feeds = [], equipment_type, parent_id }) =>
      near.has(equipment_id) ||
      equipment_type === 'weather' ||
      feeds.some(fed => equipment_ids.includes(fed)) ||
      (parent_id !== undefined && equipment_ids.includes(parent_id)),
  )
}
