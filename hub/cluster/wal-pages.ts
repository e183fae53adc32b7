/** Reads from the write-ahead log of an SQLite database which pages each commit has changed (https://sqlite.org/fileformat2.html#the_write_ahead_log). */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Pages that commits have changed, by page number from 1, and the length of the database after the last of them, in pages. */
type ChangedPages = { pages: Map<number, Buffer>; length: number }

const HEADER = 32
const FRAME_HEADER = 24
/** Bytes read at a time. */
const READ_MAX = 4 * 2 ** 20

/**
 * Follows the log of one database. It may only be emptied (by a checkpoint) when all of it has been read, and by this
 * process alone: automatic checkpoints must be off.
 */
export class WalPages {
  readonly #path: string
  readonly #pageSize: number
  /** Both salts of the log's header: they change when the log begins anew. */
  #salts: Buffer | undefined
  /** Where the first frame that was not read begins. */
  #offset = HEADER

  /** @param path of the database; its log has `-wal` at the end */
  constructor(path: string, pageSize: number) {
    this.#path = `${path}-wal`
    this.#pageSize = pageSize
  }

  /**
   * Reads what was committed since the last call. Synchronous, so that no transaction of this process is in progress.
   *
   * @returns undefined when nothing was committed
   */
  read(): ChangedPages | undefined {
    const log = openLog(this.#path)
    if (log === undefined) return undefined
    try {
      return this.#readFrom(log)
    } finally {
      closeSync(log)
    }
  }

  #readFrom(log: number): ChangedPages | undefined {
    const header = readAt(log, 0, HEADER)
    if (header.length < HEADER) return undefined
    const salts = header.subarray(16, 24)
    if (!this.#salts?.equals(salts)) [this.#salts, this.#offset] = [salts, HEADER]
    const frame = FRAME_HEADER + this.#pageSize
    const atOnce = Math.max(1, Math.floor(READ_MAX / frame)) * frame
    const committed: ChangedPages = { pages: new Map(), length: 0 }
    // Frames after the last commit are of a transaction that was taken back.
    let open = new Map<number, Buffer>()
    for (let at = this.#offset; ; ) {
      const bytes = readAt(log, at, atOnce)
      for (let i = 0; i + frame <= bytes.length; i += frame, at += frame) {
        if (!bytes.subarray(i + 8, i + 16).equals(salts)) return end(committed)
        const length = bytes.readUInt32BE(i + 4)
        open.set(bytes.readUInt32BE(i), bytes.subarray(i + FRAME_HEADER, i + frame))
        if (length === 0) continue
        for (const [page, content] of open) committed.pages.set(page, content)
        committed.length = length
        open = new Map()
        this.#offset = at + frame
      }
      if (bytes.length < atOnce) return end(committed)
    }
  }
}

const end = (changed: ChangedPages): ChangedPages | undefined => (changed.length > 0 ? changed : undefined)

/** @returns undefined when there is no log, or an empty one */
function openLog(path: string): number | undefined {
  let log: number
  try {
    log = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  if (fstatSync(log).size >= HEADER) return log
  closeSync(log)
  return undefined
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  for (let read = -1; read !== 0 && filled < length; filled += read)
    read = readSync(file, bytes, filled, length - filled, position + filled)
  return bytes.subarray(0, filled)
}
