/** `head.json` beside the segments: what must be there. Without it, segments missing at either end look dropped or unwritten. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '#shared/node/files.ts'

/** No record from `first` on has been dropped, and record `last` is kept. */
export type Head = { first: number; last: number }

export const HEAD_FILE = 'head.json'
const HEAD = /^\{"first":(\d{1,16}),"last":(\d{1,16})\}\n$/

/**
 * @returns that nothing is dropped and nothing kept when there is no file; undefined when it cannot be used
 * @throws Error when it cannot be read
 */
export async function readHeadFile(dir: string): Promise<Head | undefined> {
  try {
    const found = HEAD.exec(await readFile(join(dir, HEAD_FILE), 'latin1'))
    return found ? { first: Number(found[1]), last: Number(found[2]) } : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { first: 1, last: 0 }
    throw error
  }
}

/** @throws Error when it cannot be written */
export const writeHeadFile = async (dir: string, { first, last }: Head): Promise<void> =>
  replaceFile(join(dir, HEAD_FILE), `${JSON.stringify({ first, last })}\n`)
