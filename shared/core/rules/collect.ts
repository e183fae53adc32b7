/** From verdicts to what a run gives back: findings, results, days with their causes, baselines. */
import type { CauseWeight, Finding, RuleResult } from '../finding.ts'
import type { Instance } from './compile.ts'
import type { Episode } from './episodes.ts'
import { wasteOf } from '../impact/meter.ts'
import { causesOf, evidenceOf, ranked } from './evidence.ts'
import { findingId } from './identity.ts'
import { commonest } from './judge.ts'
import type { Plant } from './plant.ts'
import type { Verdict } from './run-equipment.ts'
import { relabel } from './relabel.ts'
import { type Judged, suppress } from './suppress.ts'
import type { EquipmentDay, RuleBaseline, RunInput, RunOutput } from './types.ts'

type Made = Judged & { episode: Episode; verdict: Verdict }

export function collect(verdicts: Verdict[], input: RunInput, plant: Plant): Omit<RunOutput, 'failed'> {
  const made = verdicts.flatMap(verdict =>
    verdict.episodes
      .filter(({ from, to }) => from < input.to && (to === null || to > input.from))
      .map(episode => adopt(episode, verdict.instance, input))
      .map(episode => ({ episode, verdict, instance: verdict.instance, finding: findingOf(episode, verdict, input) })),
  )
  suppress(made, plant, input.to)
  relabel(made, plant, input.to)
  return {
    findings: made.map(({ finding }) => finding).toSorted(inOrder),
    results: resultsOf(verdicts, made, input),
    days: daysOf(made, input),
    baselines: verdicts.flatMap(baselinesOf),
  }
}

const inOrder = (a: Finding, b: Finding): number =>
  a.from - b.from ||
  (`${a.equipment_id}\n${a.rule_id}\n${a.finding_id}` < `${b.equipment_id}\n${b.rule_id}\n${b.finding_id}` ? -1 : 1)

/** An episode from before `from` keeps the start under which the last run named it, should this run's history show another. */
function adopt(episode: Episode, { rule, equipment, role }: Instance, { carried = [], from }: RunInput): Episode {
  const known = carried.find(
    item =>
      item.rule_id === rule.id &&
      item.equipment_id === equipment.equipment_id &&
      item.role === role &&
      item.from < (episode.to ?? Infinity),
  )
  return known && episode.from < from ? { ...episode, from: known.from, confirmed_at: known.confirmed_at } : episode
}

function findingOf(episode: Episode, { instance, baselines, days }: Verdict, { building_id }: RunInput): Finding {
  const { rule, equipment, role, meter } = instance
  const { from, to, confirmed_at, tally, worst } = episode
  const day = days.find(item => worst.at >= item.from && worst.at < item.to)
  return {
    finding_id: findingId(building_id, rule.id, equipment.equipment_id, from, role),
    building_id,
    equipment_id: equipment.equipment_id,
    rule_id: rule.id,
    ...(role !== undefined && { role }),
    kind: rule.kind,
    title: rule.title,
    severity: rule.severity,
    from,
    to,
    confirmed_at,
    duration_secs: Math.round(tally.trueMs / 1000),
    state: to === null ? 'active' : 'cleared',
    cause: causesOf(instance, tally),
    evidence: evidenceOf(instance, episode, baselines.get(day?.index ?? -1) ?? []),
    ...(meter && { waste: wasteOf(meter, tally.spent) }),
  }
}

// ---- results: one for each rule and equipment, over all roles of a rule over roles

function resultsOf(verdicts: Verdict[], made: Made[], input: RunInput): RuleResult[] {
  const groups = Map.groupBy(verdicts, ({ instance: { rule, equipment } }) => `${equipment.equipment_id}\n${rule.id}`)
  const told = Map.groupBy(made, ({ verdict }) => verdict)
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([, group]) => {
    const episodes = group.flatMap(verdict => told.get(verdict) ?? []).map(({ episode }) => episode)
    return resultOf(group, episodes, input)
  })
}

