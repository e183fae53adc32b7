/** Which faults need somebody today, apart from those that somebody has to plan for. */
import { DAY } from '#shared/core/time.ts'
import { type Finding, priorityOf } from './finding.ts'

export const URGENCIES = ['urgent', 'chronic'] as const
export type Urgency = (typeof URGENCIES)[number]

/** A fault is new for so long. */
const NEW_MS = DAY

/**
 * An open fault is urgent while its priority is high (equipment that is down or does not obey, safety), while it concerns comfort
 * (people feel it now), or while it is new and not of low priority. Every other open one is chronic.
 *
 * @returns undefined for one that is cleared
 */
export function urgencyOf(
  { state, kind, severity, from }: Pick<Finding, 'state' | 'kind' | 'severity' | 'from'>,
  now: number,
): Urgency | undefined {
  if (state !== 'active') return undefined
  const priority = priorityOf(severity)
  const isNew = now - from < NEW_MS && priority < 3
  return priority === 1 || kind === 'comfort' || isNew ? 'urgent' : 'chronic'
}
