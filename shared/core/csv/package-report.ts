/** The report of a preflight: the effect of an import on each table and column. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { formatInstant, MINUTE } from '../time.ts'
import { offsetAt } from '#shared/core/time-zone.ts'
import type { AgentHint } from '../problem.ts'
import { type Check, hintsFor, type CheckVerdict, worstVerdict } from './checks.ts'
import type { Column } from './column.ts'
import type { LinkReport } from './links/link-report.ts'
import type { ScannedTable } from './package-plan.ts'
import type { RoleProposals } from './role-proposals.ts'
import type { ScanResult } from './table-scan.ts'

type ColumnReport = Pick<Column, 'header' | 'status'> & {
  role: string | null
  unit: string
  /** The most likely role of a column without one; proposed, never applied. */
  suggestion?: string
  confidence?: number
  why?: string[]
}
type EquipmentReport = {
  equipment_id: string
  equipment_type: EquipmentType
  rows: number
  first_at: string | null
  last_at: string | null
  /** The same in the time of the building. */
  first_at_local: string | null
  last_at_local: string | null
  grid_minutes_seen: number | null
  columns: ColumnReport[]
}
export type PackageReport = {
  verdict: CheckVerdict
  can_execute: boolean
  building_id: string | null
  timezone: string | null
  rows_in: number
  rows_rejected: number
  equipment: EquipmentReport[]
  /** Links between equipment that rules need. */
  links: LinkReport
  checks: Check[]
  agent_hints: AgentHint[]
}

/** @param timezone time zone of the building; null when unknown */
export function reportPackage(
  building_id: string | null,
  timezone: string | null,
  scanned: ScannedTable[],
  proposals: RoleProposals,
  links: LinkReport,
  checks: Check[],
): PackageReport {
  const verdict = worstVerdict(checks)
  // Rows of a table in which several equipment have columns count once.
  const files = [...new Map(scanned.map(({ file, scan }) => [file, scan])).values()]
  const sum = (count: (scan: ScanResult) => number) => files.reduce((total, scan) => total + count(scan), 0)
  return {
    verdict,
    can_execute: verdict !== 'fail',
    building_id,
    timezone,
    rows_in: sum(({ rows_in }) => rows_in),
    rows_rejected: sum(({ rows_rejected }) => rows_rejected),
    equipment: [...Map.groupBy(scanned, ({ equipment_id }) => equipment_id).values()].map(tables =>
      reportEquipment(tables, timezone, proposals),
    ),
    links,
    checks,
    agent_hints: hintsFor(checks),
  }
}

function reportEquipment(tables: ScannedTable[], timezone: string | null, proposals: RoleProposals): EquipmentReport {
  const { equipment_id, equipment_type } = tables[0]!
  const times = tables.flatMap(({ scan }) => (scan.timeline && scan.timeline.rows > 0 ? [scan.timeline] : []))
  const first = times.length ? Math.min(...times.map(time => time.first)) : undefined
  const last = times.length ? Math.max(...times.map(time => time.last)) : undefined
  const steps = times.flatMap(({ step }) => (step === undefined ? [] : [step]))
  const local = (ms: number | undefined) => (ms === undefined || timezone === null ? null : formatWall(ms, timezone))
  return {
    equipment_id,
    equipment_type,
    rows: times.reduce((rows, time) => rows + time.rows, 0),
    first_at: first === undefined ? null : formatInstant(first),
    last_at: last === undefined ? null : formatInstant(last),
    first_at_local: local(first),
    last_at_local: local(last),
    grid_minutes_seen: steps.length ? Math.min(...steps) / MINUTE : null,
    columns: tables.flatMap(({ columns }) =>
      columns.map((column): ColumnReport => {
        const { header, role, unit, status } = column
        const [first] = proposals.get(column) ?? []
        const proposed = first && { suggestion: first.role, confidence: first.confidence, why: first.why }
        return { header, role: role ?? null, unit, status, ...proposed }
      }),
    ),
  }
}

/** @returns for example `2026-03-01 05:00:00 America/Chicago` */
const formatWall = (ms: number, timezone: string) =>
  `${new Date(ms + offsetAt(ms, timezone)).toISOString().slice(0, 19).replace('T', ' ')} ${timezone}`
