import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '#shared/node/files.ts'

const FILE = 'cursor.key'
const BYTES = 32

/**
 * Reads the secret that signs cursors, or creates it. The file lets cursors outlive a restart. When the file is missing or
 * cannot be written, earlier cursors are refused.
 *
 * @param dir folder of the journal
 */
export async function openCursorKey(dir: string): Promise<Uint8Array> {
  const path = join(dir, FILE)
  const stored = await readFile(path).catch(() => undefined)
  if (stored?.length === BYTES) return stored
  const key = randomBytes(BYTES)
  await makeFolder(dir, 0o700)
    .then(() => replaceFile(path, key, 0o600))
    .catch(() => undefined)
  return key
}
