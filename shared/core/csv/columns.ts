/** Plans the columns of a table from header, column map, manifest and existing points. */
import { nameTable } from '#shared/core/name-table.ts'
import type { EquipmentType, Point, PointKind } from '#shared/core/model/model.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { canonicalUnit, conversion, unitCode, UNITS } from '#shared/core/model/unit.ts'
import type { CheckReport } from './checks.ts'
import type { ColumnNotes } from './column-list.ts'
import type { Column, Units } from './column.ts'
import { planBoth, settledRole } from './command-or-speed.ts'
import { type ColumnMap, COLUMNS_MAX } from './package-json.ts'
import { roleOfName, withoutUnit } from './header-names.ts'
import { TABLE_NAME } from './package-files.ts'
import { withoutGuard } from './write-csv.ts'

type ColumnContext = {
  /** Path of the table within its package. */
  place: string
  equipmentType: EquipmentType
  /** Undefined for weather, whose headers are role names. */
  map: ColumnMap | undefined
  unitSystem: 'us' | 'si' | undefined
  /** Entries of `columns.csv`; the column map takes precedence. */
  notes?: ColumnNotes
  /** Points of the equipment that packages have imported. */
  points: Point[]
  checks: CheckReport
}

/** Maximum length of a header; it becomes the name of a point in lists and plots. */
export const HEADER_MAX = 200
const EXAMPLES = 3

/** Usual US units by dimension; every other dimension has one unit everywhere. */
const US_UNITS = nameTable<string>({ temperature: 'degF', pressure: 'inwc', flow: 'cfm' })
/** Units of water, which differ from those of air. */
const US_ROLE_UNITS = nameTable<string>({ chw_flow: 'gpm', chw_dp: 'psi', chw_dp_sp: 'psi' })
/** Headers without a meaning; the point is then named after the file. */
const NAMELESS = new Set(['value', 'values', 'present value', 'pv'])
/** Headers of what is said of a single value beside it. */
const QUALIFIER = /^(?:trend[ _-]?)?(?:status|flags?|quality|qualität)$/i

/**
 * Names the columns of a header row: without surrounding blanks, and a single `Value (°F)` after its file, also beside its status.
 *
 * @returns one name for each cell; the first is that of the timestamp
 */
export function nameColumns(cells: string[], path: string): string[] {
  const names = cells.map((cell, i) => withoutGuard(cell.trim()) || `column ${i + 1}`)
  const at = names.findIndex((name, i) => i > 0 && NAMELESS.has(withoutUnit(name).name.toLowerCase()))
  if (at < 0 || names.some((name, i) => i > 0 && i !== at && !QUALIFIER.test(name))) return names
  const { unit } = withoutUnit(names[at]!)
  const stem = path.slice(path.lastIndexOf('/') + 1).replace(TABLE_NAME, '')
  return names.with(at, unit === undefined ? stem : `${stem} (${unit})`)
}

/** Checks a header row. @returns whether its columns can be planned */
export function checkHeader(cells: string[], place: string, checks: CheckReport): boolean {
  if (cells.length > COLUMNS_MAX) {
    checks.add('columns_too_many', place, `has ${cells.length} columns; at most ${COLUMNS_MAX} are accepted`)
    return false
  }
  const long = cells.filter(cell => cell.trim().length > HEADER_MAX)
  if (long.length === 0) return true
  const examples = long.slice(0, EXAMPLES).map(cell => `${cell.trim().slice(0, 40)} … has ${cell.trim().length} letters`)
  checks.add('header_too_long', place, `headers are longer than ${HEADER_MAX} characters`, { examples, count: long.length })
  return false
}

/**
 * @param found cells that a date and a time of day were found in; what the map says goes before
 * @returns the cells of a record that are its time, in order; undefined where it is the first cell
 */
