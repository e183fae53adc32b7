import { readFile, stat } from 'node:fs/promises'
import { errorText } from '#shared/core/error-text.ts'
import { atLine, type CheckReport, createCheckReport, failIfEmpty, worstVerdict } from '#shared/core/csv/checks.ts'
import { type EquipmentFolder, groupPackageFiles } from '#shared/core/csv/package-files.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import { type JsonResult, readColumnMap, readManifest } from '#shared/core/csv/package-json.ts'
import { proposeByNames } from '#shared/core/csv/links/link-names.ts'
import { linkNames, modelAfter, NO_LINKS, reportLinks } from '#shared/core/csv/links/link-report.ts'
import { applyLinks, type StatedLinks } from '#shared/core/csv/links/links.ts'
import { equipmentTypeOf, withoutUnit } from '#shared/core/csv/header-names.ts'
import {
  type PackageModel,
  type PackagePlan,
  planBuilding,
  planPoints,
  type ScannedTable,
} from '#shared/core/csv/package-plan.ts'
import { type PackageReport, reportPackage } from '#shared/core/csv/package-report.ts'
import { readQuality } from '#shared/core/csv/quality.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'
import { EQUIPMENT_TYPES, type Equipment, isId, type Point } from '#shared/core/model/model.ts'
import { proposeRoles } from '#shared/core/csv/role-proposals.ts'
import type { Clock } from '#shared/core/ports.ts'
import { latestPlausible } from '#shared/core/telemetry/misdated.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { RuleService } from '../context.ts'
import { readColumnNotes } from './column-list.ts'
import { addFlowEvidence } from './link-flows.ts'
import { type Owner, scanTable } from './scan-table.ts'
import type { StagedFile } from './turn-table.ts'

/** Maximum size of a JSON file of a package: a map of thousands of columns. */
const JSON_MAX = 1024 * 1024
/** A column list may include the time. */
const TIME_HEADER = /^time/i

type Preflight = { report: PackageReport; plan: PackagePlan | undefined }
type Parts = {
  model: Pick<ModelStore, 'building' | 'equipment' | 'points'>
  rules: Pick<RuleService, 'coverageOfModel'>
  site_id: string
  clock: Pick<Clock, 'now'>
}
type Folder = Owner & { tables: string[] }
type OwnedFolder = { folder: EquipmentFolder; owner: Folder; trusted: UntrustedSpan[] | undefined; points: Point[] }

/** Reads a package and reports what importing it would do. It changes nothing. */
export async function preflightPackage(files: StagedFile[], { model, rules, site_id, clock }: Parts): Promise<Preflight> {
  const checks = createCheckReport()
  const latest = latestPlausible(clock.now())
  const layout = groupPackageFiles(files.map(({ path }) => path))
  const fileOf = new Map(files.map(({ path, file }) => [path, file]))
  for (const { path, turned } of files) if (turned) reportTurned(path, turned, checks)
  for (const path of layout.ignored) checks.add('file_ignored', 'package', 'files are not read', { examples: [path] })
  const manifest = await readPart(layout.manifest, fileOf, readManifest, 'manifest', checks)
  if (!manifest) return { report: reportPackage(null, null, [], new Map(), NO_LINKS, checks.list()), plan: undefined }

  const before = knownOf(manifest.building_id, model)
  const building = planBuilding(manifest, before.building, site_id)
  const { building_id } = building
  const timezone = manifest.timezone ?? before.building?.timezone
  const known = before.points
  const rootQuality = layout.folders.find(({ folder }) => folder === '')?.quality
  const owned: OwnedFolder[] = []
  for (const folder of layout.folders) {
    const owner = await readFolder(folder, fileOf, checks)
    if (!owner) continue
    const trusted = await readTrusted(folder.quality ?? rootQuality, fileOf, timezone, checks)
    const points = known.filter(({ equipment_id, source }) => equipment_id === owner.equipment_id && source.protocol === 'csv')
    owned.push({ folder, owner, trusted, points })
  }
  const stated = owned.map(({ owner, folder }) => linksOf(owner, folder))
  const scanned = await scanFolders(owned, fileOf, { manifest, timezone, latest, checks })
  for (const { folder, owner } of owned) {
    const tables = new Set(owner.tables)
    const headers = scanned.flatMap(({ table, columns }) => (tables.has(table.path) ? columns.map(({ header }) => header) : []))
    reportMissing(owner, new Set(headers), folder, checks)
  }
  if (scanned.length === 0) checks.add('no_rows', 'package', 'has no table with rows')
  const rows = scanned.reduce((sum, { scan }) => sum + (scan.timeline?.rows ?? 0), 0)
  const proposals = proposeRoles(scanned, before, checks)
  const equipment = applyLinks(planEquipment(building_id, scanned, before.equipment), stated, before.equipment, checks)
  const planned = planPoints(building_id, scanned, known)
  const after = modelAfter(before, equipment, planned.points)
  const { waits } = await rules.coverageOfModel(after)
  const named = proposeByNames(waits, linkNames(after.equipment, stated, scanned))
  // A broken table cannot be read again for flows.
  const isReadable = worstVerdict(checks.list()) !== 'fail'
  const proposed = isReadable ? await addFlowEvidence(waits, named, { ...planned, fileOf }) : named
  const links = reportLinks(waits, proposed, checks)
  const found = failIfEmpty(checks.list(), rows)
  const report = reportPackage(building_id, timezone === undefined ? null : building.timezone, scanned, proposals, links, found)
  return { report, plan: { building, equipment, ...planned, before: keepNamed(before, equipment, planned.points) } }
}

