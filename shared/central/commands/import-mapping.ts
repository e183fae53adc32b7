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

type StagedMapping = { session: ImportSession; table: PackageFile; head: TableHead; mapping: TableMapping; links: Links }
type Links = ReadonlyMap<string, Pick<ColumnMap, 'parent' | 'feeds'>>
type Staged = Pick<ImportSession, 'files' | 'report'>

/** @throws Problem unknown_session; conflict when it was imported, or has several tables */
export async function readMapping({ sessions }: Pick<CentralParts, 'sessions'>, session_id: string): Promise<StagedMapping> {
  const session = await sessions.get(session_id)
  if (session.result) throw new Problem('conflict', 'The package was imported, and its files are gone')
  return { session, ...(await mappingOf(session)) }
}

/**
 * Gives a staged table another mapping and checks it again.
 *
 * @throws Problem unknown_session; invalid with each place; conflict when it was imported, is being imported, or has several tables
 */
export async function changeMapping(
  context: CentralParts,
  { audit }: Pick<Actor, 'audit'>,
  session_id: string,
  mapping: TableMapping,
): Promise<ImportSession> {
  const session = await context.sessions.restage(session_id, async (before, folder) => {
    const { table, head, links } = await mappingOf(before)
    const written = mappingFiles(mapping, head.headers, links)
    if (!written.ok) throw new Problem('invalid', written.errors[0]!.message, written.errors)
    const { manifest, maps } = written.value
    const texts = [
      { path: 'manifest.json', json: manifest },
      ...maps.map(({ equipment_id, map }) => ({ path: `${equipment_id}/column_map.json`, json: map })),
    ]
    const files = await Promise.all(
      texts.map(async ({ path, json }): Promise<PackageFile> => {
        const file = join(folder, `${randomUUID()}.json`)
        await writeFile(file, JSON.stringify(json))
        return { path, file }
      }),
    )
    const name = table.path.slice(table.path.lastIndexOf('/') + 1)
    // Each equipment reads its columns from the same file.
    files.push(...maps.map(({ equipment_id }) => ({ path: `${equipment_id}/${name}`, file: table.file })))
    return { files, ...(await preflightPackage(files, context)) }
  })
  const { report } = session
  audit({ subject: report.building_id ?? session_id, after: { session_id, verdict: report.verdict } })
  return session
}

const tablesOf = (files: PackageFile[]): PackageFile[] => {
  const paths = new Set(groupPackageFiles(files.map(({ path }) => path)).folders.flatMap(({ tables }) => tables))
  return files.filter(({ path }) => paths.has(path))
}

/** @returns whether the columns of what was staged can be mapped here; several equipment may read theirs from the one table */
export const isSingleTable = (files: PackageFile[]): boolean => new Set(tablesOf(files).map(({ file }) => file)).size === 1

async function mappingOf({ files, report }: Staged): Promise<Omit<StagedMapping, 'session'>> {
  const { folders, manifest: manifestPath } = groupPackageFiles(files.map(({ path }) => path))
  const fileOf = new Map(files.map(({ path, file }) => [path, file]))
  const [table] = tablesOf(files)
  if (!table || !isSingleTable(files))
    throw new Problem(
      'conflict',
      'Columns are mapped here for a single table; in a package of several, column_map.json says what they are',
    )
  const head = await readTableHead(table.path, table.file)
  const manifest = await readJson(manifestPath && fileOf.get(manifestPath), readManifest)
  const maps = await Promise.all(folders.map(({ columnMap }) => readJson(columnMap && fileOf.get(columnMap), readColumnMap)))
  const known = maps.flatMap((map, i) => (map ? [{ ...map, equip: map.equip ?? folders[i]!.name }] : []))
  return {
    table,
    head,
    mapping: presentMapping(head, manifest, known, report),
    links: new Map(known.map(map => [map.equip, map])),
  }
}

type KnownMap = ColumnMap & { equip: string }

function presentMapping(
  { headers }: TableHead,
  manifest: Manifest | undefined,
  maps: KnownMap[],
  { building_id, timezone, equipment }: ImportSession['report'],
): TableMapping {
  const { notes: _, ...said } = manifest ?? { building_id: building_id ?? '', grid_minutes: 5 }
  const time_columns = maps.find(map => map.time_columns)?.time_columns ?? headers.slice(0, 1)
  const date_order = said.date_order ?? maps.find(map => map.date_order)?.date_order
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