export function timeCells(
  names: string[],
  found: readonly number[] | undefined,
  { map, place, checks }: Pick<ColumnContext, 'map' | 'place' | 'checks'>,
): readonly number[] | undefined {
  if (!map?.time_columns) {
    if (found) checks.add('time_found', place, `has its time in two columns: ${found.map(i => names[i]).join(', ')}`)
    return found
  }
  const cells = map.time_columns.map(header => names.indexOf(header.trim()))
  const missing = map.time_columns.filter((_, i) => cells[i]! < 0)
  if (missing.length === 0) return cells
  checks.add('column_missing', place, 'columns of the time are not in the table', { examples: missing, severity: 'error' })
  return undefined
}

/**
 * @param names from `nameColumns`
 * @param time from `timeCells`
 */
export function planColumns(names: string[], time: readonly number[] | undefined, context: ColumnContext): Column[] {
  const { place, map, checks, equipmentType, notes } = context
  const roles = rolesByHeader(context)
  const units = unitsByHeader(map, notes)
  const points = new Map(context.points.map(point => [point.source.address, point]))
  const taken = new Set<string>()
  const wanted = map?.columns && new Set(map.columns.map(header => header.trim()))
  const cells = [...names.keys()].filter(i => !(time ?? [0]).includes(i) && (wanted === undefined || wanted.has(names[i]!)))
  const headers = cells.map(i => names[i]!)
  const meant = headers.map(header => {
    const bare = withoutUnit(header).name
    const named = roles.get(header) ?? roles.get(bare) ?? (notes?.get(header) ?? notes?.get(bare))?.role
    const point = points.get(header)
    return settledRole(named, point) ?? point?.role ?? (map ? undefined : roleOfName(header, equipmentType))
  })
  const all = new Set(meant)
  return headers.map((header, i) => {
    const point = points.get(header)
    const role = meant[i]
    const twice = role !== undefined && taken.has(role)
    if (twice)
      checks.add('column_ambiguous', place, 'more than one column is mapped to a role', { examples: [`${header}: ${role}`] })
    if (role !== undefined) taken.add(role)
    const status = twice ? 'ambiguous' : role === undefined ? 'unmapped' : 'mapped'
    const mapped = twice ? undefined : role
    const own =
      planBoth(mapped, point, all, (as, held, beside) => unitsOf(header, as, beside, units, { ...context, checks: held })) ??
      unitsOf(header, mapped, point, units, context)
    const name = (notes?.get(header) ?? notes?.get(withoutUnit(header).name))?.name
    return { index: cells[i]!, header, role: mapped, status, point, ...(name !== undefined && { name }), ...own }
  })
}

/** Header → role from the column map; unknown role names are reported. */
function rolesByHeader({ map, place, equipmentType, checks }: ColumnContext): Map<string, string> {
  const roles = new Map<string, string>()
  const unknown: string[] = []
  for (const [name, header] of Object.entries(map?.points ?? {})) {
    const role = roleOfName(name, equipmentType)
    if (role) roles.set(header.trim(), role)
    else unknown.push(name)
  }
  if (unknown.length) {
    const examples = unknown.slice(0, EXAMPLES).map(name => name.slice(0, HEADER_MAX))
    checks.add('column_unmapped', `${place}, column_map.json`, 'role names are unknown', {
      examples: examples.map(name => `${name}: perhaps ${nearestRoles(name).join(', ')}`),
      count: unknown.length,
    })
  }
  return roles
}

/** Header → unit from the column map, otherwise from the list. */
function unitsByHeader(map: ColumnMap | undefined, notes: ColumnNotes = new Map()): Map<string, string> {
  const listed = [...notes].flatMap(([header, { unit }]) => (unit === undefined ? [] : [[header, unit] as const]))
  // The first of several headers that differ only in blanks applies.
  return new Map([
    ...listed,
    ...Object.entries(map?.units ?? {})
      .map(([header, unit]) => [header.trim(), unit] as const)
      .toReversed(),
  ])
}

