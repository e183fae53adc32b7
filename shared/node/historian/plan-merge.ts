import type { Part } from './manifest.ts'

/** Maximum number of ranks of a month before parts are merged: a read opens as many files. */
export const RANKS_MAX = 8

/**
 * Chooses the parts of a month to merge: the newest, and older ones that are no larger than the sum of the newer ones. Each
 * row is thereby written again only about log2(parts) times.
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