function reportTurned(path: string, { columns, leftOut }: NonNullable<StagedFile['turned']>, checks: CheckReport): void {
  checks.add('long_table', path, `has one value a row and is turned into ${columns} columns; lines are those of the turned table`)
  if (leftOut.length > 0)
    checks.add('columns_left_out', path, 'columns beside time, name and value are left out', { examples: leftOut })
}

/** Each file is read once, whoever has columns in it. @returns the tables in the order of their folders */
async function scanFolders(
  owned: OwnedFolder[],
  fileOf: Map<string, string>,
  context: Parameters<typeof scanTable>[2],
): Promise<ScannedTable[]> {
  const parts = owned.flatMap(({ owner, trusted, points }) => owner.tables.map(path => ({ path, owner, trusted, points })))
  const byPath = new Map<string, ScannedTable>()
  for (const [file, ofFile] of Map.groupBy(parts, ({ path }) => fileOf.get(path)!)) {
    for (const table of await scanTable(file, ofFile, context)) byPath.set(table.table.path, table)
  }
  return parts.flatMap(({ path, trusted }) => {
    const table = byPath.get(path)
    return table ? [{ ...table, trusted }] : []
  })
}

function knownOf(building_id: string, model: Parts['model']): PackageModel {
  const building = model.building(building_id)
  return { ...(building && { building }), equipment: model.equipment(building_id), points: model.points(building_id) }
}

/** Retains only the equipment and points that the package names. */
function keepNamed(model: PackageModel, equipment: Equipment[], points: Point[]): PackageModel {
  const ids = new Set([...equipment.map(one => one.equipment_id), ...points.map(one => one.point_id)])
  return {
    ...model,
    equipment: model.equipment.filter(({ equipment_id }) => ids.has(equipment_id)),
    points: model.points.filter(({ point_id }) => ids.has(point_id)),
  }
}

async function readPart<T>(
  path: string | undefined,
  fileOf: Map<string, string>,
  read: (json: unknown) => JsonResult<T>,
  kind: 'manifest' | 'column_map',
  checks: CheckReport,
): Promise<T | undefined> {
  const place = path ?? 'package'
  if (path === undefined) {
    checks.add(`${kind}_missing`, place, `there is no ${kind}.json`)
    return undefined
  }
  const result = await readJson(fileOf.get(path)!, read)
  if (result.ok) return result.value
  checks.add(`${kind}_invalid`, place, result.complaints.join('; '), { examples: result.complaints })
  return undefined
}

