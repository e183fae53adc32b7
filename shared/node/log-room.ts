import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { Database } from './sqlite.ts'

const HEADER = 32
const FRAME_HEADER = 24
/** The transaction that makes the log long enough for a checkpoint goes beyond it. */
const SPARE = 1 / 8

/**
 * Gives the write-ahead log of a database the length at which SQLite makes a checkpoint, as zeros, which SQLite takes for the end of what is
 * written. A commit then writes over bytes that are there: a log that grows with each commit has the file system write a new length and the
 * blocks that it takes as well, which is more than the commit itself (`scripts/bench wear`). SQLite shortens the log at no time
 * and deletes it when the database is closed.
 *
 * Without room on the disk the log stays as it is.
 */
export function makeLogRoom(db: Database): void {
  const number = (pragma: string) => db.pragma(pragma, { simple: true }) as number
  const pages = number('wal_autocheckpoint') * (1 + SPARE)
  const wanted = HEADER + Math.ceil(pages) * (FRAME_HEADER + number('page_size'))
  // Nobody else writes into the log meanwhile.
  db.transaction(() => extend(`${db.name}-wal`, wanted)).immediate()
}

function extend(path: string, wanted: number): void {
  const log = openSync(path, 'r+')
  try {
    const { size } = fstatSync(log)
    if (size >= wanted) return
    try {
      const zeros = Buffer.alloc(wanted - size)
      for (let done = 0; done < zeros.length; ) done += writeSync(log, zeros, done, zeros.length - done, size + done)
    } catch {
      ftruncateSync(log, size)
    }
  } finally {
    closeSync(log)
  }
}
