import type { Part } from './manifest.ts'

/** Ranks that a month may have before some are merged: a read opens as many files. */
export const RANKS_MAX = 8

/**
 * Which parts of a month to merge: the newest, and older ones as long as they are no larger than what is merged into
 * them. So each row is written again only about log2(parts) times.
 *
 * @param parts of one month and at least two ranks, lowest rank first
 */
export function planMerge(parts: Part[]): Part[] {
  const ranks = [...Map.groupBy(parts, ({ rank }) => rank).values()]
  let chosen = ranks.slice(-2).flat()
  for (let i = ranks.length - 3; i >= 0 && rows(ranks[i]!) <= rows(chosen); i--) chosen = [...ranks[i]!, ...chosen]
  return chosen
}

const rows = (parts: Part[]) => parts.reduce((sum, { points }) => points.reduce((all, { samples }) => all + samples, sum), 0)
