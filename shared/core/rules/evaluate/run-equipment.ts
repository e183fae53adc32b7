/**
 * Runs all rules of one equipment day by day, because earlier days of one rule decide which days the baselines of others may
 * use.
 */
import { errorText } from '#shared/core/error-text.ts'
import { stretchesOf, stretchesWithin } from '#shared/core/findings/fault-time.ts'
import type { BaselineView } from '#shared/core/findings/finding.ts'
import { DAY } from '#shared/core/time.ts'
import { nextDay } from '#shared/core/time-zone.ts'
import { beginBaselineDay, endBaselineDay } from './baseline.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { CompiledEquipment } from '#shared/core/rules/compile/compile-equipment.ts'
import { type Episode, EpisodeTracker, type OpenEpisode, initialEpisodeState } from '#shared/core/rules/episodes/episodes.ts'
import { captureMoment } from '#shared/core/rules/report/evidence.ts'
import { wasteSumsOf } from '#shared/core/impact/waste-meter.ts'
import { BASELINE_DAYS_MAX, WINDOW_MAX_MS } from '#shared/core/rules/language/functions.ts'
import { versionOf } from '#shared/core/findings/finding-id.ts'
import { inputsBefore, nominalIntervals } from './resume-inputs.ts'
import { appendDayTimes, evaluateDay, noTimes } from './evaluate-day.ts'
import type { BuildingSignals } from '#shared/core/rules/compile/building-signals.ts'
import { type BuildingDay, buildingDays, type DayRows, createRowLayout } from './day-rows.ts'
import { type StateHorizon, type EquipmentState, type RuleTracking, restoreRule, saveRule } from './equipment-state.ts'
import type { StepSignal } from '#shared/core/rules/compile/step-signal.ts'
import { type NearMissDay, recordStill } from '#shared/core/rules/episodes/unconfirmed.ts'
import { type Hindsight, judgeBeginning } from './hindsight.ts'
import type { Activity, Exclusion } from '#shared/core/rules/episodes/activity.ts'
import { accuses } from '#shared/core/rules/episodes/suppress.ts'
import type { CarriedFinding, RunPlan } from './run-types.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'

/** Longest history before a run's span that is evaluated: no baseline and no window needs more. */
const HISTORY_MAX_MS = BASELINE_DAYS_MAX * DAY + WINDOW_MAX_MS + DAY
/** Most episodes of one rule on one equipment within `EPISODE_DAYS`; a rule with more needs `clear`. */
const EPISODES_MAX = 5000
const EPISODE_DAYS = 31

const NOTHING_COVERED = new Float64Array(0)

/** The input for running the rules of one equipment. */
type EquipmentRun = {
  equipment_id: string
  compiled: CompiledEquipment
  signals: BuildingSignals
  data: EquipmentData[]
  resume: EquipmentState | undefined
  fingerprint: (at: number) => string
  /** The equipment's first sample ever, ms; time before it is neither evaluated nor missed. */
  since: number
}

/** The outcome of one rule on the equipment. */
export type RuleOutcome = {
  instance: RuleInstance
  episodes: Episode[]
  /** Times by outcome as in `evaluate-day.ts`, one row a day. */
  covered: ArrayLike<number>[]
  near: readonly NearMissDay[]
  hindsight?: Hindsight
  /** By index, at least the days that overlap the span. */
  days: ReadonlyMap<number, BuildingDay>
  /** The baselines of the last day; empty when no day was evaluated. */
  baselines: BaselineView[]
}

type EquipmentOutcome = { rules: RuleOutcome[]; failed: { rule_id: string; error: string }[]; states: EquipmentState[] }

type RuleRunner = RuleTracking & {
  instance: RuleInstance
  key: string
  tracker: EpisodeTracker
  /** By index of the day. */
  views: Map<number, BaselineView[]>
  /** What excludes a day from this rule's baselines, the rule itself first. */
  exclusions: Exclusion[]
}

