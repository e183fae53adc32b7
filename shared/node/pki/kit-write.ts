/** Writes an edge kit as a folder or as a ZIP. */
import { join } from 'node:path'
import { makeFolder, replaceFiles } from '#shared/node/files.ts'
import { zipTexts } from '#shared/node/zip.ts'
import { type Kit, KIT_EXTRAS, KIT_FILES } from './kit-read.ts'

const texts = (kit: Omit<Kit, 'key_pem'> & { key_pem?: string }): [string, string][] =>
  Object.entries({ ...KIT_FILES, ...KIT_EXTRAS }).flatMap(([field, name]) => {
    const value = kit[field as keyof Kit]
    if (value === undefined) return []
    return [[name, typeof value === 'string' ? withNewline(value) : `${JSON.stringify(value, null, 2)}\n`]]
  })

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

const SECRET: string[] = [KIT_FILES.key_pem, KIT_EXTRAS.token, KIT_EXTRAS.connector_key_pem]
const modeOf = (name: string): number => (SECRET.includes(name) ? 0o600 : 0o644)

export const zipKit = (kit: Omit<Kit, 'key_pem'> & { key_pem?: string }): Promise<Buffer> =>
  zipTexts(texts(kit).map(([name, text]) => ({ name, text, mode: modeOf(name) })))

/**
 * Writes the files of a kit into a folder, which is created with access for its owner only. Other files of the folder stay
 * as they are, and a kit that was there stays where the disk is full.
 */
export async function writeKit(kit: Omit<Kit, 'key_pem'> & { key_pem?: string }, dir: string): Promise<void> {
  await makeFolder(dir, 0o700)
  await replaceFiles(texts(kit).map(([name, text]) => ({ path: join(dir, name), content: text, mode: modeOf(name) })))
}
