/**
 * Finds from history which air handler serves a box: air cannot flow in a box while its handler is off. Only samples at
 * which the fans of two handlers differ count.
 */
import type { Series } from '#shared/core/series/series.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import type { LinkEvidence } from './link-names.ts'

export type BoxFlow = { equipment_id: string; flow: Series }
/** Values above zero mean that the fan runs. */
export type FanState = { equipment_id: string; on: Series }

/** A box has flow above this share of its high flow: sensors rest a little above zero. */
const FLOWS_ABOVE = 0.1
/** Quantile used as high flow, so that a single wrong reading does not count. */
const HIGH = 0.95
/** Minimum number of samples at which the fans differ: two hours at five minutes. */
const SAMPLES_MIN = 24
/** Minimum number of days with such samples for sure evidence. */
const DAYS_MIN = 3
/** Share of these samples that must agree; clocks and sensors are not exact. */
const AGREE = 0.95
/** A fan's state is valid for this time after a sample, ms. */
const KNOWN_MS = HOUR
const CONFIDENCE = { sure: 0.9, likely: 0.7 }

/** @returns for each box the handler that its flow follows, where it follows exactly one */
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

/** @returns [n] 1 flow, 0 none, 2 unknown; undefined when the box always or never has flow */
function flowsOf({ values }: Series): Uint8Array | undefined {
  const sorted = values.filter(value => !Number.isNaN(value)).toSorted()
  const high = sorted[Math.floor(sorted.length * HIGH)]
  if (high === undefined || !(high > 0)) return undefined
  const flows = Uint8Array.from(values, value => (Number.isNaN(value) ? 2 : value > high * FLOWS_ABOVE ? 1 : 0))
  const [resting, flowing] = [0, 1].map(state => flows.reduce((sum, flow) => sum + Number(flow === state), 0))
  return resting! >= SAMPLES_MIN && flowing! >= SAMPLES_MIN ? flows : undefined
}

/** @returns [n] at each instant 1 on, 0 off, 2 unknown */
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
 * Flow while a fan is off excludes its handler. A box may be closed while its fan runs, so no flow only makes another
 * handler likely, and only when the box is otherwise open whenever both fans run.
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
