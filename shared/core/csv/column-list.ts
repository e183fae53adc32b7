/** Reads `columns.csv`: names, roles and units of the columns of a table. It contains no history. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { nearestRoles } from '#shared/core/model/role.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { atLine, type CheckReport } from './checks.ts'
import { roleOfName } from './header-names.ts'
import { withoutGuard } from './write-csv.ts'

/** The entry of one column, with its line in the list. */
type ColumnNote = { line: number; role?: string; name?: string; unit?: string }
export type ColumnNotes = ReadonlyMap<string, ColumnNote>

/** Names of the columns of the list, as exporters write them. */
const FIELDS = {
  column: ['column', 'col', 'column_name', 'header', 'csv_column'],
  role: ['point_role', 'role'],
  name: ['point_name', 'name', 'display_name'],
  unit: ['units', 'unit'],
} as const
type Field = keyof typeof FIELDS

/**
 * @param lines rows of the list, its header first
 * @param mapped headers with a role in the column map, which takes precedence
 * @returns entries by column; a row that cannot be used is reported as a check
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
    const cell = (field: Field) => (fields[field] === undefined ? '' : withoutGuard(cells[fields[field]]!.trim()))
    if (cells.length !== header!.cells.length) {
      refuse(line, `${cells.length} cells instead of ${header!.cells.length}`)
      continue
    }
    const [column, role, name, unit] = [cell('column'), cell('role'), cell('name'), cell('unit')]
    const known = role === '' ? undefined : roleOfName(role, type)
    if (column === '') refuse(line, 'has no column name')
    else if (notes.has(column)) refuse(line, `${column} is already on line ${notes.get(column)!.line}`)
    else {
      if (unit !== '' && unitCode(unit) === undefined)
        refuse(line, `${column} has the unit ${JSON.stringify(unit)}, which is unknown`)
      if (role !== '' && known === undefined && !mapped.has(column)) {
        refuse(
          line,
          `${column} has the role ${JSON.stringify(role)}, which is unknown; did you mean ${nearestRoles(role).join(', ')}`,
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
