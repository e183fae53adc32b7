/** What each column of a table is: from its header, the column map, the manifest and the points that are there already. */
import type { EquipmentType, Point, PointKind } from '../model.ts'
import { nearestRoles, ROLES } from '../role.ts'
import { canonicalUnit, conversion, unitCode, UNITS } from '../unit.ts'
import type { Findings } from './checks.ts'
import type { ColumnMap } from './manifest.ts'
import { roleOfName, suggestRole, withoutUnit } from './names.ts'

export type Column = {
  /** Cell of the row; the timestamp is 0. */
  index: number
  header: string
  role: string | undefined
  /** Code of the unit in which the file has its numbers … */
  unit: string
  /** … and of the one in which history has or will have them; `value × scale + offset` leads there. */
  historyUnit: string
  scale: number
  offset: number
  /** Whether someone stated the unit, or it is the one that the role has by itself. */
  unitStated: boolean
  status: 'mapped' | 'unmapped' | 'ambiguous'
  suggestion: string | undefined
  /** The point that has this column's history so far. */
  point: Point | undefined
}

export type ColumnContext = {
  /** Path of the table within its package. */
  place: string
  equipmentType: EquipmentType
  /** Undefined for weather, whose headers are role names. */
  map: ColumnMap | undefined
  unitSystem: 'us' | 'si' | undefined
  /** Points of the equipment that packages have brought. */
  points: Point[]
  checks: Findings
}

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

/** @param names as `nameColumns` gives them */
export function planColumns(names: string[], context: ColumnContext): Column[] {
  const { place, map, checks, equipmentType } = context
  const roles = rolesByHeader(context)
  const taken = new Set<string>()
  return names.slice(1).map((header, i) => {
    const point = context.points.find(({ source }) => source.address === header)
    const named = roles.get(header) ?? roles.get(withoutUnit(header).name)
    const role = named ?? point?.role ?? (map ? undefined : roleOfName(header, equipmentType))
    const twice = role !== undefined && taken.has(role)
    if (twice)
      checks.add('column_ambiguous', place, 'more than one column is mapped to a role', { examples: [`${header}: ${role}`] })
    if (role !== undefined) taken.add(role)
    const suggestion = role === undefined ? suggestRole(header, equipmentType) : undefined
    if (role === undefined) {
      const example = suggestion ? `${header}: perhaps ${suggestion}` : header
      checks.add('column_unmapped', place, 'columns have no role', { examples: [example] })
    }
    const status = twice ? 'ambiguous' : role === undefined ? 'unmapped' : 'mapped'
    const mapped = twice ? undefined : role
    return { index: i + 1, header, role: mapped, status, suggestion, point, ...unitsOf(header, mapped, point, context) }
  })
}

/** Header → role, as the column map says; complains of names that are no role. */
function rolesByHeader({ map, place, equipmentType, checks }: ColumnContext): Map<string, string> {
  const roles = new Map<string, string>()
  for (const [name, header] of Object.entries(map?.points ?? {})) {
    const role = roleOfName(name, equipmentType)
    if (role) roles.set(header.trim(), role)
    else {
      const example = `${name}: perhaps ${nearestRoles(name).join(', ')}`
      checks.add('column_unmapped', `${place}, column_map.json`, 'names are no role', { examples: [example] })
    }
  }
  return roles
}

type Units = Pick<Column, 'unit' | 'historyUnit' | 'scale' | 'offset' | 'unitStated'>

function unitsOf(header: string, role: string | undefined, point: Point | undefined, context: ColumnContext): Units {
  const { place, checks } = context
  const { unit, stated } = fileUnit(header, role, point, context)
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
function fileUnit(header: string, role: string | undefined, point: Point | undefined, context: ColumnContext) {
  const { place, map, checks, unitSystem } = context
  const kind = role && ROLES[role]!.kind
  const { name, unit: inHeader } = withoutUnit(header)
  const given = Object.entries(map?.units ?? {}).find(([key]) => key.trim() === header || key.trim() === name)?.[1]
  if (given !== undefined) {
    const unit = unitCode(given)
    if (unit) return { unit, stated: true }
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

/** @returns what kind of point a column is, from its role, its unit and whether it holds texts */
export function kindOf(role: string | undefined, unit: string, states: string[] | undefined): PointKind {
  if (role) return ROLES[role]!.kind
  if (unit === 'bool') return 'bool'
  if (states === undefined && unit !== 'enum') return 'number'
  return states?.length === 2 ? 'bool' : 'enum'
}

const slug = (text: string) => text.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^_+|_+$/g, '')

/** An id for a column's point: the equipment's and the header, in the letters that ids may have. */
export function pointId(equipment_id: string, header: string, taken: ReadonlySet<string>): string {
  const base = `${equipment_id}.${slug(withoutUnit(header).name) || 'point'}`.slice(0, 120)
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`
    if (!taken.has(id)) return id
  }
}
