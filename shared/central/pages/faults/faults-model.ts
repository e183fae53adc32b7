/** What the page of faults shows, and the little that its parts compute from it. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { SnoozeScope } from '#shared/core/findings/snooze.ts'
import type { Urgency } from '#shared/core/findings/urgency.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { Standing } from '#shared/core/ports.ts'
import type { Together } from '#shared/central/ui/cost-words.ts'
import type { ListPart } from '#shared/central/ui/pager.ts'
import type { UnitSystem } from '#shared/central/ui/measure.ts'
import { type Here, hereIn } from '#shared/central/ui/moment.ts'
import type { RunPanel } from '#shared/central/ui/run-panel.ts'
import type { NamedSnooze } from './snoozes.view.ts'
import type { FaultGroup, FaultQuery, Lane } from './fault-list.ts'

/** Several faults are acknowledged, snoozed or assigned at once, or that is taken back. */
export const BULK_ACTIONS = ['ack', 'unack', 'snooze', 'wake', 'assign', 'unassign'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]
/** What was done last, to how many findings, and those of them for which it can be taken back as it was. */
export type FaultsDone = { action: BulkAction; count: number; finding_ids: string[]; scope?: SnoozeScope }

/** Results and gaps of the last run of one building. */
export type LastRun = {
  building_id: string
  finished_at: number
  failed: number
  standing: Standing
}
export type FaultsModel = {
  query: FaultQuery
  here: Here
  groups: FaultGroup[]
  /** Rows per tab under the same filter. */
  counts: Record<Lane, number>
  /** Rows of this tab that are urgent or chronic, under the rest of the filter. */
  urgencies: Record<Urgency, number>
  /** Set when more episodes overlap the window than one page takes: how many it took, and before when the others began. */
  truncated?: { at: number; oldest: number }
  /** By building, when its data ended; absent for a building with present data. */
  dataEnds: ReadonlyMap<string, number>
  buildings: Building[]
  equipmentName: (finding: { building_id: string; equipment_id: string }) => string
  /** Names of the equipment and of the rule that the filter has. */
  equipmentWords: (equipment_id: string) => string
  ruleWords: (rule_id: string) => string
  /** Which part of a long list is shown. */
  part: Pick<ListPart<unknown>, 'page' | 'pages'>
  mayOperate: boolean
  csrf: string
  done: FaultsDone | undefined
  /** The snooze that was just ended. */
  ended: string | undefined
  /** What is snoozed now; empty in other lanes than that of what is silenced. */
  snoozes: NamedSnooze[]
  lastRuns: LastRun[]
  /** The cost of the listed faults, where it is known; empty where a filter is set. */
  together: Together[]
  runs: RunPanel
  /** On a hub: the boxes whose findings arrive here, when they looked last, as far as they say, and the time of their last data. */
  boxes: { name: string; building_id: string; last_check_at: number | null; last_data_at: number | null }[]
}

export const hereOf = (building_id: string, { here, buildings }: FaultsModel): Here =>
  hereIn(here, buildings.find(building => building.building_id === building_id)?.timezone ?? here.timezone)

export const systemOf = (
  { building_id }: Pick<Finding, 'building_id'>,
  { buildings }: Pick<FaultsModel, 'buildings'>,
): UnitSystem => buildings.find(building => building.building_id === building_id)?.unit_system ?? 'si'
