/** The mapping of a staged table by hand: what it is now with samples of the table, and another one. */
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { groupPackageFiles } from '#shared/core/csv/package-files.ts'
import {
  type ColumnMap,
  COLUMNS_MAX,
  type Manifest,
  readColumnMap,
  readManifest,
  TIME_COLUMNS_MAX,
} from '#shared/core/csv/package-json.ts'
import { equipmentTypeOf, roleOfName } from '#shared/core/csv/header-names.ts'
import { MAPPED_EQUIPMENT_MAX, type MappedColumn, mappingFiles, type TableMapping } from '#shared/core/csv/table-mapping.ts'
import { DATE_ORDERS } from '#shared/core/csv/timestamp.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import type { PackageFile } from '#shared/node/zip.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { preflightPackage } from '#shared/central/import/preflight.ts'
import type { ImportSession } from '#shared/central/import/sessions.ts'
import { readTableHead, type TableHead } from '#shared/central/import/table-head.ts'
import type { Actor } from './command.ts'

const TEXT = Type.String({ maxLength: 256 })
/** Checked as a whole by `mappingFiles`, which names every place that is wrong. */
export const TABLE_MAPPING = strict({
  building_id: TEXT,
  timezone: Type.Optional(TEXT),
  unit_system: Type.Optional(oneOf(['us', 'si'])),
  grid_minutes: Type.Number(),
  date_order: Type.Optional(oneOf(DATE_ORDERS)),
  time_columns: Type.Array(TEXT, { maxItems: TIME_COLUMNS_MAX }),
  equipment: Type.Array(strict({ equipment_id: TEXT, equipment_type: oneOf(EQUIPMENT_TYPES) }), {
    maxItems: MAPPED_EQUIPMENT_MAX,
  }),
  columns: Type.Array(strict({ header: TEXT, equipment_id: TEXT, role: Type.Optional(TEXT), unit: Type.Optional(TEXT) }), {
    maxItems: COLUMNS_MAX,
  }),
})

/** A table of what was staged. `table` names it in addresses. */
export type StagedTable = {
  table: string
  path: string
  /** Whose columns are in it; empty while nobody has said it. */
  equipment: string[]
}
type StagedMapping = {
  session: ImportSession
  tables: StagedTable[]
  table: StagedTable
  head: TableHead
  mapping: TableMapping
  links: Links
}
type Links = ReadonlyMap<string, Pick<ColumnMap, 'parent' | 'feeds'>>
type Staged = Pick<ImportSession, 'files' | 'report'>

/**
 * @param table of several; without it the first whose columns nobody has said, else the first
 * @throws Problem unknown_session; not_found for another table; conflict when it was imported, or has no table
 */
export async function readMapping(
  { sessions }: Pick<CentralParts, 'sessions'>,
  session_id: string,
  table?: string,
): Promise<StagedMapping> {
  const session = await sessions.get(session_id)
  if (session.result) throw new Problem('conflict', 'The package was imported, and its files are gone')
  return { session, ...(await mappingOf(session, table)) }
}

/**
 * Gives a staged table another mapping and checks the package again; its other tables stay as they are.
 *
 * @param table of several; a package of one needs none
 * @throws Problem unknown_session; not_found for another table; invalid with each place; conflict when it was imported or is being
 *   imported, or where it has several tables and none is named
 */