function unitsOf(
  header: string,
  role: string | undefined,
  point: Point | undefined,
  given: ReadonlyMap<string, string>,
  context: ColumnContext,
): Units {
  const { place, checks } = context
  const { unit, stated } = fileUnit(header, role, point, given, context)
  const wanted = role && ROLES[role]!.unit
  if (wanted && !conversion(unit, wanted)) {
    checks.add('unit_mismatch', place, `${unit} does not fit the quantity of the role`, {
      examples: [`${header}: ${role} in ${unit}`],
    })
  }
  const historyUnit = point?.unit ?? unit
  const way = conversion(unit, historyUnit)
  if (!way) {
    const example = `${header}: ${unit} beside ${historyUnit}`
    checks.add('unit_conflict', place, 'the unit cannot be converted to that of the stored history', { examples: [example] })
  }
  return { unit, historyUnit, unitStated: stated, ...(way ?? { scale: 1, offset: 0 }) }
}

/** The unit of the numbers in the file: as stated, otherwise from the header, the point or the role. */
function fileUnit(
  header: string,
  role: string | undefined,
  point: Point | undefined,
  units: ReadonlyMap<string, string>,
  context: ColumnContext,
) {
  const { place, checks, unitSystem } = context
  const kind = role && ROLES[role]!.kind
  const { name, unit: inHeader } = withoutUnit(header)
  const given = units.get(header) ?? units.get(name)
  if (given !== undefined) {
    const unit = unitCode(given)
    // A flag in percent or as a fraction is still 0 or 1.
    if (unit) return { unit: unit === 'fraction' && kind === 'bool' ? 'bool' : unit, stated: true }
    checks.add('unit_unknown', place, `column ${header} has the unit ${JSON.stringify(given)}, which is unknown`)
  }
  if (kind === 'bool' || kind === 'enum') return { unit: kind as string, stated: true }
  const read = inHeader === undefined ? undefined : unitCode(inHeader)
  if (read) {
    checks.add('unit_from_header', place, 'units are read from headers', { examples: [`${header}: ${read}`] })
    return { unit: read, stated: true }
  }
  if (point) return { unit: point.unit, stated: true }
  if (!role) return { unit: 'count', stated: false }
  const unit = roleUnit(role, unitSystem)
  if (given === undefined) {
    checks.add('unit_missing', place, 'columns have no unit; the default is used', { examples: [`${header}: ${unit}`] })
  }
  return { unit, stated: false }
}

function roleUnit(role: string, system: 'us' | 'si' | undefined): string {
  const { dimension } = UNITS[ROLES[role]!.unit]!
  if (system === 'us') return US_ROLE_UNITS[role] ?? US_UNITS[dimension] ?? ROLES[role]!.unit
  return system === 'si' ? canonicalUnit(dimension) : ROLES[role]!.unit
}

/** @returns whether texts of a column may be states; those of a temperature are not */
export function takesStates({ role, point, unit }: Pick<Column, 'role' | 'point' | 'unit'>): boolean {
  if (role !== undefined) return ROLES[role]!.kind !== 'number'
  if (point) return point.kind !== 'number'
  return UNITS[unit]!.dimension === 'none'
}

/** @returns the kind of point, from its role, its unit and whether it holds texts */
export function kindOf(role: string | undefined, unit: string, states: string[] | undefined): PointKind {
  if (role) return ROLES[role]!.kind
  if (unit === 'bool') return 'bool'
  if (states === undefined && unit !== 'enum') return 'number'
  return states?.length === 2 ? 'bool' : 'enum'
}

const slug = (text: string) => text.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^_+|_+$/g, '')

/**
 * An id for the point of a column: equipment id and header, in the characters of ids.
 *
 * @param numbers the last number by wording. It is passed from call to call; otherwise ten thousand similar headers would be
 *   counted again for each.
 */
export function pointId(equipment_id: string, header: string, taken: ReadonlySet<string>, numbers: Map<string, number>): string {
  const base = `${equipment_id}.${slug(withoutUnit(header).name) || 'point'}`.slice(0, 120)
  for (let n = numbers.get(base) ?? 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`
    if (taken.has(id)) continue
    numbers.set(base, n)
    return id
  }
}
