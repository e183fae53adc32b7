/** `head.json` beside the segments: how far the journal is known to reach. Without it, missing newest segments look like an end. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '#shared/node/files.ts'

export const HEAD_FILE = 'head.json'

/**
 * @returns a sequence that the journal has reached, 0 when none is known; undefined when the file cannot be used
 * @throws Error when it cannot be read
 */
export async function readHeadFile(dir: string): Promise<number | undefined> {
  try {
    const found = /^\{"last":(\d{1,16})\}\n$/.exec(await readFile(join(dir, HEAD_FILE), 'latin1'))
    return found ? Number(found[1]) : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}

/** @throws Error when it cannot be written */
export const writeHeadFile = async (dir: string, last: number): Promise<void> =>
  replaceFile(join(dir, HEAD_FILE), `${JSON.stringify({ last })}\n`)
