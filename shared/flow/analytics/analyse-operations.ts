import { type FaultHours, faultHours } from '#shared/core/analytics/fault-hours.ts'
import { sumOperations, type OperationSums, createOperationsTally } from '#shared/core/analytics/operations.ts'
import { type OperationPlan, planOperations } from '#shared/core/analytics/operations-plan.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import type { FindingReader, Notes } from '#shared/core/ports.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'
import { loadSpans, type AnalyticsPorts, type AnalyticsSpan } from './analytics-span.ts'
import { walkHistory, type WalkGroup } from './walk-history.ts'

export type OperationsJob = AnalyticsSpan & {
  timezone: string
  equipment: Equipment[]
  points: Point[]
  /** The end of open findings, ms. */
  now: number
}
type OperationsPorts = AnalyticsPorts & { findings: Pick<FindingReader, 'list'>; notes: Pick<Notes, 'get'> }

export type EquipmentOperations = FaultHours &
  Pick<Equipment, 'equipment_id' | 'name' | 'equipment_type'> & {
    sums: OperationSums
    /** Undefined for equipment without a proof of running or a zone temperature. */
    plan: Pick<OperationPlan, 'run_role' | 'comfort_time' | 'comfort_limits'> | undefined
  }
export type Operations = {
  equipment: EquipmentOperations[]
  /** The building days of the span: beginning, and the sums of all equipment. */
  days: { at: number; sums: OperationSums }[]
  /** Hours in which any equipment of the building was in fault. */
  building: FaultHours
  /** Set when only the newest findings were counted. */
  findings_cut?: number
}

/** Maximum number of findings of a span. */
const FINDINGS_MAX = 10_000
/** Signals that are read at once; a year of minutes of them is read in chunks of a month. */
const SIGNALS_AT_ONCE = 24
const NO_FAULT: FaultHours = { fault_hours: 0, findings: 0, open: 0 }

/** The operation of a building's equipment, and how long it was in fault. */
export async function analyseOperations(job: OperationsJob, ports: OperationsPorts): Promise<Operations> {
  const { building_id, from, to, now } = job
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

  const listed = ports.findings.list({ building_id, from, to, limit: FINDINGS_MAX })
  const findings = listed.filter(({ finding_id }) => ports.notes.get(finding_id).not_a_fault === undefined)
  const faults = faultHours(findings, from, to, now)
  const byId = new Map(tallies.map(one => [one.plan.equipment.equipment_id, one]))
  const days = bounds.slice(0, -1).map((at, i) => ({ at, sums: sumOperations(tallies.map(({ tally }) => tally.days[i]!)) }))
  return {
    equipment: job.equipment.flatMap(({ equipment_id, name, equipment_type }) => {
      const known = byId.get(equipment_id)
      const fault = faults.get(equipment_id)
      if (!known && !fault) return []
      const sums = sumOperations(known?.tally.days ?? [])
      return [{ equipment_id, name, equipment_type, sums, plan: known && shownPlan(known.plan), ...(fault ?? NO_FAULT) }]
    }),
    days,
    building: wholeBuilding(findings, job),
    ...(listed.length === FINDINGS_MAX && { findings_cut: FINDINGS_MAX }),
  }
}

/** Equipment and points stay in this process: the answer is sent to another. */
const shownPlan = ({ run_role, comfort_time, comfort_limits }: OperationPlan): EquipmentOperations['plan'] => ({
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

const wholeBuilding = (findings: Finding[], { from, to, now }: OperationsJob): FaultHours =>
  faultHours(
    findings.map(finding => ({ ...finding, equipment_id: '' })),
    from,
    to,
    now,
  ).get('') ?? NO_FAULT
