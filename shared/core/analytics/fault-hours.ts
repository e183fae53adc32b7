/** The time that equipment was in fault; simultaneous findings count once. */
import { stretchesOf, stretchesWithin, trueMsOf } from '#shared/core/findings/fault-time.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { HOUR } from '../time.ts'
import { mergeSpans, totalLength } from '#shared/core/series/spans.ts'

export type FaultHours = { fault_hours: number; findings: number; open: number }
type Episode = Pick<Finding, 'equipment_id' | 'from' | 'to' | 'duration_secs' | 'stretches' | 'state' | 'kind' | 'suppressed_by'>

/** Kinds of findings on sensors, data and overrides instead of the equipment. */
const OTHERS: ReadonlySet<Finding['kind']> = new Set<Finding['kind']>(['sensor', 'data', 'override'])

/** Whether a finding concerns the equipment and is not suppressed. */
const isOwnFault = ({ kind, suppressed_by }: Episode): boolean => !OTHERS.has(kind) && suppressed_by === undefined

/**
 * @param findings those that overlap `[from, to)`
 * @param now the end of open findings
 * @returns by equipment id, the hours of `[from, to)` in which the condition of at least one of its findings was true
 */
export function faultHours(findings: readonly Episode[], from: number, to: number, now: number): Map<string, FaultHours> {
  const byEquipment = Map.groupBy(findings.filter(isOwnFault), ({ equipment_id }) => equipment_id)
  return new Map(
    [...byEquipment].map(([equipment_id, own]) => {
      const stretches = own.flatMap(one => stretchesWithin(stretchesOf(one, now), from, to))
      const covered = totalLength(mergeSpans(stretches.map(([start, end]) => ({ from: start, to: end }))))
      const open = own.filter(({ state }) => state === 'active').length
      return [equipment_id, { fault_hours: Math.min(covered, trueMsOf(stretches)) / HOUR, findings: own.length, open }]
    }),
  )
}
