/** What a hub stores at most of what one edge can invent. Samples are bounded by the space of history instead. */
import type { EdgeMessage } from '../ports.ts'
import type { EdgeKey } from '../model/model.ts'
import { formatCount } from '../number-text.ts'
import type { Metadata } from './metadata.ts'

/** Each counts what is stored, also what the edge no longer lists. */
export type EdgeLimits = {
  /** Buildings that an edge has reported for. */
  buildings: number
  /** Points of an edge; also equipment of a building, and series of a building that are of no point. */
  points: number
  /** Streams of an edge. */
  streams: number
  /** Findings of all buildings that the edge has reported for, whoever found them. */
  findings: number
}

/** The setting that each limit comes from, so that a refusal says what to raise. */
const SETTINGS: Readonly<Record<keyof EdgeLimits, string>> = {
  buildings: 'SERVICE_EDGE_MAX_BUILDINGS',
  points: 'SERVICE_EDGE_MAX_POINTS',
  streams: 'SERVICE_EDGE_MAX_STREAMS',
  findings: 'SERVICE_EDGE_MAX_FINDINGS',
}

/** Checked before anything is stored. What is stored already is never refused. */
export interface EdgeBounds {
  /** @returns why the metadata is refused; undefined within the limits */
  refusalOf(edge: EdgeKey, metadata: Pick<Metadata, 'building' | 'equipment' | 'points'>): string | undefined
  /**
   * @param newSeries those of its points that have no history yet
   * @returns why the message is not stored; undefined within the limits
   */
  excessOf(message: EdgeMessage, newSeries: readonly string[]): string | undefined
}

/**
 * @param what is counted, as it stands behind a figure
 * @returns undefined within the limit
 */
export function limitExcess(
  limit: keyof EdgeLimits,
  { held, added, max, what }: { held: number; added: number; max: number; what: string },
): string | undefined {
  if (added === 0 || held + added <= max) return undefined
  const figures = `${formatCount(held)} ${what} are stored, and this brings ${formatCount(added)} more`
  return `${figures}; ${SETTINGS[limit]} allows ${formatCount(max)}`
}
