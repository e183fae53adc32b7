/**
 * The state of one equipment at the end of a building day, from which a later run resumes. It is plain data (numbers, texts,
 * `Float64Array`, records, maps) and derived from history: without it a run starts from the beginning and gives the same
 * results.
 */
import { type SavedBaseline, loadBaseline, saveBaseline } from './baseline.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { Episode, EpisodeState } from '#shared/core/rules/episodes/episodes.ts'
import type { Hindsight } from './hindsight.ts'
import type { ResumeInputs } from './resume-inputs.ts'
import { DAY_TIMES_WIDTH } from './evaluate-day.ts'
import { deepCopy, type NodeState } from './node-state.ts'
import type { BuildingDay } from './day-rows.ts'
import type { CarriedFinding } from './run-types.ts'

export type EquipmentState = {
  equipment_id: string
  /** The end of a building day, at which the next run resumes. */
  at: number
  /** Beginning of the span of the run that saved it. Episodes that ended earlier are not reported any more. */
  from: number
  /** Fingerprint of everything that it depends on besides the samples. */
  fingerprint: string
  /** By equipment and role, joined by a line feed: the usual interval between samples that was used, ms. */
  nominal: Record<string, number>
  inputs: ResumeInputs
  nodes: Record<string, NodeState>
  /** By rule and role, joined by a line feed. */
  rules: Record<string, RuleState>
  /** The evaluated days that overlap the span. */
  days: BuildingDay[]
  /** Findings that continue under their ids, and the beginning of the span of the run that received them. */
  carried: CarriedFinding[]
  carriedFrom: number
}

type RuleState = {
  tracked: EpisodeState
  /** Times by outcome as in `evaluate-day.ts`, one row a day. */
  covered: Float64Array
  baselines: SavedBaseline[]
  /** Pairs: index of a day in fault, index of the day on which the fault became known. */
  active: number[]
  /** Number of episodes so far at the end of each of the last days. */
  counts: number[]
  /** What later days have shown of the first ones. */
  hindsight?: Hindsight
  /** Why the rule is no longer run. */
  failed?: string
}

/** The state of a rule on an equipment between two days. */
export type RuleTracking = Pick<RuleState, 'tracked' | 'counts' | 'hindsight'> & {
  /** Times of the days of earlier runs, and of this one. */
  coveredBefore: Float64Array
  covered: number[]
  active: Map<number, number>
  failed?: string
}

/**
 * `index`: the first day that overlaps the span. `horizon`: the first day on which a baseline or a candidate may still
 * depend.
 */
export type StateHorizon = { from: number; index: number; horizon: number }

export function saveRule(kept: RuleTracking, { baselines }: RuleInstance, cut: StateHorizon): RuleState {
  const { tracked, counts, coveredBefore, covered, active, hindsight, failed } = kept
  const known = [...active].filter(([index]) => index >= cut.horizon)
  return {
    tracked: saveTracked(tracked, cut),
    covered: Float64Array.of(...rowsSince(coveredBefore, cut.index), ...rowsSince(covered, cut.index)),
    baselines: baselines.map(({ state }) => saveBaseline(state)),
    active: known.flat(),
    counts: [...counts],
    ...(hindsight && { hindsight }),
    ...(failed !== undefined && { failed }),
  }
}

function rowsSince<T extends Float64Array | number[]>(covered: T, index: number): T {
  let row = 0
  while (row < covered.length && covered[row]! < index) row += DAY_TIMES_WIDTH
  return covered.slice(row) as T
}

export function restoreRule(saved: RuleState, { baselines }: RuleInstance): RuleTracking {
  for (const [i, { state }] of baselines.entries()) loadBaseline(state, saved.baselines[i]!)
  const active = new Map<number, number>()
  for (let i = 0; i < saved.active.length; i += 2) active.set(saved.active[i]!, saved.active[i + 1]!)
  const { tracked, covered, counts, hindsight, failed } = saved
  return {
    tracked: deepCopy(tracked),
    coveredBefore: covered,
    covered: [],
    active,
    counts: [...counts],
    ...(hindsight && { hindsight }),
    ...(failed !== undefined && { failed }),
  }
}

/**
 * A finished episode can still explain others for a while. It covers half of a span only as long as that is at most twice
 * its own length, so it explains nothing that lasts beyond `to + length`. Three lengths also cover the episodes that the
 * explained ones explain.
 */
const EXPLAINS_LENGTHS = 3

function saveTracked({ done, dropped, current, near, ...held }: EpisodeState, cut: StateHorizon): EpisodeState {
  const kept = done.filter(({ from, to }) => to! + EXPLAINS_LENGTHS * (to! - from) > cut.from)
  return deepCopy({
    ...held,
    near: near.filter(({ day }) => day >= cut.index),
    done: kept.map(episode => since(episode, cut.index)),
    dropped: dropped + done.length - kept.length,
    // When a candidate is confirmed, all of its days become days in fault.
    ...(current && { current: since(current, held.confirmed ? cut.index : cut.horizon) }),
  })
}

const since = (episode: Episode, index: number): Episode => ({
  ...episode,
  days: new Map([...episode.days].filter(([day]) => day >= index)),
})
