/** The data of one equipment as a run receives it. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { Series } from '#shared/core/series/series.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'

/** What a run knows of one equipment. Times are ms since 1970 UTC. */
export type EquipmentData = {
  equipment_id: string
  equipment_type: EquipmentType
  /** By role, in the role's canonical unit. Samples outside the role's plausible range are left in. */
  roles: Record<string, RoleSeries>
  /** Visits to the priority array of a role's point, ascending; only of roles whose point has one. */
  visits?: Record<string, ArraySnapshot[]>
  /** By role, the usual distance between its visits, ms; of others it is told from the visits, or is what it was in an earlier run. */
  visitMs?: Record<string, number>
  /** Equipment that this one feeds (for `zones(role)`), and the one that feeds it. */
  feeds: string[]
  parent_id?: string
}
export type RoleSeries = Series & {
  point_id: string
  /** Nominal time between samples, ms: a sample holds for min(gap, 3 × this). */
  nominalMs: number
  /** The point's own, before its values were converted: a change of it is a change of all that was read. */
  unit?: string
  /** Stretches that are not to be judged: their samples are there without a value. */
  untrusted?: readonly UntrustedSpan[]
}
