/** How many faults are open: what Home, Fleet and the pages of buildings and equipment count, without reading a finding whole. */
import type { CentralContext } from '#shared/central/context.ts'
import { type ActiveFinding, type Priority, priorityOf } from '#shared/core/findings/finding.ts'
import type { Silence } from '#shared/core/findings/snooze.ts'
import { type Lane, laneOf, rowKey } from './fault-list.ts'

type Stores = { findings: Pick<CentralContext['findings'], 'active'>; notes: Pick<CentralContext['notes'], 'silences'> }

/** Active equipment faults by priority, active findings about sensors and data, and active overrides. */
export type OpenCounts = Record<Priority, number> & { data: number; overrides: number }

export const NONE_OPEN: OpenCounts = { 1: 0, 2: 0, 3: 0, data: 0, overrides: 0 }
export const addCounts = (a: OpenCounts, b: OpenCounts): OpenCounts => ({
  1: a[1] + b[1],
  2: a[2] + b[2],
  3: a[3] + b[3],
  data: a.data + b.data,
  overrides: a.overrides + b.overrides,
})

/** Open faults of one building, or of all. */
export const openFaults = (stores: Stores, now: number, building_id?: string): OpenCounts =>
  openFaultsBy(stores, now, () => 'all', building_id).get('all') ?? NONE_OPEN

/** Open faults of each building that has any active finding. */
export const openFaultsByBuilding = (stores: Stores, now: number): Map<string, OpenCounts> =>
  openFaultsBy(stores, now, finding => finding.building_id)

/** Open faults of each equipment of a building that has any active finding. */
export const openFaultsByEquipment = (stores: Stores, now: number, building_id: string): Map<string, OpenCounts> =>
  openFaultsBy(stores, now, finding => finding.equipment_id, building_id)

function openFaultsBy(
  { findings, notes }: Stores,
  now: number,
  groupOf: (finding: ActiveFinding) => string,
  building_id?: string,
): Map<string, OpenCounts> {
  const silences = notes.silences(now, building_id)
  const groups = Map.groupBy(findings.active(building_id), groupOf)
  return new Map([...groups].map(([group, own]) => [group, countsOf(own, silences, now)]))
}

/** Counts rows, as the list has them: the latest of several findings stands for its row. */
function countsOf(active: ActiveFinding[], silences: ReadonlyMap<string, Silence>, now: number): OpenCounts {
  const rows = new Map<string, { lane: Exclude<Lane, 'silenced'>; finding: ActiveFinding }>()
  for (const finding of active) {
    const lane = laneOf({ finding, note: silences.get(finding.finding_id) ?? NOT_SILENCED }, now)
    if (lane === 'silenced') continue
    const key = rowKey(lane, finding)
    const known = rows.get(key)
    if (!known || finding.from > known.finding.from) rows.set(key, { lane, finding })
  }
  const counts = { ...NONE_OPEN }
  for (const { lane, finding } of rows.values()) counts[lane === 'faults' ? priorityOf(finding.severity) : lane]++
  return counts
}

const NOT_SILENCED: Silence = {}
