/** Gathers point files, one CSV for each point as building systems export them, into equipment with tables. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { withoutUnit } from '#shared/core/csv/header-names.ts'
import type { DateOrder } from '#shared/core/csv/timestamp.ts'
import { openTimeline } from '#shared/core/csv/timeline.ts'
import { INSTANT_END } from '#shared/core/time.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { type PackageEquipment, csvCell } from './package.ts'
import { equipmentOf, type NamedEquipment, type PointMap, roleOfPoint } from './point-names.ts'

type PointFiles = {
  equipment: PackageEquipment[]
  files: number
  rows: number
  /** Files that hold a header and nothing else. */
  empty: string[]
  /** Files whose name contains no equipment, alone in their folder or not. */
  homeless: string[]
  /** Zones that the times state, such as CST. */
  zones: Set<string>
  /** Order of day and month, from the files that decide it; one export has one order. */
  orders: Set<DateOrder>
}

/** State texts of flags; anything else in a flag stays as it is and is judged by the import. */
const FLAGS: Record<string, string> = {
  ...{ on: '1', off: '0', true: '1', false: '0', occ: '1', unocc: '0', occupied: '1', unoccupied: '0' },
  ...{ active: '1', inactive: '0', enabled: '1', disabled: '0', yes: '1', no: '0' },
}
/** The zone that a time ends in. */
const ZONE = / ([A-Z]{3,4})$/

/** Unpacks every archive of a folder. @returns the folders to read, and the temporary ones among them */
export function unpackInto(dir: string): { dirs: string[]; temporary: string[] } {
  const archives = readdirSync(dir).filter(name => /\.(tar\.gz|tgz)$/.test(name))
  const temporary = archives.map(name => {
    const target = mkdtempSync(join(tmpdir(), 'plenum-points-'))
    execFileSync('tar', ['-xzf', join(dir, name), '-C', target, '--no-same-owner', '--no-same-permissions'])
    return target
  })
  return { dirs: [dir, ...temporary], temporary }
}

/** Reads all point files below the folders. Where a name is incomplete, the other files of its folder are used. */
export function readPointFiles(dirs: string[], map: PointMap): PointFiles {
  const paths = dirs.flatMap(dir =>
    (readdirSync(dir, { recursive: true }) as string[])
      .filter(path => path.toLowerCase().endsWith('.csv'))
      .map(path => join(dir, path)),
  )
  const named = new Map(paths.toSorted().map(path => [path, equipmentOf(nameOf(path), map)]))
  const found: PointFiles = {
    equipment: [],
    files: paths.length,
    rows: 0,
    empty: [],
    homeless: [],
    zones: new Set(),
    orders: new Set(),
  }
  for (const [path, own] of named) {
    const home = own ?? neighbour(path, named)
    if (!home) found.homeless.push(basename(path))
    else addFile(path, home, map, found)
  }
  return found
}

const nameOf = (path: string): string => basename(path).replace(/\.csv$/i, '')

/** The equipment of a file that names none: the only one that the folder's other files name. */
function neighbour(path: string, named: Map<string, NamedEquipment | undefined>): NamedEquipment | undefined {
  const others = [...named].flatMap(([other, home]) => (home && dirname(other) === dirname(path) ? [home] : []))
  const [only, ...more] = new Map(others.map(home => [home.equipment_id, home])).values()
  return only && more.length === 0 ? { ...only, point: nameOf(path) } : undefined
}

function addFile(path: string, home: NamedEquipment, map: PointMap, found: PointFiles): void {
  const [header = [], ...rows] = parse(readFileSync(path), {
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
  }) as string[][]
  if (rows.length === 0) {
    found.empty.push(basename(path))
    return
  }
  const { point, equipment_id, equipment_type } = home
  const known = roleOfPoint(point, equipment_type, map)
  const unit = unitCode(withoutUnit(header[1] ?? '').unit ?? '-') ?? known?.unit
  const flag = known !== undefined && ROLES[known.role]!.kind === 'bool'
  const value = (cell: string) => (flag ? (FLAGS[cell.trim().toLowerCase()] ?? cell) : cell)
  const lines = rows.map(([time = '', cell = '']) => `${csvCell(time)},${csvCell(value(cell))}`)
  let equipment = found.equipment.find(known => known.equipment_id === equipment_id)
  if (!equipment) found.equipment.push((equipment = { equipment_id, equipment_type, points: {}, units: {}, tables: [] }))
  equipment.tables.push({ name: `${point}.csv`, text: [`timestamp,${csvCell(point)}`, ...lines].join('\n') })
  if (known) equipment.points[known.role] = point
  if (unit) equipment.units[point] = unit
  found.rows += rows.length
  const zone = ZONE.exec(rows[0]![0]!.trim())?.[1]
  if (zone) found.zones.add(zone)
  const order = orderOf(rows.map(([time = '']) => time))
  if (order) found.orders.add(order)
}

function orderOf(times: string[]): DateOrder | undefined {
  const timeline = openTimeline(undefined, undefined, INSTANT_END)
  for (const [row, time] of times.entries()) timeline.add(time, row)
  const end = timeline.end()
  return 'ambiguous' in end ? undefined : end.order
}
