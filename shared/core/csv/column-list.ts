/** `columns.csv` beside a table: what its columns are called, what they mean and their units. It is no history. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { nearestRoles } from '#shared/core/model/role.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { atLine, type CheckReport } from './checks.ts'
import { roleOfName } from './header-names.ts'

/** What the list says of one column; `line` is where. */
type ColumnNote = { line: number; role?: string; name?: string; unit?: string }
export type ColumnNotes = ReadonlyMap<string, ColumnNote>

/** Names of the list's own columns, as exporters write them. */
const FIELDS = {
  column: ['column', 'col', 'column_name', 'header', 'csv_column'],
  role: ['point_role', 'role'],
  name: ['point_name', 'name', 'display_name'],
  unit: ['units', 'unit'],
} as const
type Field = keyof typeof FIELDS

/**
 * @param lines of the list, its header first
 * @param mapped headers that the column map gives a role: the list's is not asked for
 * @returns by column; what cannot be used is a check that names its row
 */
export function readColumnList(
  lines: { cells: string[]; line: number }[],
  place: string,
  type: EquipmentType,
  mapped: ReadonlySet<string>,
  checks: CheckReport,
): ColumnNotes {
  const notes = new Map<string, ColumnNote>()
  const [header, ...rows] = lines
  const fields = fieldsOf(header?.cells ?? [])
  const refuse = (line: number, text: string, severity: 'error' | 'warning' = 'error') =>
    checks.add('columns_invalid', place, 'rows cannot be used', { examples: [atLine(line, text)], severity })
  if (fields.column === undefined) {
    refuse(header?.line ?? 1, `no column is called ${FIELDS.column[0]}; have ${FIELDS.column[0]}, point_role, point_name, units`)
    return notes
  }
  for (const { cells, line } of rows) {
    const cell = (field: Field) => (fields[field] === undefined ? '' : cells[fields[field]]!.trim())
    if (cells.length !== header!.cells.length) {
      refuse(line, `${cells.length} cells instead of ${header!.cells.length}`)
      continue
    }
    const [column, role, name, unit] = [cell('column'), cell('role'), cell('name'), cell('unit')]
    const known = role === '' ? undefined : roleOfName(role, type)
    if (column === '') refuse(line, 'names no column')
    else if (notes.has(column)) refuse(line, `${column} was named on line ${notes.get(column)!.line} already`)
    else {
      if (unit !== '' && unitCode(unit) === undefined)
        refuse(line, `${column} has the unit ${JSON.stringify(unit)}, which is not known`)
      if (role !== '' && known === undefined && !mapped.has(column)) {
        refuse(
          line,
          `${column} has the role ${JSON.stringify(role)}, which is none; perhaps ${nearestRoles(role).join(', ')}`,
          'warning',
        )
      }
      notes.set(column, { line, ...(known && { role: known }), ...(name && { name }), ...(unitCode(unit) && unit && { unit }) })
    }
  }
  return notes
}

function fieldsOf(cells: string[]): Partial<Record<Field, number>> {
  const names = cells.map(cell => cell.trim().toLowerCase())
  const found = Object.entries(FIELDS).map(([field, called]) => [
    field,
    names.findIndex(name => called.some(one => one === name)),
  ])
  return Object.fromEntries(found.filter(([, index]) => (index as number) >= 0))
}
