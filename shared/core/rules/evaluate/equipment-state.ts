/**
 * What a run leaves of one equipment at the end of a building day, so that a later run goes on from there. It is plain data
 * (numbers, texts, `Float64Array`, records, maps), and derived: without it a run begins anew and says the same.
 */
import { type SavedBaseline, loadBaseline, saveBaseline } from './baseline.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { Episode, EpisodeState } from '#shared/core/rules/episodes/episodes.ts'
import type { ResumeInputs } from './resume-inputs.ts'
import { DAY_TIMES_WIDTH } from './evaluate-day.ts'
import { deepCopy, type NodeState } from './node-state.ts'
import type { BuildingDay } from './day-rows.ts'
import type { CarriedFinding } from './run-types.ts'

export type EquipmentState = {
  equipment_id: string
  /** The instant after which it goes on: the end of a building day. */
  at: number
  /** Beginning of the span of the run that left it: what ended before is told no more. */
  from: number
  /** Of all on which it hangs beside the samples. */
  fingerprint: string
  /** By equipment and role, joined by a line feed: the usual distance between samples that was reckoned with, ms. */
  nominal: Record<string, number>
  inputs: ResumeInputs
  nodes: Record<string, NodeState>
  /** By rule and role, joined by a line feed. */
  rules: Record<string, RuleState>
  /** The days that have been looked at and that the span touches. */
  days: BuildingDay[]
  /** Findings under whose ids it goes on, and the beginning of the span of the run that was told of them. */
  carried: CarriedFinding[]
  carriedFrom: number
}

export type RuleState = {
  tracked: EpisodeState
  /** As in `judge.ts`, one row a day. */
  covered: Float64Array
  baselines: SavedBaseline[]
  /** Pairs: index of a day in fault, index of the day on which that became known. */
  active: number[]
  /** How many episodes there had been at the end of each of the last days. */
  counts: number[]
  /** Why it is not run any more. */
  failed?: string
}

/** What a rule on an equipment is between two days. */
export type RuleTracking = Pick<RuleState, 'tracked' | 'counts'> & {
  /** Days of earlier runs, and of this one. */
  coveredBefore: Float64Array
  covered: number[]
  active: Map<number, number>
  failed?: string
}

/** `index`: the first day that the span touches; `horizon`: the first that a baseline or a candidate may still hang on. */
export type StateHorizon = { from: number; index: number; horizon: number }

export function saveRule(kept: RuleTracking, { baselines }: RuleInstance, cut: StateHorizon): RuleState {
  const { tracked, counts, coveredBefore, covered, active, failed } = kept
  const known = [...active].filter(([index]) => index >= cut.horizon)
  return {
    tracked: saveTracked(tracked, cut),
    covered: Float64Array.of(...rowsSince(coveredBefore, cut.index), ...rowsSince(covered, cut.index)),
    baselines: baselines.map(({ state }) => saveBaseline(state)),
    active: known.flat(),
    counts: [...counts],
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
  const { tracked, covered, counts, failed } = saved
  return {
    tracked: deepCopy(tracked),
    coveredBefore: covered,
    covered: [],
    active,
    counts: [...counts],
    ...(failed !== undefined && { failed }),
  }
}

/**
 * One that is over still explains others for a while: it covers half of a span only as long as that is at most twice its
 * own, so of what goes on beyond `to + length` it explains nothing. Three lengths let what it explains be explained by it.
 */
const EXPLAINS_LENGTHS = 3

function saveTracked({ done, dropped, current, near, ...held }: EpisodeState, cut: StateHorizon): EpisodeState {
  const kept = done.filter(({ from, to }) => to! + EXPLAINS_LENGTHS * (to! - from) > cut.from)
  return deepCopy({
    ...held,
    near: near.filter(({ day }) => day >= cut.index),
    done: kept.map(episode => since(episode, cut.index)),
    dropped: dropped + done.length - kept.length,
    // All days of a candidate become days in fault when it is confirmed.
    ...(current && { current: since(current, held.confirmed ? cut.index : cut.horizon) }),
  })
}

const since = (episode: Episode, index: number): Episode => ({
  ...episode,
  days: new Map([...episode.days].filter(([day]) => day >= index)),
})
