/** Which history is given up when it takes more space than it may. */
import { MINUTE } from '#shared/core/time.ts'

/** Old months are thinned to one value for each slot of this length, before any is dropped. @source contract §9: a full outbox */
export const THIN_MS = 15 * MINUTE
/** The newest months of all history stay as they are: rules look back over weeks, and people over the last month. */
const WHOLE_MONTHS = 2

/**
 * Sealed history of one building in one month, UTC, `2026-03`. It `isThinned` when all of it is, and `hasThinned` samples as soon as some
 * are: what comes late to a thinned month is whole until the month is thinned again.
 */
export type HistoryMonth = { building_id: string; month: string; bytes: number; isThinned: boolean; hasThinned: boolean }
export type QuotaStep = { what: 'thin' | 'drop'; building_id: string; month: string }
/** Space of all sealed history, and of that of any one building. */
export type HistoryBounds = { max_bytes: number; building_max_bytes: number }

/**
 * A building that takes more than it may gives up its own history. Space that a building does not use is free for others. When there is
 * none left, buildings that take more than their equal share come first, so that one building with many points does not take the past of
 * the others.
 *
 * @param newest the month that is written now
 * @returns the next step towards the bounds: the oldest month that can be thinned, else the oldest one. Undefined when history fits, or
 *   only months are left that stay as they are
 */
export function nextQuotaStep(
  months: readonly HistoryMonth[],
  newest: string,
  { max_bytes, building_max_bytes }: HistoryBounds,
): QuotaStep | undefined {
  const byBuilding = [...Map.groupBy(months, ({ building_id }) => building_id).values()]
  const tooLarge = byBuilding.filter(own => bytesOf(own) > building_max_bytes)
  for (const own of tooLarge) {
    const step = oldestOf(own, newest)
    if (step) return step
  }
  if (bytesOf(months) <= max_bytes) return undefined
  const share = max_bytes / byBuilding.length
  const above = new Set(byBuilding.filter(own => bytesOf(own) > share).map(([one]) => one!.building_id))
  return oldestOf(months, newest, ({ building_id }) => above.has(building_id))
}

/** @param isFirst which months come before others that can be given up in the same way */
function oldestOf(
  months: readonly HistoryMonth[],
  newest: string,
  isFirst: (month: HistoryMonth) => boolean = () => false,
): QuotaStep | undefined {
  const old = months.filter(({ month }) => monthsBetween(month, newest) >= WHOLE_MONTHS)
  const oldest = old.toSorted((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : b.bytes - a.bytes))
  const whole = oldest.filter(({ isThinned }) => !isThinned)
  const rest = whole.length > 0 ? whole : oldest
  const one = rest.find(isFirst) ?? rest[0]
  return one && { what: one.isThinned ? 'drop' : 'thin', building_id: one.building_id, month: one.month }
}

const bytesOf = (months: readonly HistoryMonth[]): number => months.reduce((sum, { bytes }) => sum + bytes, 0)

function monthsBetween(from: string, to: string): number {
  const [a, b] = [from, to].map(month => 12 * Number(month.slice(0, 4)) + Number(month.slice(5)))
  return b! - a!
}

/** @returns ms */
export const monthStart = (month: string): number => Date.parse(`${month}-01`)

/** What is kept of history, and since when. */
export type HistoryExtent = {
  bytes: number
  max_bytes: number
  /** First month since which every sample is kept, and, before it, first month of which at least one value for a quarter of an hour is; null for none. */
  whole_from: string | null
  thinned_from: string | null
}
export type BuildingExtent = HistoryExtent & { building_id: string }

/** Of several buildings `whole_from` holds for each of them. */
export function extentOf(months: readonly HistoryMonth[], max_bytes: number): HistoryExtent {
  const names = months.map(({ month }) => month).toSorted()
  const lastThinned = months.reduce((last, { month, hasThinned }) => (hasThinned && month > last ? month : last), '')
  const whole_from = names.find(month => month > lastThinned) ?? null
  return { bytes: bytesOf(months), max_bytes, whole_from, thinned_from: lastThinned === '' ? null : names[0]! }
}

/** @param max_bytes what one building may take */
export const buildingExtents = (months: readonly HistoryMonth[], max_bytes: number): BuildingExtent[] =>
  [...Map.groupBy(months, ({ building_id }) => building_id)].map(([building_id, own]) => ({
    building_id,
    ...extentOf(own, max_bytes),
  }))
