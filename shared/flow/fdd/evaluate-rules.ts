import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import type { EngineStates, HistoryReader, SampleLogs } from '#shared/core/ports.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { withExplainers } from '#shared/core/rules/episodes/suppress.ts'
import type { TemplateCache } from '#shared/core/rules/compile/compile-equipment.ts'
import { createRun } from '#shared/core/rules/evaluate/run-rules.ts'
import { createTopology } from '#shared/core/rules/compile/topology.ts'
import type { RunProgress } from '#shared/core/runs/run-state.ts'
import type { ParamSetting } from '#shared/core/rules/check/param-settings.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, BaselineReset, CarriedFinding, RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import { dayStart } from '#shared/core/time-zone.ts'
import { pastOf } from './build-frames.ts'
import { evaluateEquipment, type ResumeSource } from './evaluate-equipment.ts'
import { createFrameReader } from './frame-reader.ts'

/** The input of a run, as plain data that can be sent to another process. */
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
  /** Settings for the building's rules; `params` takes precedence. */
  settings: ParamSetting[]
  resets: BaselineReset[]
  carried: CarriedFinding[]
  /** Visits to priority arrays by point. */
  visits?: Record<string, ArraySnapshot[]>
  /** [16], P1 first: whether the site counts a level as an override. */
  overrideLevels?: boolean[]
  /**
   * Set for a run of all rules over all equipment, from which the next one can resume. `changedFrom`: history from this
   * instant on may have changed since the last such run, ms; undefined when there was none.
   */
  remember?: { changedFrom: number | undefined }
}

export type Evaluation = Pick<RunOutput, 'findings' | 'results' | 'days' | 'failed' | 'baselines'> & {
  /** Rules that ran. */
  rule_ids: string[]
  timings: { step: string; ms: number }[]
  /** Equipment that resumed from the state of an earlier run. */
  resumed: string[]
  /** For the log: equipment that could not resume, and why. */
  notes: string[]
}

type LoadedRules = { rules: Rule[]; errors: { filename: string; line: number; message: string }[] }

export type EvaluatePorts = {
  historian: Pick<HistoryReader, 'read' | 'firsts'>
  /** Loads the current rules. */
  loadRules: () => LoadedRules | Promise<LoadedRules>
  /** States of earlier runs; without them every run evaluates all of its history. */
  saved?: { states: EngineStates; sampleLogs: SampleLogs }
  /** Templates that earlier runs of this process compiled. */
  templates?: TemplateCache
  /** How long one rule may take on one equipment, ms; a rule that takes longer fails there. */
  ruleMs?: number
  /** A stopwatch, ms. */
  elapsed: () => number
  /** Called at the beginning of each step and after each equipment. */
  progress?: (progress: RunProgress) => void
  /** Ends the run between two pieces of work. */
  signal?: AbortSignal
  /** Yields to the event loop, so that messages such as an abort are handled. */
  yieldToEvents?: () => Promise<void>
}

/**
 * Number of building days at whose end the engine's state is stored. Late data usually belongs to the last days; for older
 * data the whole lookback is evaluated again.
 */
const ENDS_KEPT = 4

/** A rule file with errors, and a rule that throws on some equipment, fail alone and are listed. */
export async function evaluateRules(job: EvaluateJob, ports: EvaluatePorts): Promise<Evaluation> {
  const { historian, loadRules, elapsed, progress } = ports
  const watch = stopwatch(elapsed)
  progress?.({ step: 'rules', equipment_done: 0, equipment_total: 0, rules: 0 })
  watch('rules')
  await pause(ports)
  const loaded = await loadRules()
  const asked = selectRules(loaded.rules, job)
  refuseParams(job.params ?? {}, asked)
  const rules = job.rule_ids ? withExplainers(asked, loaded.rules.filter(isActive(job))) : asked
  const equipment = selectEquipment(job)
  const { building, points, from, to, params, settings, resets, carried, visits = {} } = job
  const firsts = await historian.firsts(building.building_id)
  const reader = createFrameReader({ ...building, equipment, points, to, visits, firsts }, historian)
  const ends = lastEnds(to, building.timezone)
  const memory = memoryOf(job, ports.saved)
  const limit = ruleClock(elapsed, ports.ruleMs)
  const set = { settings, resets, carried, ...(params && { params }), ...(memory && { saveStatesAt: ends }) }
  const only = asked.map(({ id }) => id)
  const plan: RunPlan = {
    ...building,
    from,
    to,
    rules,
    reportOnly: only,
    equipment: reader.outlines,
    ...set,
    isOvertime: limit.overtime,
    ...(job.overrideLevels && { overrideLevels: job.overrideLevels }),
  }
  const run = createRun(plan, ports.templates)
  const outcome = await evaluateEquipment(run, reader, from - pastOf(rules), memory, {
    pause: () => pause(ports),
    begin: (step, equipment_done) => {
      watch(step)
      limit.begin()
      progress?.({ step, equipment_done, equipment_total: equipment.length, rules: rules.length })
    },
    isUnsure: equipment_id => limit.over.has(equipment_id),
  })
  const output = run.finish()
  memory?.sampleLogs.dropOthers(memory.building_id, run.order)
  memory?.states.drop(
    memory.building_id,
    memory.states.ends(memory.building_id).filter(at => !ends.includes(at)),
  )
  progress?.({ step: 'evaluation', equipment_done: equipment.length, equipment_total: equipment.length, rules: rules.length })
  const wanted = (one: { equipment_id: string }) => !job.equipment_ids || job.equipment_ids.includes(one.equipment_id)
  const broken = job.rule_ids ? [] : loaded.errors.map(brokenFile)
  return {
    findings: output.findings.filter(wanted),
    results: output.results.filter(wanted),
    days: output.days.filter(wanted),
    failed: [...output.failed.filter(wanted), ...broken],
    baselines: output.baselines.filter(wanted),
    rule_ids: only,
    timings: watch(undefined),
    ...outcome,
  }
}

