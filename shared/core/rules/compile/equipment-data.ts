/** The data of one equipment as a run receives it. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { Series } from '#shared/core/series/series.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'

/** The data of one equipment. Times are ms since 1970 UTC. */
export type EquipmentData = {
  equipment_id: string
  equipment_type: EquipmentType
  /** By role, in the role's canonical unit. Samples outside the role's plausible range are left in. */
  roles: Record<string, RoleSeries>
  /** Visits to the priority array of a role's point, ascending; only of roles whose point has one. */
  visits?: Record<string, ArraySnapshot[]>
  /**
   * By role, the usual interval between its visits, ms. For other roles it is derived from the visits, or taken from an
   * earlier run.
   */
  visitMs?: Record<string, number>
  /** Equipment that this one feeds (for `zones(role)`), and the one that feeds it. */
  feeds: string[]
  parent_id?: string
}
export type RoleSeries = Series & {
  point_id: string
  /** Nominal time between samples, ms: a sample holds for min(gap, 3 × this). */
  nominalMs: number
  /** It reports changes as they happen, and an unchanged value after `nominalMs`: no change lies between two samples. */
  reportsChanges?: true
  /** The point's own unit, before its values were converted. When it changes, all stored values of the role change. */
  unit?: string
  /** The values as they were read, where some of them are doubted and have none (`withoutDoubtful`). */
  read?: Float64Array
  /** Spans whose samples are not trusted; these samples have no value. */
  untrusted?: readonly UntrustedSpan[]
}