/** @returns the trusted windows of the data; undefined where none are given, or not readably */
async function readTrusted(
  path: string | undefined,
  fileOf: Map<string, string>,
  timezone: string | undefined,
  checks: CheckReport,
): Promise<UntrustedSpan[] | undefined> {
  if (path === undefined) return undefined
  const local = timezone === undefined ? undefined : localClock(timezone)
  const read = await readJson(fileOf.get(path)!, json => readQuality(json, local))
  if (!read.ok) checks.add('quality_invalid', path, read.complaints.join('; '), { examples: read.complaints })
  else if (!read.value) checks.add('quality_unread', path, 'has no trusted_windows')
  else {
    const examples = read.value.map(([from, to]) => `${formatInstant(from)} to ${formatInstant(to)}`)
    checks.add('quality_applied', path, 'data outside the trusted windows is stored, and rules do not use it', {
      examples,
      count: examples.length,
    })
  }
  return read.ok ? read.value : undefined
}

async function readJson<T>(file: string, read: (json: unknown) => JsonResult<T>): Promise<JsonResult<T>> {
  const { size } = await stat(file)
  if (size > JSON_MAX) return { ok: false, complaints: [`has ${size} bytes; at most ${JSON_MAX} are accepted`] }
  try {
    return read(JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')))
  } catch (error) {
    return { ok: false, complaints: [`is not JSON: ${errorText(error)}`] }
  }
}

/** The equipment of the tables in a folder; undefined, with a check, when it is unknown. */
async function readFolder(
  folder: EquipmentFolder,
  fileOf: Map<string, string>,
  checks: CheckReport,
): Promise<Folder | undefined> {
  const { name, tables, columnMap } = folder
  if (tables.length === 0) return undefined
  const isWeather = name.toLowerCase() === 'weather' && columnMap === undefined
  if (isWeather) {
    const notes = await readColumnNotes(folder.columnList, fileOf, 'weather', undefined, checks)
    return { equipment_id: name, equipment_type: 'weather', map: undefined, notes, tables }
  }
  const map = await readPart(columnMap, fileOf, readColumnMap, 'column_map', checks)
  if (!map) return undefined
  const equipment_id = map.equip ?? name
  const equipment_type = equipmentTypeOf(map.equipType)
  if (!equipment_type) {
    const message = `equipType ${JSON.stringify(map.equipType)} is none of ${EQUIPMENT_TYPES.join(', ')}`
    checks.add('equipment_type_unknown', columnMap!, message)
  }
  if (equipment_id === '') checks.add('id_invalid', columnMap!, 'equip, the id of the equipment, is missing')
  else if (!isId(equipment_id))
    checks.add('id_invalid', columnMap!, `${JSON.stringify(equipment_id)} is not a valid equipment id`)
  if (!equipment_type || !isId(equipment_id)) return undefined
  return {
    equipment_id,
    equipment_type,
    map,
    notes: await readColumnNotes(folder.columnList, fileOf, equipment_type, map, checks),
    tables,
  }
}

/** Reports columns of the map and of the list that no table of the equipment has. */
function reportMissing(
  { map, notes = new Map() }: Folder,
  headers: Set<string>,
  folder: EquipmentFolder,
  checks: CheckReport,
): void {
  const { columnMap, columnList } = folder
  const bare = new Set([...headers].map(header => withoutUnit(header).name))
  for (const [role, header] of Object.entries(map?.points ?? {})) {
    if (headers.has(header.trim()) || bare.has(header.trim())) continue
    checks.add('column_missing', columnMap!, 'columns of the map are in no table', { examples: [`${role}: ${header}`] })
  }
  for (const [header, { line }] of notes) {
    if (headers.has(header) || bare.has(header) || TIME_HEADER.test(header)) continue
    checks.add('column_missing', columnList!, 'columns of the list are in no table', { examples: [atLine(line, header)] })
  }
}

const linksOf = ({ equipment_id, map }: Folder, { columnMap = '' }: EquipmentFolder): StatedLinks => ({
  equipment_id,
  place: columnMap,
  ...(map?.parent !== undefined && { parent: map.parent }),
  ...(map?.feeds && { feeds: map.feeds }),
})

/** The equipment of the package after the import; fields of the model other than the type are unchanged. */
function planEquipment(building_id: string, scanned: ScannedTable[], before: Equipment[]): Equipment[] {
  const known = new Map(before.map(equipment => [equipment.equipment_id, equipment]))
  const planned = scanned.map(({ equipment_id, equipment_type }): Equipment => {
    const own = known.get(equipment_id) ?? { equipment_id, building_id, name: equipment_id }
    return { ...own, equipment_type }
  })
  return [...new Map(planned.map(equipment => [equipment.equipment_id, equipment])).values()]
}
