import { MINUTE } from '../time.ts'

/** Data of an edge that are older than this are not fresh. All edges have the same threshold, and pages show it. */
export const FRESH_MS = 5 * MINUTE

/** @param last_data_at the newest that came, ms since 1970 UTC; null where nothing did */
export const isFresh = (last_data_at: number | null, now: number): boolean =>
  last_data_at !== null && now - last_data_at <= FRESH_MS
