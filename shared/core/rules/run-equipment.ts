/** All rules of one equipment, day by day: a rule's yesterday decides what its baseline may see today. */
import type { BaselineView } from '../finding.ts'
import { DAY } from '../time.ts'
import { beginDay, endDay } from './baseline.ts'
import type { Instance } from './compile.ts'
import { type Episode, episodeTracker, type OpenEpisode } from './episodes.ts'
import { BASELINE_DAYS_MAX, WINDOW_MAX_MS } from './functions.ts'
import { releaseNodes, runNodes } from './graph.ts'
import { type Coverage, judgeDay, noCoverage } from './judge.ts'
import type { Plant } from './plant.ts'
import { type Day, daysOf, type Rows, rowMaker } from './rows.ts'
import type { Steps } from './steps.ts'
import { type Activity, activityKey, spoilersOf } from './suppress.ts'
import type { RunInput, RunOutput } from './types.ts'

/** What lies longer before a run is not looked at: no baseline and no window reaches so far. */
const HISTORY_MAX_MS = BASELINE_DAYS_MAX * DAY + WINDOW_MAX_MS + DAY
/** Most episodes of one rule on one equipment: one that flaps more often lacks `clear`. */
const EPISODES_MAX = 5000

export type Verdict = {
  instance: Instance
  episodes: Episode[]
  coverage: Coverage
  days: Day[]
  baselines: Map<number, BaselineView[]>
}

type Runner = {
  instance: Instance
  verdict: Verdict
  tracker: ReturnType<typeof episodeTracker>
  /** Whose activity keeps a day out of this rule's baselines, its own first. */
  spoilers: { key: string; rule_id: string }[]
  failed: boolean
}

export function runEquipment(
  instances: Instance[],
  input: RunInput,
  plant: Plant,
  activity: Activity,
  failed: RunOutput['failed'],
): Verdict[] {
  const runnable = instances.filter(({ missing }) => missing.length === 0)
  const sources = new Set(runnable.flatMap(({ order }) => order.flatMap(({ steps }) => steps ?? [])))
  const days = daysOf(Math.max(Math.min(input.from, firstSample(sources)), input.from - HISTORY_MAX_MS), input.to, input.timezone)
  const runners = instances.map(instance => runnerOf(instance, days, input, plant))
  const layOut = rowMaker([...sources])
  for (const day of runnable.length > 0 ? days : []) {
    const rows = layOut(day)
    for (const runner of runners) {
      if (runner.failed || runner.instance.missing.length > 0) continue
      try {
        runDay(runner, rows, input, activity)
      } catch (error) {
        const { rule, equipment } = runner.instance
        runner.failed = true
        failed.push({
          rule_id: rule.id,
          equipment_id: equipment.equipment_id,
          error: error instanceof Error ? error.message : String(error),
        })
      }
    }
  }
  for (const { order } of instances) releaseNodes(order)
  return runners.filter(runner => !runner.failed).map(({ verdict, tracker }) => ({ ...verdict, episodes: tracker.episodes() }))
}

function firstSample(sources: Set<Steps>): number {
  let first = Infinity
  for (const { ts } of sources) first = Math.min(first, ts[0] ?? Infinity)
  return first
}

function runnerOf(instance: Instance, days: Day[], input: RunInput, plant: Plant): Runner {
  const { persistenceMs, dailyMinimumMs, clearMs, causes } = instance
  const tracker = episodeTracker(
    { persistenceMs, dailyMinimumMs, clearMs, causes: causes.length },
    openBefore(instance, days[0]?.from ?? input.from, input),
  )
  const verdict = { instance, episodes: [], coverage: noCoverage(), days, baselines: new Map() }
  return {
    instance,
    tracker,
    failed: false,
    verdict,
    spoilers: instance.baselines.length > 0 ? spoilersOf(instance, input.rules, plant) : [],
  }
}

/** The episode that the last run left open, when this run's data cannot show how it began. */
function openBefore({ rule, equipment, role }: Instance, start: number, { carried = [] }: RunInput): OpenEpisode | undefined {
  const open = carried.find(
    item => item.rule_id === rule.id && item.equipment_id === equipment.equipment_id && item.role === role && item.from < start,
  )
  return open && { from: open.from, confirmed_at: open.confirmed_at, trueMs: open.duration_secs * 1000, upTo: open.up_to }
}

function runDay({ instance, verdict, tracker, spoilers }: Runner, rows: Rows, span: RunInput, activity: Activity): void {
  const { baselines, rule, equipment, role } = instance
  if (baselines.length > 0) {
    for (const { state } of baselines) {
      beginDay(state, rows.day, day => spoilers.find(({ key }) => activity.get(key)?.has(day.date))?.rule_id)
    }
    verdict.baselines.set(
      rows.day.index,
      baselines.map(({ state }) => state.view),
    )
  }
  runNodes(instance.order, rows)
  judgeDay(instance, rows, verdict.coverage, span, tracker.feed)
  for (const { state, of, when } of baselines) endDay(state, rows, of, when)
  const key = activityKey(equipment.equipment_id, rule.id, role)
  const count = tracker.count()
  if (count > EPISODES_MAX) throw new RangeError(`${count} episodes: the rule needs clear or persistence`)
  for (const episode of tracker.on(rows.day.index)) {
    const dates = activity.get(key) ?? new Set()
    activity.set(key, dates)
    for (const index of episode.days.keys()) dates.add(verdict.days[index]!.date)
  }
}
