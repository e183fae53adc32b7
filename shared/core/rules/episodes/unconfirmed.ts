/**
 * Conditions that held and did not become a finding because they did not last long enough: how long they held on the day
 * that came nearest, and how long they have to.
 */
import type { Shortfall, Unconfirmed } from '#shared/core/findings/finding.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import type { Node } from '#shared/core/rules/evaluate/node.ts'
import type { BuildingDay, DayRows } from '#shared/core/rules/evaluate/day-rows.ts'

/**
 * Times of a day, ms: the condition in total and without a break, and how long a signal that must stay constant for a window
 * was constant.
 */
export type NearMissDay = { day: number; trueMs: number; longestMs: number; stillMs: number }

/**
 * For `range(signal, window) <= bound`: how long the signal has been constant, and whether the other terms of the condition
 * hold.
 */
export type Stillness = { node: Node; holds: Node; windowMs: number }

/** Shorter conditions are normal in every building and not reported, unless they reach half of the required time. */
const HELD_MIN_MS = 15 * MINUTE
const HALF = 0.5
/** A signal that was constant for a smaller share of its window is not reported. */
const STILL_SHARE = 1 / 24

const dayOf = (near: NearMissDay[], day: number): NearMissDay => {
  const last = near.at(-1)
  if (last?.day === day) return last
  const made = { day, trueMs: 0, longestMs: 0, stillMs: 0 }
  near.push(made)
  return made
}

/** @param near changed in place; days are given in order */
export function recordTrue(near: NearMissDay[], day: number, ms: number, withoutBreakMs: number): void {
  const today = dayOf(near, day)
  today.trueMs += ms
  today.longestMs = Math.max(today.longestMs, withoutBreakMs)
}

export function recordStill(near: NearMissDay[], { node, holds, windowMs }: Stillness, { n, t, day }: DayRows): void {
  let longest = 0
  for (let i = 0; i < n; i++) {
    if (holds.out[i] !== 1) continue
    const until = node.out[i]! + t[i + 1]! - t[i]!
    if (until > longest) longest = until
  }
  if (longest >= STILL_SHARE * windowMs) dayOf(near, day.index).stillMs = longest
}

type RuleNearMisses = {
  instance: { persistenceMs: number; dailyMinimumMs: number; stillness?: Stillness; role?: string }
  near: readonly NearMissDay[]
  /** By index, the days that overlap the span. */
  days: ReadonlyMap<number, Pick<BuildingDay, 'date'>>
}

/** @returns the day that came nearest, over all roles of a rule that runs over roles; undefined when none came near */
export function nearestMiss(asked: RuleNearMisses[]): Unconfirmed | undefined {
  const found = asked.flatMap(({ instance, near, days }) =>
    near.flatMap((today): Unconfirmed[] => {
      const short = shortOf(instance, today)
      const date = days.get(today.day)?.date
      if (short.length === 0 || date === undefined) return []
      return [{ date, ...(instance.role !== undefined && { role: instance.role }), short }]
    }),
  )
  return found.toSorted((a, b) => nearness(b) - nearness(a) || (a.date < b.date ? -1 : 1))[0]
}

/** @returns the share of the required time that the condition held, 0..1 */
export const nearness = ({ short }: Pick<Unconfirmed, 'short'>): number =>
  Math.min(...short.map(({ held_secs, needs_secs }) => held_secs / needs_secs))

function shortOf(
  { persistenceMs, dailyMinimumMs, stillness }: RuleNearMisses['instance'],
  { trueMs, longestMs, stillMs }: NearMissDay,
): Shortfall[] {
  const all: Shortfall[] = [
    { of: 'persistence', held_secs: secs(longestMs), needs_secs: secs(persistenceMs) },
    { of: 'daily_minimum', held_secs: secs(trueMs), needs_secs: secs(dailyMinimumMs) },
  ]
  const short = all.filter(({ held_secs, needs_secs }) => held_secs < needs_secs)
  const isNear = trueMs >= HELD_MIN_MS || (trueMs > 0 && short.length > 0 && nearness({ short }) >= HALF)
  if (isNear) return short
  if (!stillness || stillMs === 0) return []
  return [
    { of: 'window', held_secs: secs(stillMs), needs_secs: secs(stillness.windowMs + Math.max(persistenceMs, dailyMinimumMs)) },
  ]
}

const secs = (ms: number): number => Math.round(ms / 1000)

type StillTerm = { signal: TypedExpr; window: TypedExpr; bound: TypedExpr; others: TypedExpr[] }

/** @returns the term of a condition that requires a signal to stay constant for a window, and the other terms */
export function stillTerm(when: TypedExpr): StillTerm | undefined {
  const terms = conjunctsOf(when)
  for (const [i, term] of terms.entries()) {
    if (term.kind !== 'op' || (term.op !== 'le' && term.op !== 'lt')) continue
    const [left, bound] = term.args as [TypedExpr, TypedExpr]
    if (left.kind !== 'op' || left.op !== 'range') continue
    const [signal, window] = left.args as [TypedExpr, TypedExpr]
    return { signal, window, bound, others: terms.toSpliced(i, 1) }
  }
  return undefined
}

const conjunctsOf = (typed: TypedExpr): TypedExpr[] =>
  typed.kind === 'op' && typed.op === 'and' ? typed.args.flatMap(conjunctsOf) : [typed]
