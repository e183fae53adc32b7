/** What each column of a table is: from its header, the column map, the manifest and the points that are there already. */
import type { EquipmentType, Point, PointKind } from '#shared/core/model/model.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { canonicalUnit, conversion, unitCode, UNITS } from '#shared/core/model/unit.ts'
import type { CheckReport } from './checks.ts'
import type { ColumnNotes } from './column-list.ts'
import type { Column, Units } from './column.ts'
import { planBoth, settledRole } from './command-or-speed.ts'
import type { ColumnMap } from './package-json.ts'
import { roleOfName, withoutUnit } from './header-names.ts'

type ColumnContext = {
  /** Path of the table within its package. */
  place: string
  equipmentType: EquipmentType
  /** Undefined for weather, whose headers are role names. */
  map: ColumnMap | undefined
  unitSystem: 'us' | 'si' | undefined
  /** What a list of columns beside the map says; the map counts before it. */
  notes?: ColumnNotes
  /** Points of the equipment that packages have brought. */
  points: Point[]
  checks: CheckReport
}

/** Most columns of a table, its timestamp included: the points of several thousand rooms. Another table takes the rest. */
export const COLUMNS_MAX = 10_000
/** Longest header; it names a point, and lists and plots show it. */
export const HEADER_MAX = 200
const EXAMPLES = 3

/** Units of the trade, by dimension; every other dimension has one unit for all. */
const US_UNITS: Record<string, string> = { temperature: 'degF', pressure: 'inwc', flow: 'cfm' }
/** Water is not measured as air is. */
const US_ROLE_UNITS: Record<string, string> = { chw_flow: 'gpm', chw_dp: 'psi', chw_dp_sp: 'psi' }
/** Headers that say nothing; the file's own name then names the point. */
const NAMELESS = new Set(['value', 'values', 'present value', 'pv'])

/**
 * Names the columns of a header row: without surrounding blanks, and a lone `Value (°F)` after its file.
 *
 * @returns one name a cell, the first being the timestamp's
 */
export function nameColumns(cells: string[], path: string): string[] {
  const names = cells.map((cell, i) => cell.trim() || `column ${i + 1}`)
  const [time = '', only] = names
  if (names.length !== 2 || !NAMELESS.has(withoutUnit(only!).name.toLowerCase())) return names
  const { unit } = withoutUnit(only!)
  const stem = path.slice(path.lastIndexOf('/') + 1).replace(/\.csv$/i, '')
  return [time, unit === undefined ? stem : `${stem} (${unit})`]
}

/** Complains of a header row that no table of ours can have. @returns whether its columns can be planned */
export function checkHeader(cells: string[], place: string, checks: CheckReport): boolean {
  if (cells.length > COLUMNS_MAX) {
    checks.add('columns_too_many', place, `has ${cells.length} columns; at most ${COLUMNS_MAX} are taken`)
    return false
  }
  const long = cells.filter(cell => cell.trim().length > HEADER_MAX)
  if (long.length === 0) return true
  const examples = long.slice(0, EXAMPLES).map(cell => `${cell.trim().slice(0, 40)} … has ${cell.trim().length} letters`)
  checks.add('header_too_long', place, `headers are longer than ${HEADER_MAX} letters`, { examples, count: long.length })
  return false
}

/** @param names as `nameColumns` gives them */
export function planColumns(names: string[], context: ColumnContext): Column[] {
  const { place, map, checks, equipmentType, notes } = context
  const roles = rolesByHeader(context)
  const units = unitsByHeader(map, notes)
  const points = new Map(context.points.map(point => [point.source.address, point]))
  const taken = new Set<string>()
  const headers = names.slice(1)
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
    return { index: i + 1, header, role: mapped, status, point, ...(name !== undefined && { name }), ...own }
  })
}

/** Header → role, as the column map says; complains of names that are no role. */
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
    checks.add('column_unmapped', `${place}, column_map.json`, 'names are no role', {
      examples: examples.map(name => `${name}: perhaps ${nearestRoles(name).join(', ')}`),
      count: unknown.length,
    })
  }
  return roles
}

/** Header → unit as written in the column map, else in the list. */
function unitsByHeader(map: ColumnMap | undefined, notes: ColumnNotes = new Map()): Map<string, string> {
  const listed = [...notes].flatMap(([header, { unit }]) => (unit === undefined ? [] : [[header, unit] as const]))
  // Of headers that differ in blanks only, the first counts.
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
    checks.add('unit_mismatch', place, `${unit} is not a unit of what the role measures`, {
      examples: [`${header}: ${role} in ${unit}`],
    })
  }
  const historyUnit = point?.unit ?? unit
  const way = conversion(unit, historyUnit)
  if (!way) {
    const example = `${header}: ${unit} beside ${historyUnit}`
    checks.add('unit_conflict', place, 'the unit does not fit the history that is there', { examples: [example] })
  }
  return { unit, historyUnit, unitStated: stated, ...(way ?? { scale: 1, offset: 0 }) }
}

/** The unit of a file's numbers: as stated, else as the header says, as the point has it, or as the role has it. */
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
    // A flag that is written as a share is 0 or 1 all the same.
    if (unit) return { unit: unit === 'fraction' && kind === 'bool' ? 'bool' : unit, stated: true }
    checks.add('unit_unknown', place, `column ${header} has the unit ${JSON.stringify(given)}, which is not known`)
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
    checks.add('unit_missing', place, 'columns have no unit; the one named is taken', { examples: [`${header}: ${unit}`] })
  }
  return { unit, stated: false }
}

function roleUnit(role: string, system: 'us' | 'si' | undefined): string {
  const { dimension } = UNITS[ROLES[role]!.unit]!
  if (system === 'us') return US_ROLE_UNITS[role] ?? US_UNITS[dimension] ?? ROLES[role]!.unit
  return system === 'si' ? canonicalUnit(dimension) : ROLES[role]!.unit
}

/** @returns whether texts of a column may be states; a temperature has none, whatever its cells say */
export function takesStates({ role, point, unit }: Pick<Column, 'role' | 'point' | 'unit'>): boolean {
  if (role !== undefined) return ROLES[role]!.kind !== 'number'
  if (point) return point.kind !== 'number'
  return UNITS[unit]!.dimension === 'none'
}

/** @returns what kind of point a column is, from its role, its unit and whether it holds texts */
export function kindOf(role: string | undefined, unit: string, states: string[] | undefined): PointKind {
  if (role) return ROLES[role]!.kind
  if (unit === 'bool') return 'bool'
  if (states === undefined && unit !== 'enum') return 'number'
  return states?.length === 2 ? 'bool' : 'enum'
}

const slug = (text: string) => text.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^_+|_+$/g, '')

/**
 * An id for a column's point: the equipment's and the header, in the letters that ids may have.
 *
 * @param numbers how far the ids of one wording are numbered; kept from call to call, or ten thousand headers in other
 *   letters are counted through anew for each
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
