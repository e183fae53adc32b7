/** Imports a folder of point files as one building, runs the rules over it and prints their findings. */
import { rmSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Equipment } from '#shared/core/model/model.ts'
import { DAY, formatInstant, parseInstant } from '#shared/core/time.ts'
import { readPointFiles, unpackInto } from './point-files.ts'
import type { PointMap } from './point-names.ts'
import { type FindingView, openSession, type RunReply, type Session } from './session.ts'

type ImportOptions = { map: PointMap; timezone: string | undefined; days: number }
type EquipmentFindings = { equipment_id: string; equipment_type: string; findings: FindingView[]; silenced: number }
export type ImportReport = {
  building_id: string
  timezone: string
  files: number
  /** Points with a role, and in all. */
  mapped: number
  points: number
  rows: number
  rejected: number
  /** Files without a row, and files whose equipment is unknown. */
  empty: string[]
  homeless: string[]
  from: string
  to: string
  equipment: EquipmentFindings[]
  failed: RunReply['failed']
}

/** Zones that their abbreviations name beyond doubt. @source IANA tz database */
const ZONES: Record<string, string> = {
  ...{ EST: 'America/New_York', EDT: 'America/New_York', CST: 'America/Chicago', CDT: 'America/Chicago' },
  ...{ MST: 'America/Denver', MDT: 'America/Denver', PST: 'America/Los_Angeles', PDT: 'America/Los_Angeles' },
  ...{ GMT: 'Europe/London', BST: 'Europe/London', CET: 'Europe/Berlin', CEST: 'Europe/Berlin', UTC: 'UTC' },
}
/** Spacing that the manifest states; the spacing found counts. */
const GRID_MINUTES = 5

export async function importPoints(dir: string, options: ImportOptions): Promise<ImportReport> {
  const session = await openSession()
  try {
    return await importInto(session, dir, options)
  } finally {
    await session.close()
  }
}

/** Leaves the building in `session`. */
export async function importInto(
  session: Session,
  dir: string,
  { map, timezone: told, days }: ImportOptions,
): Promise<ImportReport> {
  const { dirs, temporary } = unpackInto(dir)
  const found = readPointFiles(dirs, map)
  for (const folder of temporary) rmSync(folder, { recursive: true })
  if (found.equipment.length === 0) throw new Error(`${dir} holds no point file whose equipment its name tells`)
  const timezone = told ?? zoneOf(found.zones)
  const building_id = basename(resolve(dir)).replace(/[^A-Za-z0-9._-]/g, '-')
  const [date_order, ...contradicting] = found.orders
  const order = date_order && contradicting.length === 0 ? { date_order } : {}
  const contents = { building_id, timezone, grid_minutes: GRID_MINUTES, ...order, equipment: found.equipment }
  const { rows_written, rows_rejected } = await session.importPackage(contents)
  await connect(building_id, session)
  const span = await spanOf(building_id, days, session)
  const { failed } = await session.post<RunReply>('/api/fdd/run', { building_id, ...span })
  return {
    building_id,
    timezone,
    files: found.files,
    mapped: found.equipment.reduce((sum, { points }) => sum + Object.keys(points).length, 0),
    points: found.equipment.reduce((sum, { tables }) => sum + tables.length, 0),
    rows: rows_written,
    rejected: rows_rejected,
    empty: found.empty,
    homeless: found.homeless,
    ...span,
    equipment: await findingsOf(building_id, session),
    failed,
  }
}

function zoneOf(stated: Set<string>): string {
  const zones = new Set([...stated].map(zone => ZONES[zone]))
  const [only] = zones
  if (zones.size !== 1 || only === undefined) throw new Error('the files do not say where they are from: give --timezone')
  return only
}

/** A building's only air handler feeds its boxes. */
async function connect(building_id: string, session: Session): Promise<void> {
  const all = await session.list<Equipment>(`/api/model/equipment?building_id=${building_id}`, 'equipment')
  const [handler, ...others] = all.filter(({ equipment_type }) => equipment_type === 'ahu' || equipment_type === 'rtu')
  const boxes = all.filter(({ equipment_type }) => equipment_type === 'vav')
  if (!handler || others.length > 0 || boxes.length === 0) return
  const feeds = boxes.map(({ equipment_id }) => equipment_id)
  const fed = boxes.map(box => ({ ...box, parent_id: handler.equipment_id }))
  await session.post('/api/model/equipment', { equipment: [{ ...handler, feeds }, ...fed] })
}

/** The last days of the building's history; it ends where half of the points have ended, for exports end raggedly. */
async function spanOf(building_id: string, days: number, session: Session): Promise<{ from: string; to: string }> {
  const { columns } = await session.get<Mapping>(`/api/csv/import/package/mapping?building_id=${building_id}`)
  const ends = columns.flatMap(({ last_at }) => (last_at === null ? [] : [parseInstant(last_at)!])).toSorted((a, b) => a - b)
  const last = ends[ends.length >> 1]!
  return { from: formatInstant(last - days * DAY), to: formatInstant(last + 1000) }
}
type Mapping = { columns: { last_at: string | null }[] }

async function findingsOf(building_id: string, session: Session): Promise<EquipmentFindings[]> {
  const equipment = await session.list<Equipment>(`/api/model/equipment?building_id=${building_id}`, 'equipment')
  const findings = await session.list<FindingView>(`/api/fdd/findings?building_id=${building_id}`, 'findings')
  return equipment
    .map(({ equipment_id, equipment_type }) => {
      const own = findings.filter(finding => finding.equipment_id === equipment_id).toSorted((a, b) => (a.from < b.from ? -1 : 1))
      const said = own.filter(({ suppressed_by }) => suppressed_by === undefined)
      return { equipment_id, equipment_type, findings: said, silenced: own.length - said.length }
    })
    .toSorted((a, b) => a.equipment_id.localeCompare(b.equipment_id, 'en', { numeric: true }))
}
