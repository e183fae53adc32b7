/** What an import will do, settled by its preflight, and what the preflight says of it. */
import type { Building, Equipment, EquipmentType, Point } from '#shared/core/model/model.ts'
import { formatInstant, MINUTE } from '../time.ts'
import { offsetAt } from '#shared/core/time-zone.ts'
import type { AgentHint } from '../problem.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'
import { type Check, hintsFor, type Verdict, verdictOf } from './checks.ts'
import { type Column, pointId } from './columns.ts'
import type { Manifest } from './manifest.ts'
import { untrustedAfter } from './quality.ts'
import type { TablePlan } from './rows.ts'
import type { LinkReport } from './link-report.ts'
import type { Proposals } from './propose.ts'
import type { Scan } from './table-scan.ts'

/** What the model holds of a package's building, equipment and points. */
export type PackageModel = { building?: Building; equipment: Equipment[]; points: Point[] }

/** Everything an import needs, as plain data. */
export type PackagePlan = {
  building: Building
  equipment: Equipment[]
  points: Point[]
  tables: TablePlan[]
  /** What the model held when this was settled. */
  before: PackageModel
}

type ColumnReport = Pick<Column, 'header' | 'status'> & {
  role: string | null
  unit: string
  /** The likeliest role of a column without one; proposed, never applied. */
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
  /** The same in building time. */
  first_at_local: string | null
  last_at_local: string | null
  grid_minutes_seen: number | null
  columns: ColumnReport[]
}
export type PackageReport = {
  verdict: Verdict
  can_execute: boolean
  building_id: string | null
  timezone: string | null
  rows_in: number
  rows_rejected: number
  equipment: EquipmentReport[]
  /** Links between equipment that rules wait for. */
  links: LinkReport
  checks: Check[]
  agent_hints: AgentHint[]
}

/** One table after its scan. */
export type ScannedTable = {
  equipment_id: string
  equipment_type: EquipmentType
  table: Omit<TablePlan, 'columns'>
  columns: Column[]
  scan: Scan
  /** Windows within which the package vouches for its data; undefined where it does so for all. */
  trusted?: readonly UntrustedSpan[] | undefined
}

/** The building as the package and the model know it. */
export function planBuilding(manifest: Manifest, known: Building | undefined, site_id: string): Building {
  if (known) return known
  const { building_id, timezone = 'UTC', unit_system = 'si' } = manifest
  return { building_id, name: building_id, site_id, timezone, unit_system }
}

/**
 * The points that the tables' columns become, and the tables that name them.
 *
 * @param known points of the building so far; a column whose header a point of its equipment has stays that point
 */
export function planPoints(
  building_id: string,
  scanned: ScannedTable[],
  known: Point[],
): { points: Point[]; tables: TablePlan[] } {
  const taken = new Set(known.map(({ point_id }) => point_id))
  const numbers = new Map<string, number>()
  const planned = new Map<string, Point>()
  const tables = scanned.map(({ equipment_id, table, scan, trusted }): TablePlan => {
    const { timeline } = scan
    const span: UntrustedSpan | undefined = timeline && timeline.rows > 0 ? [timeline.first, timeline.last + 1] : undefined
    const columns = scan.columns.map(column => {
      const { header, name, role, historyUnit, kind, states, index, scale, offset } = column
      const key = JSON.stringify([equipment_id, header])
      const before = planned.get(key) ?? column.point
      const point_id = before?.point_id ?? pointId(equipment_id, header, taken, numbers)
      taken.add(point_id)
      const untrusted = span ? untrustedAfter(before?.source.untrusted, span, trusted) : (before?.source.untrusted ?? [])
      const source = { protocol: 'csv', address: header, ...(untrusted.length > 0 && { untrusted }) } as const
      const own = {
        name: before?.name ?? name ?? header,
        unit: historyUnit,
        kind,
        source,
      }
      const more = { ...(role !== undefined && { role }), ...(states && { states }) }
      planned.set(key, { ...before, point_id, building_id, equipment_id, ...own, ...more })
      return { index, point_id, scale, offset, states }
    })
    return { ...table, columns }
  })
  return { points: [...planned.values()], tables }
}

/** @param timezone of the building; null when it is not known */
export function reportPackage(
  building_id: string | null,
  timezone: string | null,
  scanned: ScannedTable[],
  proposals: Proposals,
  links: LinkReport,
  checks: Check[],
): PackageReport {
  const verdict = verdictOf(checks)
  const sum = (count: (scan: Scan) => number) => scanned.reduce((total, { scan }) => total + count(scan), 0)
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

function reportEquipment(tables: ScannedTable[], timezone: string | null, proposals: Proposals): EquipmentReport {
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