export async function changeMapping(
  context: CentralParts,
  { audit }: Pick<Actor, 'audit'>,
  { session_id, table }: { session_id: string; table?: string | undefined },
  mapping: TableMapping,
): Promise<ImportSession> {
  const session = await context.sessions.restage(session_id, async (before, folder) => {
    if (table === undefined && tableFiles(before.files).length > 1)
      throw new Problem('conflict', 'The package has several tables; say which one is meant')
    const { head, links, table: mapped } = await mappingOf(before, table)
    const written = mappingFiles(mapping, head.headers, links)
    if (!written.ok) throw new Problem('invalid', written.errors[0]!.message, written.errors)
    const { manifest, maps } = written.value
    const { files: others, top, manifest: earlier } = await withoutTable(before.files, mapped)
    const own = ownFolder(mapped, others, top)
    const file = before.files.find(({ path }) => path === mapped.path)!.file
    const quality = qualityOf(before.files, mapped)
    const write = async (path: string, json: object): Promise<PackageFile> => {
      const made = { path, file: join(folder, `${randomUUID()}.json`) }
      await writeFile(made.file, JSON.stringify(json))
      return made
    }
    const name = nameOf(mapped.path)
    const files = [
      ...others,
      // An order of day and month that the package states for all is not that of this table alone.
      await write(`${top}manifest.json`, { ...manifest, ...(earlier?.date_order && { date_order: earlier.date_order }) }),
      ...(await Promise.all(maps.map(({ equipment_id, map }) => write(`${own}${equipment_id}/column_map.json`, map)))),
      // Each equipment reads its columns from the same file.
      ...maps.map(({ equipment_id }) => ({ path: `${own}${equipment_id}/${name}`, file })),
      ...(quality ? maps.map(({ equipment_id }) => ({ path: `${own}${equipment_id}/quality.json`, file: quality })) : []),
    ]
    return { files, ...(await preflightPackage(files, context)) }
  })
  const { report } = session
  audit({ subject: report.building_id ?? session_id, after: { session_id, verdict: report.verdict } })
  return session
}

/**
 * Takes one of several tables out of what was staged, and checks the rest again.
 *
 * @throws Problem unknown_session; not_found; conflict when it was imported or is being imported, or is the only table
 */
