/** Which history is given up when it takes more space than it may. */
import { MINUTE } from '#shared/core/time.ts'

/** Old months are thinned to one value for each slot of this length, before any is dropped. @source contract §9: a full outbox */
export const THIN_MS = 15 * MINUTE
/** The newest months of all history stay as they are: rules look back over weeks, and people over the last month. */
const WHOLE_MONTHS = 2

/** Sealed history of one building in one month. `month` is UTC, `2026-03`. */
export type HistoryMonth = { building_id: string; month: string; bytes: number; isThinned: boolean }
export type QuotaStep = { what: 'thin' | 'drop'; building_id: string; month: string }

/**
 * Space that a building does not use is free for others. When there is none left, buildings that take more than their equal share
 * give up their own history first, so that one building with many points does not take the past of the others.
 *
 * @param newest the month that is written now
 * @returns the next step towards `maxBytes`: the oldest month that can be thinned, else the oldest one; each first of buildings above
 *   their share. Undefined when history fits, or only months are left that stay as they are
 */
export function nextQuotaStep(months: readonly HistoryMonth[], newest: string, maxBytes: number): QuotaStep | undefined {
  const bytes = months.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes <= maxBytes) return undefined
  const old = months.filter(({ month }) => monthsBetween(month, newest) >= WHOLE_MONTHS)
  const above = buildingsAbove(months, maxBytes)
  const oldest = old.toSorted((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : b.bytes - a.bytes))
  const isAbove = ({ building_id }: HistoryMonth) => above.has(building_id)
  const whole = oldest.filter(({ isThinned }) => !isThinned)
  const rest = whole.length > 0 ? whole : oldest
  const one = rest.find(isAbove) ?? rest[0]
  return one && { what: one.isThinned ? 'drop' : 'thin', building_id: one.building_id, month: one.month }
}

/** Buildings that take more than an equal share of `maxBytes`. */
function buildingsAbove(months: readonly HistoryMonth[], maxBytes: number): Set<string> {
  const byBuilding = [...Map.groupBy(months, ({ building_id }) => building_id)]
  const share = maxBytes / byBuilding.length
  const above = byBuilding.filter(([, own]) => own.reduce((sum, { bytes }) => sum + bytes, 0) > share)
  return new Set(above.map(([building_id]) => building_id))
}

function monthsBetween(from: string, to: string): number {
  const [a, b] = [from, to].map(month => 12 * Number(month.slice(0, 4)) + Number(month.slice(5)))
  return b! - a!
}

/** What is kept of history, and since when. */
export type HistoryExtent = {
  bytes: number
  max_bytes: number
  /** First month of which every sample is kept, and first month of which one value for a quarter of an hour is; null for none. */
  whole_from: string | null
  thinned_from: string | null
}

export function extentOf(months: readonly HistoryMonth[], max_bytes: number): HistoryExtent {
  const firstOf = (isThinned: boolean) =>
    months
      .filter(one => one.isThinned === isThinned)
      .map(({ month }) => month)
      .toSorted()[0] ?? null
  const bytes = months.reduce((sum, one) => sum + one.bytes, 0)
  return { bytes, max_bytes, whole_from: firstOf(false), thinned_from: firstOf(true) }
}
