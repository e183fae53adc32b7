/** Lays history out as a package (`svc_package_v1`), so that an import makes the same points of it. */
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { COLUMNS_MAX, type ColumnMap, type Manifest, PACKAGE_SCHEMA } from './package-json.ts'
import { csvLine } from './write-csv.ts'

/** Columns of one table: more of them that seldom change would compress beyond what an import unpacks. */
const TABLE_COLUMNS = Math.min(100, COLUMNS_MAX)

export type TableLayout = { path: string; headers: string[]; point_ids: string[] }
type PackageLayout = {
  /** Small files: the manifest, and the maps and lists of columns. */
  texts: { path: string; text: string }[]
  tables: TableLayout[]
}

/** @param exported equipment with its points, each of them with at least one point */
export function layOutPackage(
  { building_id, timezone, unit_system }: Building,
  exported: readonly { equipment: Equipment; points: readonly Point[] }[],
  grid_minutes: number,
): PackageLayout {
  const manifest: Manifest & { schema_version: string } = {
    schema_version: PACKAGE_SCHEMA,
    ...{ building_id, grid_minutes, timezone, unit_system },
  }
  const present = new Set(exported.map(({ equipment }) => equipment.equipment_id))
  const folders = new Set<string>()
  const parts = exported.map(({ equipment, points }) =>
    folderOf(folderName(equipment.equipment_id, folders), equipment, points, present),
  )
  return {
    texts: [{ path: 'manifest.json', text: json(manifest) }, ...parts.flatMap(({ texts }) => texts)],
    tables: parts.flatMap(({ tables }) => tables),
  }
}

/** A package has no two paths that differ in case alone. */
function folderName(equipment_id: string, taken: Set<string>): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? equipment_id : `${equipment_id}-${n}`
    if (taken.has(name.toLowerCase())) continue
    taken.add(name.toLowerCase())
    return name
  }
}

function folderOf(folder: string, equipment: Equipment, points: readonly Point[], present: ReadonlySet<string>): PackageLayout {
  const { equipment_id, equipment_type, parent_id, feeds = [] } = equipment
  const columns = headersOf(points)
  const served = feeds.filter(id => present.has(id))
  const map: ColumnMap = {
    equipType: equipment_type,
    equip: equipment_id,
    ...(parent_id !== undefined && present.has(parent_id) && { parent: parent_id }),
    ...(served.length > 0 && { feeds: served }),
    points: Object.fromEntries(columns.flatMap(({ header, point }) => (point.role === undefined ? [] : [[point.role, header]]))),
    units: Object.fromEntries(columns.map(({ header, point }) => [header, point.unit])),
  }
  const list = [['column', 'point_name'], ...columns.map(({ header, point }) => [header, point.name])]
  const count = Math.ceil(columns.length / TABLE_COLUMNS)
  return {
    texts: [
      { path: `${folder}/column_map.json`, text: json(map) },
      { path: `${folder}/columns.csv`, text: list.map(line => csvLine(line)).join('') },
    ],
    tables: Array.from({ length: count }, (_, i) => {
      const own = columns.slice(i * TABLE_COLUMNS, (i + 1) * TABLE_COLUMNS)
      return {
        path: `${folder}/history_wide${i === 0 ? '' : `-${i + 1}`}.csv`,
        headers: own.map(({ header }) => header),
        point_ids: own.map(({ point }) => point.point_id),
      }
    }),
  }
}

/**
 * A column is named so that the import makes the id of the point again, which is the equipment's and the header; a point that a
 * package has brought has the header of that package.
 */
function headersOf(points: readonly Point[]): { header: string; point: Point }[] {
  const taken = new Set<string>()
  return points.map(point => {
    const { point_id, equipment_id, source } = point
    const own = source.protocol === 'csv' ? source.address : point_id.replace(`${equipment_id}.`, '')
    const header = taken.has(own) ? point_id : own
    taken.add(header)
    return { header, point }
  })
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
