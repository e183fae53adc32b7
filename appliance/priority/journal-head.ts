/** `head.json` beside the segments names the records that must be there. It shows when segments are missing at either end. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '#shared/node/files.ts'

/**
 * No record from `first` on has been dropped, and record `last` is acknowledged. `segment`: first record of the segment that
 * holds `last`; undefined in a file of version 1.
 */
export type JournalHead = { first: number; last: number; segment: number | undefined }

export const HEAD_FILE = 'head.json'
/** Version of the journal's format, FORMAT.md. Version 1 has no `device_id`, and its head has neither version nor segment. */
const VERSION = 2
const HEAD_1 = /^\{"first":(\d{1,16}),"last":(\d{1,16})\}\n$/
const HEAD_2 = /^\{"version":2,"first":(\d{1,16}),"last":(\d{1,16}),"segment":(\d{1,16})\}\n$/
const ANY_VERSION = /^\{"version":(\d{1,9}),/

/**
 * @returns the head, that of an empty journal when there is no file, or the reason why the file cannot be used
 * @throws Error when the file cannot be read
 */
export async function readHeadFile(dir: string): Promise<JournalHead | string> {
  try {
    return parseHead(await readFile(join(dir, HEAD_FILE), 'latin1'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { first: 1, last: 0, segment: undefined }
    throw error
  }
}

function parseHead(text: string): JournalHead | string {
  const [, first, last, segment] = HEAD_2.exec(text) ?? HEAD_1.exec(text) ?? []
  if (first !== undefined)
    return { first: Number(first), last: Number(last), segment: segment === undefined ? undefined : Number(segment) }
  const version = Number(ANY_VERSION.exec(text)?.[1])
  if (version > VERSION) return `the journal is of format ${version}, and this program reads 1 to ${VERSION}`
  return 'the file does not say what the journal holds'
}

/** Durable when resolved. @throws Error when the file cannot be written */
export const writeHeadFile = async (dir: string, { first, last, segment }: JournalHead & { segment: number }): Promise<void> =>
  replaceFile(join(dir, HEAD_FILE), `${JSON.stringify({ version: VERSION, first, last, segment })}\n`)
