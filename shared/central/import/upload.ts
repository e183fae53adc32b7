import type { MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import { createWriteStream } from 'node:fs'
import { open, stat, writeFile as writeText } from 'node:fs/promises'
import { join } from 'node:path'
import { createEntryCheck, type PackageLimits } from '#shared/core/csv/package-limits.ts'
import { PACKAGE_SCHEMA } from '#shared/core/csv/package-json.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { partsOf, writeFile } from '#shared/node/http/upload.ts'
import { type PackageFile, unpackZip } from '#shared/node/zip.ts'

/** Maximum size of a text field of an upload: a column map of thousands of columns. */
const FIELD_MAX = 1024 * 1024
const FIELDS_MAX = 20
const ZIP_MAGIC = Buffer.from('PK\u0003\u0004')
/** The first bytes of Excel's files before 2007. @source MS-CFB 2.2 */
const OLE_MAGIC = Buffer.from([0xd0, 0xcf, 0x11, 0xe0])
/** A part that each of Excel's files since 2007 has. @source ECMA-376-1 */
const WORKBOOK = 'xl/workbook.xml'
/** The form of a page names its session in it, which is no part of the package. */
const SESSION_FIELD = 'csrf'
/** Fields that describe a single file instead of `column_map`. */
const MAP_FIELDS = ['equipment_id', 'equipment_type'] as const
/** Fields that describe a single file instead of `manifest`. */
const MANIFEST_FIELDS = ['building_id', 'grid_minutes', 'timezone', 'unit_system', 'date_order', 'notes'] as const

type Folders = { upload: string; files: string }

/**
 * Streams an upload to disk: one ZIP, a folder of files, or tables with the fields `manifest` and `column_map`.
 *
 * @param bytesMax maximum size of all files
 * @returns the files, and the text fields that came with them
 * @throws Problem too_large, or package_invalid that names the file
 */
export async function receivePackage(
  request: FastifyRequest,
  { upload, files }: Folders,
  limits: PackageLimits,
  bytesMax: number,
): Promise<{ files: PackageFile[]; fields: ReadonlyMap<string, string> }> {
  const fields = new Map<string, string>()
  const received: PackageFile[] = []
  const { fault } = createEntryCheck(limits)
  const partLimits = { fileSize: bytesMax, files: limits.entriesMax, fields: FIELDS_MAX, fieldSize: FIELD_MAX }
  let left = bytesMax
  for await (const part of partsOf(request, partLimits)) {
    if (part.type === 'field') {
      if (part.valueTruncated) throw new Problem('too_large', `The field ${part.fieldname} is longer than ${FIELD_MAX} bytes`)
      fields.set(part.fieldname, typeof part.value === 'string' ? part.value : JSON.stringify(part.value))
      continue
    }
    const path = (part.filename ?? '').replace(/^\.\//, '')
    const wrong = fault({ path, bytes: 0, packed: 0, isLink: false, isEncrypted: false })
    if (wrong) throw new Problem('package_invalid', wrong)
    const file = join(upload, String(received.length))
    await save(part, file)
    left -= (await stat(file)).size
    if (left < 0) throw new Problem('too_large', `The files have more than ${bytesMax} bytes together; pack them into a ZIP`)
    received.push({ path, file })
  }
  const [first, ...more] = received
  if (!first) throw new Problem('bad_request', 'The upload contains no file')
  const magic = await firstBytes(first.file)
  if (magic.equals(ZIP_MAGIC)) {
    if (more.length) throw new Problem('package_invalid', 'A ZIP must be the only file')
    const unpacked = await unpackZip(first.file, files, limits)
    if (unpacked.some(({ path }) => path === WORKBOOK)) throw workbook(first.path)
    return { files: unpacked, fields }
  }
  if (magic.equals(OLE_MAGIC)) throw workbook(first.path)
  return { files: [...received, ...(await saveFields(fields, files))], fields }
}

async function save(part: MultipartFile, file: string): Promise<void> {
  await writeFile(part, createWriteStream(file, { flags: 'wx' }))
  if (part.file.truncated) throw new Problem('too_large', `${part.filename} is larger than an upload may be; pack it into a ZIP`)
}

const workbook = (path: string) =>
  new Problem('package_invalid', `${path} is an Excel workbook; save the sheet with the values as CSV (UTF-8) and send that file`)

async function firstBytes(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(ZIP_MAGIC.length), 0, ZIP_MAGIC.length, 0)
    return buffer
  } finally {
    await handle.close()
  }
}

/** Writes the fields of an upload as the files of a package. */
async function saveFields(fields: Map<string, string>, folder: string): Promise<PackageFile[]> {
  const given = MANIFEST_FIELDS.filter(name => fields.has(name))
  const values = Object.fromEntries(
    given.map(name => [name, name === 'grid_minutes' ? Number(fields.get(name)) : fields.get(name)]),
  )
  const written = given.length ? JSON.stringify({ schema_version: PACKAGE_SCHEMA, ...values }) : undefined
  const map = mapOf(fields)
  const known = new Set<string>(['manifest', 'column_map', ...MANIFEST_FIELDS, ...MAP_FIELDS])
  const errors = [...fields.keys()]
    .filter(name => !known.has(name) && name !== SESSION_FIELD)
    .map((name): DataError => {
      return { pointer: `/${name}`, message: 'is not a known field' }
    })
  if (errors.length) throw new Problem('bad_request', `Fields of an upload are ${[...known].join(', ')}`, errors)
  const texts = { 'manifest.json': fields.get('manifest') ?? written, 'column_map.json': fields.get('column_map') ?? map }
  const files: PackageFile[] = []
  for (const [path, text] of Object.entries(texts)) {
    if (text === undefined) continue
    const file = join(folder, path)
    await writeText(file, text)
    files.push({ path, file })
  }
  return files
}

/** @returns a map of one equipment without roles, which are given to its columns afterwards */
function mapOf(fields: Map<string, string>): string | undefined {
  const [equip, equipType] = MAP_FIELDS.map(name => fields.get(name))
  return equip === undefined && equipType === undefined ? undefined : JSON.stringify({ equip, equipType, points: {} })
}