export async function leaveTableOut(
  context: CentralParts,
  { audit }: Pick<Actor, 'audit'>,
  session_id: string,
  table: string,
): Promise<ImportSession> {
  const session = await context.sessions.restage(session_id, async before => {
    if (tableFiles(before.files).length === 1) throw new Problem('conflict', 'It is the only table of the package')
    const { table: left } = await mappingOf(before, table)
    const { files, manifestFile } = await withoutTable(before.files, left)
    const rest = manifestFile ? [...files, manifestFile] : files
    return { files: rest, ...(await preflightPackage(rest, context)) }
  })
  const { report } = session
  audit({ subject: report.building_id ?? session_id, after: { session_id, verdict: report.verdict } })
  return session
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const keyOf = ({ file }: PackageFile): string => nameOf(file)

/** The first file of each table: several equipment may read theirs from one. */
function tableFiles(files: PackageFile[]): PackageFile[] {
  const paths = new Set(groupPackageFiles(files.map(({ path }) => path)).folders.flatMap(({ tables }) => tables))
  const tables = files.filter(({ path }) => paths.has(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return [...new Map(tables.toReversed().map(one => [one.file, one])).values()].toReversed()
}

/** @returns whether there is a table whose columns can be said */
export const countTables = (files: PackageFile[]): number => tableFiles(files).length

/** The files of the other tables, without what only this one needs, and without the manifest. */
async function withoutTable(files: PackageFile[], { table }: StagedTable) {
  const { folders, manifest } = groupPackageFiles(files.map(({ path }) => path))
  const own = new Set(files.filter(one => keyOf(one) === table).map(({ path }) => path))
  const emptied = folders.filter(({ tables }) => tables.length > 0 && tables.every(path => own.has(path)))
  const needless = new Set(emptied.flatMap(({ columnMap, columnList }) => [columnMap, columnList]))
  const manifestFile = files.find(({ path }) => path === manifest)
  return {
    files: files.filter(({ path }) => !own.has(path) && !needless.has(path) && path !== manifest),
    top: manifest?.slice(0, -'manifest.json'.length) ?? '',
    manifestFile,
    manifest: await readJson(manifestFile?.file, readManifest),
  }
}

/** Where the equipment of a table are: beside the manifest, of several tables in a folder named after the table. */
function ownFolder({ path }: StagedTable, others: PackageFile[], top: string): string {
  if (countTables(others) === 0) return top
  const name = nameOf(path).replace(/\.csv$/i, '')
  const isFree = (folder: string) => others.every(other => !other.path.startsWith(folder))
  let folder = `${top}${name}/`
  for (let i = 2; !isFree(folder); i++) folder = `${top}${name}-${i}/`
  return folder
}

/** The trusted windows beside a table; those of the root count for all anyway. */
function qualityOf(files: PackageFile[], { path }: StagedTable): string | undefined {
  const { folders } = groupPackageFiles(files.map(one => one.path))
  const own = folders.find(({ folder, tables }) => folder !== '' && tables.includes(path))
  return files.find(one => one.path === own?.quality)?.file
}

async function mappingOf({ files, report }: Staged, wanted: string | undefined): Promise<Omit<StagedMapping, 'session'>> {
  const { folders, manifest: manifestPath } = groupPackageFiles(files.map(({ path }) => path))
  const fileOf = new Map(files.map(({ path, file }) => [path, file]))
  const maps = await Promise.all(folders.map(({ columnMap }) => readJson(columnMap && fileOf.get(columnMap), readColumnMap)))
  const known = maps.flatMap((map, i) => {
    const { name, tables } = folders[i]!
    return map ? [{ ...map, equip: map.equip ?? name, files: new Set(tables.map(path => fileOf.get(path))) }] : []
  })
  const ofFile = (file: string) => known.filter(map => map.files.has(file))
  const tables = tableFiles(files).map((one): StagedTable => {
    return { table: keyOf(one), path: one.path, equipment: ofFile(one.file).map(({ equip }) => equip) }
  })
  const unsaid = tables.find(({ equipment }) => equipment.length === 0)
  const table = wanted === undefined ? (unsaid ?? tables[0]) : tables.find(one => one.table === wanted)
  if (!table) throw wanted === undefined ? new Problem('conflict', 'The package has no table') : noTable(wanted)
  const file = fileOf.get(table.path)!
  const head = await readTableHead(table.path, file)
  const manifest = await readJson(manifestPath && fileOf.get(manifestPath), readManifest)
  return {
    tables,
    table,
    head,
    mapping: presentMapping(head, manifest, ofFile(file), report),
    links: new Map(known.map(map => [map.equip, map])),
  }
}

const noTable = (table: string) => new Problem('not_found', `The package has no table ${table}`)

type KnownMap = ColumnMap & { equip: string }

function presentMapping(
  { headers, time }: TableHead,
  manifest: Manifest | undefined,
  maps: KnownMap[],
  { building_id, timezone, equipment }: ImportSession['report'],
): TableMapping {
  const { notes: _, ...said } = manifest ?? { building_id: building_id ?? '', grid_minutes: 5 }
  const time_columns = maps.find(map => map.time_columns)?.time_columns ?? time
  const date_order = maps.find(map => map.date_order)?.date_order ?? said.date_order
  const types = maps.flatMap(({ equip, equipType }) => {
    const equipment_type = equipmentTypeOf(equipType)
    return equipment_type ? [{ equipment_id: equip, equipment_type }] : []
  })
  const columns = headers.flatMap((header): MappedColumn[] => {
    const map = maps.find(one => one.columns === undefined || one.columns.includes(header))
    if (time_columns.includes(header) || !map) return []
    const read = equipment.find(one => one.equipment_id === map.equip)?.columns.find(one => one.header === header)
    const stated = Object.entries(map.points).find(([, of]) => of.trim() === header)?.[0]
    const type = equipmentTypeOf(map.equipType)
    const role = read?.role ?? (stated !== undefined && type ? roleOfName(stated, type) : undefined)
    const unit = map.units?.[header]
    return [{ header, equipment_id: map.equip, ...(role && { role }), ...(unit !== undefined && { unit }) }]
  })
  return {
    ...(timezone !== null && { timezone }),
    ...said,
    ...(date_order && { date_order }),
    time_columns,
    equipment: types,
    columns,
  }
}

/** @returns undefined for a file that is not there or cannot be used, which the report says */
async function readJson<T>(
  file: string | undefined,
  read: (json: unknown) => { ok: true; value: T } | { ok: false },
): Promise<T | undefined> {
  if (file === undefined) return undefined
  try {
    const result = read(JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')))
    return result.ok ? result.value : undefined
  } catch {
    return undefined
  }
}
