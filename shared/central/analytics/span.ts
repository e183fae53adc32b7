/** The span that a person asks for: instants, or days of the building. */
import type { Building } from '#shared/core/model/model.ts'
import type { Clock, Historian } from '#shared/core/ports.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY, HOUR, parseInstant } from '#shared/core/time.ts'
import { dayStart, nextDay, offsetAt } from '#shared/core/time-zone.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { AnalyticsSpan } from '#shared/flow/analytics/analytics-span.ts'
import { endOf } from '#shared/flow/fdd/run-fdd.ts'

type SpanAsked = { building_id: string; from?: string; to?: string }
type SpanPorts = { model: Pick<ModelStore, 'building'>; historian: Pick<Historian, 'lastAt'>; clock: Pick<Clock, 'now'> }

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/**
 * Reads `[from, to)`. A date stands for the beginning of the building's day. Without `to` the span ends now, or where
 * history ended before that; without `from` it is `defaultMs` long.
 *
 * @throws Problem unknown_building, bad_request that names the field
 */
export function readSpan(
  { building_id, from, to }: SpanAsked,
  defaultMs: number,
  { model, historian, clock }: SpanPorts,
): AnalyticsSpan & { building: Building } {
  const building = needBuilding(model, building_id)
  const start = from === undefined ? undefined : readMoment('from', from, building)
  const end = to === undefined ? endOf(building_id, defaultMs, historian, clock.now()) : readMoment('to', to, building)
  return { building, building_id, from: start ?? end - defaultMs, to: end }
}

/** @returns an instant, or the beginning of a day of the building. @throws Problem bad_request that names the field */
export function readMoment(field: string, text: string, { timezone }: Building): number {
  const ms = DATE.test(text) ? startOfDate(text, timezone) : parseInstant(text)
  if (ms !== undefined) return ms
  const message = `${field} takes an instant such as 2026-03-01T05:00:00Z, or a day of the building such as 2026-03-01`
  throw new Problem('bad_request', message, [{ pointer: `/${field}`, message }])
}

/** @returns the first instant of a building's day; undefined when its month has no such day */
export function startOfDate(text: string, timezone: string): number | undefined {
  const noon = parseInstant(`${text}T12:00:00Z`)
  return noon === undefined ? undefined : dayStart(noon - offsetAt(noon, timezone), timezone)
}

/** @returns the first instant after a building's day */
export function endOfDate(text: string, timezone: string): number | undefined {
  const start = startOfDate(text, timezone)
  return start === undefined ? undefined : nextDay(start, timezone)
}

/** Whole hours of UTC, so that the same question asked twice within an hour is the same; at least one. */
export function wholeHours<T extends AnalyticsSpan>(span: T): T {
  const from = Math.floor(span.from / HOUR) * HOUR
  return { ...span, from, to: Math.max(from + HOUR, Math.floor(span.to / HOUR) * HOUR) }
}

/** Spans that are taken when none is asked for. */
export const MONTH = 30 * DAY
export const WEEK = 7 * DAY
