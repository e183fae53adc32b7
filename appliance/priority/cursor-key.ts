import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '#shared/node/files.ts'

const FILE = 'cursor.key'
const BYTES = 32

/**
 * The secret that signs cursors. It is kept, so that a cursor outlives a restart; when its file is gone or cannot be kept,
 * a new one is made and earlier cursors are refused.
 *
 * @param dir folder of the edge's own state
 */
export async function openCursorKey(dir: string): Promise<Uint8Array> {
  const path = join(dir, FILE)
  const kept = await readFile(path).catch(() => undefined)
  if (kept?.length === BYTES) return kept
  const key = randomBytes(BYTES)
  await makeFolder(dir, 0o700)
    .then(() => replaceFile(path, key, 0o600))
    .catch(() => undefined)
  return key
}
