/** Reads the form of a mapping: fields by the number of their column. */
import type { ImportSession } from '#shared/central/import/sessions.ts'
import type { MappedColumn, TableMapping } from '#shared/core/csv/table-mapping.ts'
import type { DateOrder } from '#shared/core/csv/timestamp.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { roleOf } from '#shared/core/model/role.ts'
import { LIKELY } from '#shared/flow/commission.ts'

/** Columns of one form. Those after them keep what they are; a program maps them by the API. */
export const MAPPED_MAX = 500

type Fields = Readonly<Record<string, string>>

/** @returns the likely role of a column that has none */
export function suggestionOf({ report }: ImportSession, header: string): { role: string; confidence: number } | undefined {
  const column = report.equipment.flatMap(({ columns }) => columns).find(one => one.header === header)
  return column?.suggestion === undefined ? undefined : { role: column.suggestion, confidence: column.confidence ?? 0 }
}

/**
 * Equipment that a column names and the form does not list comes without a type, which is then asked for.
 *
 * @param headers of the table
 * @param before of the columns that have no field
 */
export function readMappingForm(
  fields: Fields,
  headers: readonly string[],
  { session, mapping: before }: { session: ImportSession; mapping: TableMapping },
): TableMapping {
  const text = (name: string) => fields[name]?.trim() ?? ''
  const given = (name: string) => text(name) || undefined
  const time_columns = ['time_1', 'time_2'].flatMap(name => (fields[name] ? [fields[name]] : []))
  const [timezone, unit_system, date_order] = [given('timezone'), given('unit_system'), given('date_order')]
  const columns = headers.flatMap((header, i): MappedColumn[] => {
    if (i >= MAPPED_MAX) return before.columns.filter(column => column.header === header && !time_columns.includes(header))
    const equipment_id = text(`equipment.${i}`)
    if (equipment_id === '' || time_columns.includes(header)) return []
    const role = text(`role.${i}`)
    const unit = given(`unit.${i}`)
    return [{ header, equipment_id, ...(role !== '' && { role: roleOf(role) ?? role }), ...(unit && { unit }) }]
  })
  const listed = Object.keys(fields).flatMap(name => {
    const [, i] = /^id\.(\d+)$/.exec(name) ?? []
    const equipment_id = i === undefined ? '' : text(name)
    return equipment_id === '' ? [] : [{ equipment_id, equipment_type: text(`type.${i}`) as EquipmentType }]
  })
  const known = new Set(listed.map(({ equipment_id }) => equipment_id))
  const named = [...new Set(columns.map(({ equipment_id }) => equipment_id))].filter(id => !known.has(id))
  return {
    building_id: text('building_id'),
    ...(timezone && { timezone }),
    ...(unit_system && { unit_system: unit_system as 'us' | 'si' }),
    ...(date_order && { date_order: date_order as DateOrder }),
    grid_minutes: Number(text('grid_minutes')),
    time_columns,
    equipment: [...listed, ...named.map(equipment_id => ({ equipment_id, equipment_type: '' as EquipmentType }))],
    columns: fields['likely'] === 'yes' ? withLikely(columns, session) : columns,
  }
}

/** A role that the equipment has already is not given twice. */
function withLikely(columns: MappedColumn[], session: ImportSession): MappedColumn[] {
  const taken = new Set(columns.map(({ equipment_id, role }) => JSON.stringify([equipment_id, role])))
  return columns.map(column => {
    const found = column.role === undefined ? suggestionOf(session, column.header) : undefined
    if (!found || found.confidence < LIKELY) return column
    const key = JSON.stringify([column.equipment_id, found.role])
    if (taken.has(key)) return column
    taken.add(key)
    return { ...column, role: found.role }
  })
}