async function pause({ yieldToEvents, signal }: EvaluatePorts): Promise<void> {
  await yieldToEvents?.()
  signal?.throwIfAborted()
}

/** @returns a function that ends one step, begins the next, and returns the duration of each step */
function stopwatch(elapsed: () => number): (step: string | undefined) => Evaluation['timings'] {
  const spent = new Map<string, number>()
  let current: { step: string; since: number } | undefined
  return step => {
    const now = elapsed()
    if (current) spent.set(current.step, (spent.get(current.step) ?? 0) + now - current.since)
    current = step === undefined ? undefined : { step, since: now }
    return [...spent].map(([name, ms]) => ({ step: name, ms: Math.round(ms) }))
  }
}

/** Measures for each rule on each equipment whether it has taken longer than allowed. */
function ruleClock(elapsed: () => number, ruleMs = Infinity) {
  const spent = new Map<string, number>()
  const over = new Set<string>()
  let since = elapsed()
  return {
    over,
    begin: () => void (since = elapsed()),
    overtime(rule_id: string, equipment_id: string): boolean {
      const key = `${rule_id}\n${equipment_id}`
      const now = elapsed()
      const ms = (spent.get(key) ?? 0) + now - since
      spent.set(key, ms)
      since = now
      if (ms > ruleMs) over.add(equipment_id)
      return ms > ruleMs
    },
  }
}

/** The ends of the last complete building days, the newest first. */
function lastEnds(to: number, timezone: string): number[] {
  const ends = [dayStart(to, timezone)]
  while (ends.length < ENDS_KEPT) ends.push(dayStart(ends.at(-1)! - 1, timezone))
  return ends
}

/** The saved states that agree with history; drops the others. */
function memoryOf({ building, remember, to }: EvaluateJob, saved: EvaluatePorts['saved']): ResumeSource | undefined {
  if (!remember || !saved) return undefined
  const { states, sampleLogs } = saved
  const { building_id } = building
  const { changedFrom = -Infinity } = remember
  const kept = states.ends(building_id)
  states.drop(
    building_id,
    kept.filter(at => at > changedFrom),
  )
  return {
    building_id,
    states,
    sampleLogs,
    changedFrom: Math.min(changedFrom, to),
    ends: kept.filter(at => at <= Math.min(changedFrom, to)).toReversed(),
  }
}

const brokenFile = ({ filename, line, message }: { filename: string; line: number; message: string }) => {
  return { rule_id: filename, equipment_id: '', error: `line ${line}: ${message}` }
}

const isActive =
  ({ inactive }: Pick<EvaluateJob, 'inactive'>) =>
  ({ id }: Rule): boolean =>
    !inactive.includes(id)

function selectRules(rules: Rule[], { rule_ids, inactive }: EvaluateJob): Rule[] {
  if (!rule_ids) return rules.filter(isActive({ inactive }))
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

/**
 * The requested equipment with all that affects its results: the equipment that feeds it over any number of steps, the
 * weather stations, and the equipment that any of these feeds.
 */
function selectEquipment({ equipment, equipment_ids }: EvaluateJob): Equipment[] {
  if (!equipment_ids) return equipment
  const site = createTopology(equipment.map(({ feeds = [], ...each }) => ({ ...each, feeds, roles: [], visited: [] })))
  const above = new Set(equipment_ids.flatMap(id => [id, ...site.upstream(id)]))
  const near = new Set([...above].flatMap(id => [id, ...site.downstream(id)]))
  return equipment.filter(({ equipment_id, equipment_type }) => near.has(equipment_id) || equipment_type === 'weather')
}