function resultOf(group: Verdict[], episodes: Episode[], input: RunInput): RuleResult {
  const { rule, equipment } = group[0]!.instance
  const coverage = group.reduce(
    (sum, verdict) => ({ evaluated: sum.evaluated + verdict.coverage.evaluatedMs, missed: sum.missed + missedMs(verdict) }),
    { evaluated: 0, missed: 0 },
  )
  const gated = coverage.evaluated + coverage.missed
  const share = gated > 0 ? coverage.evaluated / gated : 0
  const base = {
    rule_id: rule.id,
    equipment_id: equipment.equipment_id,
    coverage: share,
    fault_secs: Math.round(episodes.reduce((sum, episode) => sum + faultMs(episode, group[0]!, input), 0) / 1000),
    episodes: episodes.length,
  }
  const missing = [...new Set(group.flatMap(({ instance }) => instance.missing))]
  if (missing.length > 0) return { ...base, status: 'not_evaluated', reason: 'missing_role', missing_roles: missing }
  if (episodes.length > 0) return { ...base, status: 'fault' }
  if (gated > 0 && share >= rule.program.min_coverage - 1e-9) return { ...base, status: 'pass' }
  const reasons = group.map(verdict => commonest(verdict.coverage)).filter(reason => reason !== undefined)
  return { ...base, status: 'not_evaluated', reason: reasons.find(reason => reason !== 'gated') ?? reasons[0] ?? 'no_data' }
}

const missedMs = ({ coverage: { missedMs: missed } }: Verdict): number =>
  Object.entries(missed).reduce((sum, [reason, ms]) => (reason === 'gated' || reason === 'settling' ? sum : sum + ms), 0)

/** Time in fault on the days of the run. */
function faultMs({ days }: Episode, verdict: Verdict, { from, to }: RunInput): number {
  let sum = 0
  for (const [index, { trueMs }] of days) {
    const day = verdict.days[index]!
    if (day.to > from && day.from < to) sum += Math.min(trueMs, day.to - Math.max(day.from, from))
  }
  return sum
}

// ---- days

function daysOf(made: Made[], { from }: RunInput): EquipmentDay[] {
  const days = new Map<string, { equipment_id: string; date: string; rules: Set<string>; sums: Map<string, number> }>()
  for (const { episode, verdict, instance, finding } of made) {
    if (finding.suppressed_by !== undefined || instance.causes.length === 0) continue
    for (const [index, tally] of episode.days) {
      const { date, to } = verdict.days[index]!
      // The tail of yesterday's episode does not make today a day in fault.
      if (to <= from || tally.trueMs < instance.dailyMinimumMs) continue
      const { equipment_id } = instance.equipment
      const key = `${equipment_id}\n${date}`
      const day = days.get(key) ?? { equipment_id, date, rules: new Set(), sums: new Map() }
      days.set(key, day)
      if (day.rules.has(instance.rule.id)) continue
      day.rules.add(instance.rule.id)
      addCauses(day.sums, instance, tally)
      if (finding.relabelled_by !== undefined) addWeight(day.sums, finding.cause[0]!)
    }
  }
  return [...days.values()]
    .map(({ equipment_id, date, rules, sums }) => ({ equipment_id, date, rule_ids: [...rules].toSorted(), cause: ranked(sums) }))
    .toSorted((a, b) => (`${a.date}\n${a.equipment_id}` < `${b.date}\n${b.equipment_id}` ? -1 : 1))
}

/** Evidence against a component counts too: that is why its weights may be negative. */
function addCauses(
  sums: Map<string, number>,
  { causes }: Instance,
  { trueMs, causeMs }: { trueMs: number; causeMs: Float64Array },
): void {
  for (const [index, { component, weight, when }] of causes.entries()) {
    if (!when || causeMs[index]! * 2 >= trueMs) addWeight(sums, { component, weight })
  }
}

const addWeight = (sums: Map<string, number>, { component, weight }: CauseWeight): void =>
  void sums.set(component, (sums.get(component) ?? 0) + weight)

function baselinesOf({ instance: { rule, equipment, role }, baselines }: Verdict): RuleBaseline[] {
  const last = [...baselines.values()].at(-1) ?? []
  return last.map(view => ({
    rule_id: rule.id,
    equipment_id: equipment.equipment_id,
    ...(role !== undefined && { role }),
    ...view,
  }))
}
