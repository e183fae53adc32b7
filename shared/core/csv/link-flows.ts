/**
 * Tells from history which handler serves a box: air cannot flow in a box whose handler stands still. Only instants at which the fans of
 * two handlers differ say anything.
 */
import type { Series } from '#shared/core/series/series.ts'
import { DAY, HOUR } from '../time.ts'
import type { LinkEvidence } from './link-names.ts'

export type BoxFlow = { equipment_id: string; flow: Series }
/** Values above zero: the fan runs. */
export type FanState = { equipment_id: string; on: Series }

/** Share of its high flow above which a box has flow: sensors rest a little above zero. */
const FLOWS_ABOVE = 0.1
/** Quantile that stands for high flow; one wild reading is no flow. */
const HIGH = 0.95
/** Instants that have to differ: two hours at five minutes … */
const SAMPLES_MIN = 24
/** … on so many days, for evidence that counts as sure. */
const DAYS_MIN = 3
/** Share of these instants that have to agree; clocks and sensors are not exact. */
const AGREE = 0.95
/** A fan's state is known for so long after a sample, ms. */
const KNOWN_MS = HOUR
const CONFIDENCE = { sure: 0.9, likely: 0.7 }

/** @returns for each box the one handler that its flow follows, where it follows one and no other */
export function evidenceByFlow(boxes: BoxFlow[], fans: FanState[]): Map<string, LinkEvidence> {
  const found = new Map<string, LinkEvidence>()
  if (fans.length < 2) return found
  for (const box of boxes) {
    const flows = flowsOf(box.flow)
    if (!flows) continue
    const states = fans.map(({ on }) => statesAt(box.flow.ts, on))
    const following = fans.flatMap(({ equipment_id }, a) => {
      const against = states.flatMap((other, b) => (b === a ? [] : [compare(box.flow.ts, flows, states[a]!, other)]))
      if (against.some(each => each === undefined)) return []
      const known = against.map(each => each!)
      const confidence = known.every(({ isSure }) => isSure) ? CONFIDENCE.sure : CONFIDENCE.likely
      const count = known.reduce((sum, { samples }) => sum + samples, 0)
      const why = `its flow follows the fan of ${equipment_id} at ${count} samples at which the fans differ`
      return [{ parent_id: equipment_id, confidence, why }]
    })
    if (following.length === 1) found.set(box.equipment_id, following[0]!)
  }
  return found
}

/** [n] 1 flow, 0 none, 2 not known; undefined when the box never flows or never rests, which tells nothing. */
function flowsOf({ values }: Series): Uint8Array | undefined {
  const sorted = values.filter(value => !Number.isNaN(value)).toSorted()
  const high = sorted[Math.floor(sorted.length * HIGH)]
  if (high === undefined || !(high > 0)) return undefined
  const flows = Uint8Array.from(values, value => (Number.isNaN(value) ? 2 : value > high * FLOWS_ABOVE ? 1 : 0))
  const [resting, flowing] = [0, 1].map(state => flows.reduce((sum, flow) => sum + Number(flow === state), 0))
  return resting! >= SAMPLES_MIN && flowing! >= SAMPLES_MIN ? flows : undefined
}

/** @returns [n] at each instant 1 on, 0 off, 2 not known */
function statesAt(ts: Float64Array, on: Series): Uint8Array {
  let i = -1
  return Uint8Array.from(ts, at => {
    while (i + 1 < on.ts.length && on.ts[i + 1]! <= at) i++
    const value = i < 0 || at - on.ts[i]! > KNOWN_MS ? Number.NaN : on.values[i]!
    return Number.isNaN(value) ? 2 : Number(value > 0)
  })
}

/**
 * Whether the flow follows `own` rather than `other`.
 *
 * Flow under a fan that stands still excludes it. A box may be shut under a fan that runs, so no flow there is only likely to mean another
 * handler, and only when the box is else open whenever both run.
 */
function compare(ts: Float64Array, flows: Uint8Array, own: Uint8Array, other: Uint8Array) {
  const alone = { own: 0, other: 0, resting: 0 }
  const both = { all: 0, flowing: 0 }
  const days = new Set<number>()
  for (const [i, flow] of flows.entries()) {
    if (flow === 2 || own[i] === 2 || other[i] === 2) continue
    if (own[i] === 1 && other[i] === 1) {
      both.all++
      both.flowing += flow
    }
    if (own[i] === other[i]) continue
    if (flow === 0) alone.resting += other[i]!
    else if (own[i] === 1) {
      alone.own++
      days.add(Math.floor(ts[i]! / DAY))
    } else alone.other++
  }
  const flowing = alone.own + alone.other
  if (alone.own >= SAMPLES_MIN && alone.own >= AGREE * flowing) return { samples: alone.own, isSure: days.size >= DAYS_MIN }
  const isOpen = both.all >= SAMPLES_MIN && both.flowing >= AGREE * both.all
  const rests = alone.resting >= SAMPLES_MIN && alone.resting >= AGREE * (alone.resting + alone.other) && alone.own === 0
  return isOpen && rests ? { samples: alone.resting, isSure: false } : undefined
}
