/** Packages for tests, good and bad. */
import { ZipFile } from 'yazl'

export type Files = Record<string, string | Buffer>

export const MANIFEST = { schema_version: 'svc_package_v1', building_id: 'b1', grid_minutes: 5, timezone: 'America/Chicago' }
export const MAP = {
  equipType: 'ahu',
  equip: 'AHU-1',
  points: { sa_t: 'SAT', oa_t: 'OAT', fan_status: 'Fan' },
  units: { SAT: 'degF', OAT: 'degF' },
}

/** Rows every five minutes from an instant, the supply air falling by a hundredth a row, and again after a hundred. */
export function rows(count: number, from = Date.UTC(2026, 2, 1, 6)): string[] {
  return Array.from({ length: count }, (_, i) => `${new Date(from + i * 300_000).toISOString()},${60 - (i % 100) / 100},40,1`)
}
export const table = (lines: string[], header = 'timestamp_utc,SAT,OAT,Fan') => [header, ...lines, ''].join('\n')

/** The files of a package with one air handler. */
export const airHandler = (csv: string | Buffer, more: { manifest?: object; map?: object } = {}): Files => ({
  'manifest.json': JSON.stringify({ ...MANIFEST, ...more.manifest }),
  'AHU-1/column_map.json': JSON.stringify({ ...MAP, ...more.map }),
  'AHU-1/history_wide.csv': csv,
})

/** @param rename what entries are called in the end; of the same length, so that only names change */
export async function zipOf(files: Files, rename: Record<string, string> = {}, mode?: number): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [path, content] of Object.entries(files))
    zip.addBuffer(Buffer.from(content), path, { ...(mode !== undefined && { mode }) })
  zip.end()
  const chunks: Buffer[] = []
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk))
  let bytes = Buffer.concat(chunks).toString('latin1')
  for (const [from, to] of Object.entries(rename)) bytes = bytes.replaceAll(from, to)
  return Buffer.from(bytes, 'latin1')
}

export function zipForm(zip: Buffer): FormData {
  const form = new FormData()
  form.append('package', new Blob([new Uint8Array(zip)]), 'package.zip')
  return form
}

/** The files as a browser sends a folder: each under its path. */
export function folderForm(files: Files): FormData {
  const form = new FormData()
  for (const [path, content] of Object.entries(files))
    form.append('files', new Blob([new Uint8Array(Buffer.from(content))]), path)
  return form
}
