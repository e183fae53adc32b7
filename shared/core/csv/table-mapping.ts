/** What the columns of one table mean, as a person states it: the same that manifest and column maps of a package say. */
import { EQUIPMENT_TYPES, type EquipmentType, isId } from '#shared/core/model/model.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import type { DataError } from '#shared/core/problem.ts'
import { type ColumnMap, type Manifest, PACKAGE_SCHEMA, readManifest, TIME_COLUMNS_MAX } from './package-json.ts'
import type { DateOrder } from './timestamp.ts'

/** A form of more is no work for a person; a table of many is brought as a package. */
export const MAPPED_EQUIPMENT_MAX = 50

export type MappedColumn = {
  header: string
  equipment_id: string
  role?: string
  /** As in the file; the unit of the header, of the point or of the role where nothing is said. */
  unit?: string
}
export type TableMapping = {
  building_id: string
  /** Zone of wall clocks. */
  timezone?: string
  unit_system?: 'us' | 'si'
  grid_minutes: number
  date_order?: DateOrder
  /** Headers: one, or that of a date and that of a time of day. */
  time_columns: string[]
  equipment: { equipment_id: string; equipment_type: EquipmentType }[]
  /** Columns that are not named are left out. */
  columns: MappedColumn[]
}

type MappingFiles = { manifest: object; maps: { equipment_id: string; map: ColumnMap }[] }

/**
 * @param headers of the table
 * @param links of the column maps before, which a mapping does not change
 * @returns the files of a package that say the same, or every place that is wrong
 */
export function mappingFiles(
  mapping: TableMapping,
  headers: readonly string[],
  links: ReadonlyMap<string, Pick<ColumnMap, 'parent' | 'feeds'>>,
): { ok: true; value: MappingFiles } | { ok: false; errors: DataError[] } {
  const { equipment, columns, time_columns, date_order, ...rest } = mapping
  const manifest = { schema_version: PACKAGE_SCHEMA, ...rest }
  const errors = [...manifestErrors(manifest), ...timeErrors(time_columns, headers), ...equipmentErrors(equipment)]
  errors.push(...columnErrors(mapping, headers))
  if (errors.length > 0) return { ok: false, errors }
  const maps = equipment.flatMap(({ equipment_id, equipment_type }) => {
    const own = columns.filter(column => column.equipment_id === equipment_id)
    if (own.length === 0) return []
    const map: ColumnMap = {
      ...links.get(equipment_id),
      equip: equipment_id,
      equipType: equipment_type,
      time_columns,
      ...(date_order && { date_order }),
      columns: own.map(({ header }) => header),
      points: Object.fromEntries(own.flatMap(({ header, role }) => (role === undefined ? [] : [[role, header]]))),
      units: Object.fromEntries(own.flatMap(({ header, unit }) => (unit === undefined ? [] : [[header, unit]]))),
    }
    return [{ equipment_id, map }]
  })
  return { ok: true, value: { manifest, maps } }
}

const at = (pointer: string, message: string): DataError => ({ pointer, message })

function manifestErrors(manifest: Omit<Manifest, 'notes'>): DataError[] {
  const read = readManifest(manifest)
  return read.ok ? [] : read.complaints.map(complaint => at('', complaint))
}

function timeErrors(time: string[], headers: readonly string[]): DataError[] {
  if (time.length === 0 || time.length > TIME_COLUMNS_MAX || new Set(time).size < time.length)
    return [at('/time_columns', 'choose one column of the time, or two different ones of date and time of day')]
  return time.filter(one => !headers.includes(one)).map(one => at('/time_columns', `there is no column ${one}`))
}

function equipmentErrors(equipment: TableMapping['equipment']): DataError[] {
  if (equipment.length > MAPPED_EQUIPMENT_MAX)
    return [at('/equipment', `one table has columns of at most ${MAPPED_EQUIPMENT_MAX} equipment; bring more as a package`)]
  const seen = new Set<string>()
  return equipment.flatMap(({ equipment_id, equipment_type }, i) => {
    const isTwice = seen.has(equipment_id)
    seen.add(equipment_id)
    if (!isId(equipment_id))
      return [
        at(
          `/equipment/${i}/equipment_id`,
          `${JSON.stringify(equipment_id)} is not letters, digits, dots, dashes and underscores`,
        ),
      ]
    if (isTwice) return [at(`/equipment/${i}/equipment_id`, `${equipment_id} is there twice`)]
    return EQUIPMENT_TYPES.includes(equipment_type)
      ? []
      : [at(`/equipment/${i}/equipment_type`, `choose the type of ${equipment_id}`)]
  })
}

function columnErrors({ columns, equipment, time_columns }: TableMapping, headers: readonly string[]): DataError[] {
  if (columns.length === 0) return [at('/columns', 'give at least one column an equipment')]
  const known = new Set(equipment.map(({ equipment_id }) => equipment_id))
  const [seen, roles] = [new Set<string>(), new Map<string, string>()]
  return columns.flatMap(({ header, equipment_id, role, unit }, i) => {
    const here = (field: string, message: string) => [at(`/columns/${i}/${field}`, `${header}: ${message}`)]
    const isTwice = seen.has(header)
    seen.add(header)
    if (!headers.includes(header)) return [at(`/columns/${i}/header`, `there is no column ${header}`)]
    if (isTwice) return here('header', 'is there twice')
    if (time_columns.includes(header)) return here('header', 'is the time')
    if (!known.has(equipment_id)) return here('equipment_id', `${equipment_id} is not among the equipment`)
    if (unit !== undefined && !unitCode(unit)) return here('unit', `the unit ${JSON.stringify(unit)} is unknown`)
    if (role === undefined) return []
    if (!Object.hasOwn(ROLES, role)) return here('role', `${role} is no role; perhaps ${nearestRoles(role).join(', ')}`)
    const key = JSON.stringify([equipment_id, role])
    const other = roles.get(key)
    roles.set(key, header)
    return other === undefined ? [] : here('role', `${role} of ${equipment_id} is ${other} already`)
  })
}