/** @param activity of the equipment evaluated so far; that of this one is added */
export function runEquipment(work: EquipmentRun, plan: RunPlan, activity: Activity): EquipmentOutcome {
  const { compiled, resume } = work
  const { instances, graph } = compiled
  const runnable = instances.filter(({ missing }) => missing.length === 0)
  const sources = new Set(compiled.leaves.map(({ signal: steps }) => steps))
  const start = Math.max(Math.min(plan.from, firstSample(sources)), plan.from - HISTORY_MAX_MS)
  const fresh = buildingDays(resume?.at ?? start, plan.to, plan.timezone)
  const days = new Map([...(resume?.days ?? []), ...fresh].map(day => [day.index, day]))
  const runners = instances.map(instance => createRunner(work, instance, fresh[0]?.from ?? plan.from, plan, activity))
  for (const runner of runners) {
    if (runner.instance.baselines.length > 0) runner.exclusions = activity.exclusions(runner.instance, work.signals)
  }
  const layOut = createRowLayout([...sources])
  graph.begin(resume?.nodes)
  const states: EquipmentState[] = []
  for (const day of fresh) {
    if (runnable.length > 0) runRulesForDay(runners, layOut(day), plan, work.since)
    if (nextDay(day.from, plan.timezone) !== day.to) continue
    lookBack(runners, day, work.since)
    if (plan.saveStatesAt?.includes(day.to)) states.push(stateAt(day.to, work, runners, days, plan))
  }
  const open = (plan.carried ?? []).filter(one => one.equipment_id === work.equipment_id)
  const reportedFrom = Math.min(plan.from, ...open.map(({ from }) => from))
  for (const runner of runners) keepEvidence(runner, runner.tracker.episodes(), days, reportedFrom)
  return {
    rules: runners.filter(({ failed }) => failed === undefined).map(runner => outcomeOf(runner, days)),
    failed: runners.flatMap(({ failed: error, instance }) => (error === undefined ? [] : [{ rule_id: instance.rule.id, error }])),
    states,
  }
}

function firstSample(sources: Set<StepSignal>): number {
  let first = Infinity
  for (const { ts } of sources) first = Math.min(first, ts[0] ?? Infinity)
  return first
}

// ---- one rule

function createRunner(
  { resume }: EquipmentRun,
  instance: RuleInstance,
  start: number,
  plan: RunPlan,
  activity: Activity,
): RuleRunner {
  const { rule, role, persistenceMs, dailyMinimumMs, clearMs, causes } = instance
  const limits = { persistenceMs, dailyMinimumMs, clearMs, causes: causes.length }
  const key = `${rule.id}\n${role ?? ''}`
  const saved = resume?.rules[key]
  const tracking: RuleTracking = saved
    ? restoreRule(saved, instance)
    : {
        tracked: initialEpisodeState(limits, openBefore(instance, start, plan.carried)),
        coveredBefore: NOTHING_COVERED,
        covered: [],
        active: new Map(),
        counts: [],
      }
  activity.add(instance, tracking.active)
  return {
    ...tracking,
    instance,
    key,
    tracker: new EpisodeTracker(limits, tracking.tracked),
    views: new Map(),
    exclusions: [],
  }
}

/**
 * The episode that the last run left open, if this run's data does not reach back to its start; a rule that cannot run has
 * none.
 */
function openBefore(instance: RuleInstance, start: number, carried: CarriedFinding[] = []): OpenEpisode | undefined {
  const { rule, equipment, role, meter, missing } = instance
  const open = carried.find(
    item => item.rule_id === rule.id && item.equipment_id === equipment.equipment_id && item.role === role && item.from < start,
  )
  if (!open || missing.length > 0) return undefined
  if (open.version !== undefined && open.version !== versionOf(instance)) return undefined
  const { from, confirmed_at, duration_secs, waste, up_to } = open
  const stretches = stretchesWithin(stretchesOf({ ...open, to: null }, up_to), from, up_to)
  return { from, confirmed_at, trueMs: duration_secs * 1000, stretches, spent: wasteSumsOf(meter, waste), upTo: up_to }
}

function runRulesForDay(runners: RuleRunner[], rows: DayRows, plan: RunPlan, since: number): void {
  for (const runner of runners) {
    if (runner.failed !== undefined || runner.instance.missing.length > 0) continue
    const { rule, equipment } = runner.instance
    try {
      runDay(runner, rows, plan, since)
      if (plan.isOvertime?.(rule.id, equipment.equipment_id)) runner.failed = 'takes too long: left out on this equipment'
    } catch (error) {
      runner.failed = errorText(error)
    }
    for (const node of runner.instance.spent) runner.instance.graph.releaseColumn(node)
  }
}

function runDay(runner: RuleRunner, rows: DayRows, plan: RunPlan, since: number): void {
  const { instance, tracker, exclusions, views, covered, active } = runner
  const { baselines } = instance
  const today = rows.day.index
  for (const { state } of baselines) beginBaselineDay(state, rows.day, ({ index }) => excludedBy(exclusions, index, today))
  if (baselines.length > 0) {
    views.set(
      today,
      baselines.map(({ state }) => state.view),
    )
  }
  instance.graph.run(instance.order, rows)
  const coverage = noTimes()
  evaluateDay(instance, rows, coverage, { from: Math.max(plan.from, since), to: plan.to }, (interval, detail) =>
    tracker.feed(interval, detail),
  )
  if (instance.stillness && !instance.isTooCoarse) recordStill(runner.tracked.near, instance.stillness, rows)
  if (rows.day.to > plan.from) appendDayTimes(covered, today, coverage)
  for (const { state, of, on, when } of baselines) endBaselineDay(state, rows, of, on, when)
  limitEpisodes(runner)
  for (const episode of tracker.on(today)) {
    for (const index of episode.days.keys())
      if (!active.has(index) && !isExplained(runner.hindsight, index)) active.set(index, today)
  }
}

