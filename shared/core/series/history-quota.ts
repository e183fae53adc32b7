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
 * @param newest the month that is written now
 * @returns the next step towards `maxBytes`: the oldest month that can be thinned, else the oldest one; undefined when
 *   history fits, or only months are left that stay as they are
 */
export function nextQuotaStep(months: readonly HistoryMonth[], newest: string, maxBytes: number): QuotaStep | undefined {
  const bytes = months.reduce((sum, one) => sum + one.bytes, 0)
  if (bytes <= maxBytes) return undefined
  const old = months.filter(({ month }) => monthsBetween(month, newest) >= WHOLE_MONTHS)
  const oldest = old.toSorted((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : b.bytes - a.bytes))
  const one = oldest.find(({ isThinned }) => !isThinned) ?? oldest[0]
  return one && { what: one.isThinned ? 'drop' : 'thin', building_id: one.building_id, month: one.month }
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
