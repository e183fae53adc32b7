/** Writes `svc_package_v1` packages, as anybody who imports history would. */
import { ZipFile } from 'yazl'

type PackageTable = {
  /** File name within the equipment's folder, with `.csv`. */
  name: string
  text: string
}
export type PackageEquipment = {
  equipment_id: string
  equipment_type: string
  /** Role → header. */
  points: Record<string, string>
  /** Header → unit. */
  units: Record<string, string>
  tables: PackageTable[]
}
export type Package = {
  building_id: string
  timezone: string
  grid_minutes: number
  /** How dates such as 5/7/2022 read, when that is known. */
  date_order?: 'mdy' | 'dmy'
  equipment: PackageEquipment[]
}

/** @returns the ZIP of a package */
export async function zipPackage({ equipment, ...manifest }: Package): Promise<Buffer> {
  const zip = new ZipFile()
  const add = (path: string, text: string) => zip.addBuffer(Buffer.from(text), path)
  add('manifest.json', JSON.stringify({ schema_version: 'svc_package_v1', ...manifest }))
  for (const { equipment_id, equipment_type, points, units, tables } of equipment) {
    add(`${equipment_id}/column_map.json`, JSON.stringify({ equipType: equipment_type, equip: equipment_id, points, units }))
    for (const { name, text } of tables) add(`${equipment_id}/${name}`, text)
  }
  zip.end()
  const chunks: Buffer[] = []
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** @returns `text` as one cell of a CSV line */
export const csvCell = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