/** On days that are normal in hindsight a rule was active only because it compared with first days that were not. */
const isExplained = (hindsight: Hindsight | undefined, index: number): boolean =>
  hindsight !== undefined && index >= hindsight.normal_day && index <= hindsight.found_day

/** A past day is excluded if it was known, when the current day began, that the rule was active on it. */
const excludedBy = (exclusions: Exclusion[], index: number, today: number): string | undefined =>
  exclusions.find(({ days }) => (days.get(index) ?? today) < today)?.rule_id

/**
 * Judges the beginning of the equipment at the end of a day. What a rule has already told of these days is not told again,
 * neither by itself nor by another rule that accuses the same component. From then on the rule compares with the later days: those
 * on which it was active because it still compared with the first ones count again.
 */
function lookBack(runners: RuleRunner[], today: BuildingDay, since: number): void {
  for (const runner of runners) {
    const { instance, active, exclusions, hindsight } = runner
    if (!instance.hindsight || hindsight || runner.failed !== undefined || instance.missing.length > 0) continue
    const others = exclusions.filter(({ days }) => days !== active)
    const found = judgeBeginning(
      instance.hindsight,
      since,
      today,
      ({ index }) => excludedBy(others, index, today.index + 1) !== undefined,
      ({ index }) => active.has(index),
    )
    if (!found || isTold(found, runners)) continue
    runner.hindsight = found
    for (const index of active.keys()) if (index >= found.normal_day) active.delete(index)
    for (const index of found.days) active.set(index, today.index)
  }
}

/** Share of the first days on which a rule that accuses the same component was active, from which on they need no other finding. */
const TOLD_MIN = 0.5

function isTold({ days, cause }: Hindsight, runners: RuleRunner[]): boolean {
  const component = cause[0]!.component
  return runners.some(
    ({ instance: { rule }, active }) =>
      accuses(rule, component) && days.filter(index => active.has(index)).length >= TOLD_MIN * days.length,
  )
}

function limitEpisodes({ counts, tracker }: RuleRunner): void {
  const before = counts.length === EPISODE_DAYS ? counts.shift()! : 0
  counts.push(tracker.count())
  const count = tracker.count() - before
  if (count > EPISODES_MAX) throw new RangeError(`${count} episodes in ${EPISODE_DAYS} days: the rule needs clear or persistence`)
}

// ---- what is left of it

/** Stores the evidence of the episodes that will be reported, while their samples are loaded. */
function keepEvidence({ instance, views }: RuleRunner, episodes: Episode[], days: Map<number, BuildingDay>, from: number): void {
  for (const episode of episodes) {
    const { at } = episode.worst
    const viewsThen = () => views.get([...days.values()].find(day => at >= day.from && at < day.to)?.index ?? -1) ?? []
    if (episode.to === null || episode.to > from) captureMoment(instance, episode, viewsThen)
  }
}

function outcomeOf(
  { instance, tracker, tracked, coveredBefore, covered, hindsight }: RuleRunner,
  days: Map<number, BuildingDay>,
): RuleOutcome {
  const isEvaluated = days.size > 0 && instance.missing.length === 0
  const baselines = isEvaluated ? instance.baselines.map(({ state }) => state.view) : []
  const outcome = {
    instance,
    episodes: tracker.episodes(),
    near: tracked.near,
    covered: [coveredBefore, covered],
    days,
    baselines,
  }
  return { ...outcome, ...(hindsight && { hindsight }) }
}

function stateAt(
  at: number,
  work: EquipmentRun,
  runners: RuleRunner[],
  days: Map<number, BuildingDay>,
  plan: RunPlan,
): EquipmentState {
  const { equipment_id, compiled, signals: plant, data, resume, fingerprint } = work
  for (const runner of runners) {
    const { done, current } = runner.tracked
    keepEvidence(runner, current ? [...done, current] : done, days, plan.from)
  }
  const touched = [...days.values()].filter(day => day.to > plan.from && day.to <= at)
  const horizon = Math.floor((plan.from - HISTORY_MAX_MS) / DAY) - 1
  const cut: StateHorizon = { from: plan.from, index: touched[0]?.index ?? Infinity, horizon }
  const carried = resume?.carried ?? plan.carried?.filter(one => one.equipment_id === equipment_id) ?? []
  return {
    equipment_id,
    at,
    from: plan.from,
    fingerprint: fingerprint(at),
    nominal: nominalIntervals(plant),
    inputs: inputsBefore(at, plant, data),
    nodes: compiled.graph.save(),
    rules: Object.fromEntries(runners.map(runner => [runner.key, saveRule(runner, runner.instance, cut)])),
    days: touched,
    carried,
    carriedFrom: resume?.carriedFrom ?? plan.from,
  }
}
