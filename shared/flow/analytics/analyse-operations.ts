import { type FaultHours, faultHours } from '#shared/core/analytics/fault-hours.ts'
import { createOperationsTally, noOperation, type OperationSums, sumOperations } from '#shared/core/analytics/operations.ts'
import { type OperationPlan, planOperations } from '#shared/core/analytics/operations-plan.ts'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { FindingReader, Notes } from '#shared/core/ports.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'
import { loadSpans, type AnalyticsPorts, type AnalyticsSpan } from './analytics-span.ts'
import { walkHistory, type WalkGroup } from './walk-history.ts'

export type OperationsJob = AnalyticsSpan & {
  timezone: string
  equipment: Equipment[]
  points: Point[]
}
/** `now`: the end of open findings, ms. */
export type FaultsJob = AnalyticsSpan & { now: number }

type OperationOf = {
  sums: OperationSums
  /** Undefined for equipment without a proof of running or a zone temperature. */
  plan: Pick<OperationPlan, 'run_role' | 'comfort_time' | 'comfort_limits'> | undefined
}
/** What history says. */
export type OperationHistory = {
  /** Of the equipment that has a plan, by its id. */
  equipment: ReadonlyMap<string, OperationOf>
  /** The building days of the span: beginning, and the sums of all equipment. */
  days: { at: number; sums: OperationSums }[]
}
/** What findings say. */
export type OperationFaults = {
  /** Of the equipment that has a finding, by its id. */
  equipment: ReadonlyMap<string, FaultHours>
  /** Hours in which any equipment of the building was in fault. */
  building: FaultHours
  /** Set when only the newest findings were counted. */
  findings_cut?: number
}

export type EquipmentOperations = FaultHours & Pick<Equipment, 'equipment_id' | 'name' | 'equipment_type'> & OperationOf
export type Operations = Pick<OperationHistory, 'days'> &
  Omit<OperationFaults, 'equipment'> & { equipment: EquipmentOperations[] }

/** Maximum number of findings of a span. */
const FINDINGS_MAX = 10_000
/** Signals that are read at once; a year of minutes of them is read in chunks of a month. */
const SIGNALS_AT_ONCE = 24
const NO_FAULT: FaultHours = { fault_hours: 0, findings: 0, open: 0 }

/** How a building's equipment was operated. */
export async function analyseOperations(job: OperationsJob, ports: AnalyticsPorts): Promise<OperationHistory> {
  const plans = planOperations(job.equipment, job.points)
  const walk = await loadSpans(
    job,
    plans.flatMap(({ points }) => points.flatMap(point => point ?? [])),
    ports,
  )
  const bounds = daysOf(job)
  const tallies = plans.map(plan => ({ plan, tally: createOperationsTally(bounds, plan.rules) }))
  const groups = tallies.map(({ plan, tally }): WalkGroup => ({ points: plan.points, take: tally.take }))
  for (const some of inGroups(groups)) await walkHistory(walk, some, ports)
  return {
    equipment: new Map(
      tallies.map(({ plan, tally }) => {
        return [plan.equipment.equipment_id, { sums: sumOperations(tally.days), plan: shownPlan(plan) }] as const
      }),
    ),
    days: bounds.slice(0, -1).map((at, i) => ({ at, sums: sumOperations(tallies.map(({ tally }) => tally.days[i]!)) })),
  }
}

/** How long a building's equipment was in fault. */
export function countFaults(
  { building_id, from, to, now }: FaultsJob,
  { findings, notes }: { findings: Pick<FindingReader, 'list'>; notes: Pick<Notes, 'get'> },
): OperationFaults {
  const listed = findings.list({ building_id, from, to, limit: FINDINGS_MAX })
  const counted = listed.filter(({ finding_id }) => notes.get(finding_id).not_a_fault === undefined)
  const together = counted.map(finding => ({ ...finding, equipment_id: '' }))
  return {
    equipment: faultHours(counted, from, to, now),
    building: faultHours(together, from, to, now).get('') ?? NO_FAULT,
    ...(listed.length === FINDINGS_MAX && { findings_cut: FINDINGS_MAX }),
  }
}

/** Both, of the equipment for which there is either. */
export function joinOperations(
  equipment: readonly Equipment[],
  { days, ...history }: OperationHistory,
  faults: OperationFaults,
): Operations {
  return {
    ...faults,
    days,
    equipment: equipment.flatMap(({ equipment_id, name, equipment_type }) => {
      const own = history.equipment.get(equipment_id)
      const fault = faults.equipment.get(equipment_id)
      if (!own && !fault) return []
      return [
        { equipment_id, name, equipment_type, ...(own ?? { sums: noOperation(), plan: undefined }), ...(fault ?? NO_FAULT) },
      ]
    }),
  }
}

/** Equipment and points stay in this process: the answer is sent to another. */
const shownPlan = ({ run_role, comfort_time, comfort_limits }: OperationPlan): OperationOf['plan'] => ({
  run_role,
  comfort_time,
  comfort_limits,
})

function daysOf({ from, to, timezone }: OperationsJob): number[] {
  const days = [dayStart(from, timezone)]
  while (days.at(-1)! < to) days.push(nextDay(days.at(-1)!, timezone))
  return days
}

/** Batches of groups with at most `SIGNALS_AT_ONCE` signals, at least one group in each. */
function inGroups(groups: WalkGroup[]): WalkGroup[][] {
  const cut: WalkGroup[][] = []
  let signals = Number.POSITIVE_INFINITY
  for (const group of groups) {
    if (signals + group.points.length > SIGNALS_AT_ONCE) {
      cut.push([])
      signals = 0
    }
    cut.at(-1)!.push(group)
    signals += group.points.length
  }
  return cut
}
