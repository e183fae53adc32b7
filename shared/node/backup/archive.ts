/** The files of a backup as one encrypted stream, see FORMAT.md. */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import { encrypt } from './encryption.ts'

export const BACKUP_FORMAT = 1
/** The entry that opens a backup. */
export const ABOUT_FILE = 'backup.json'
export const DATABASE_FILE = 'plenum.db'
/** Beginning of the entries that are history files. */
export const HISTORY_PREFIX = 'parquet/'

/** The first entry: who wrote the backup and when. */
export type BackupAbout = {
  format: number
  /** Of the program that wrote it. */
  version: string
  site_id: string
  /** RFC 3339, UTC. */
  created_at: string
  /** Entries after this one. */
  files: number
}
/** One entry: its name in the archive, and the file whose bytes it has. */
export type BackupFile = { name: string; path: string; bytes: number }

/**
 * Packs and encrypts files in the given order.
 *
 * @param about without `format` and `files`, which follow from the rest
 * @throws Error when a file cannot be read or no longer has its size
 */
export async function* packBackup(
  about: Omit<BackupAbout, 'format' | 'files'>,
  files: readonly BackupFile[],
  passphrase: string,
): AsyncGenerator<Buffer> {
  const archive = pack()
  const writing = writeEntries(archive, { format: BACKUP_FORMAT, ...about, files: files.length }, files).catch(error => {
    archive.destroy(error as Error)
  })
  try {
    yield* encrypt(archive as AsyncIterable<Uint8Array>, passphrase)
    await writing
  } finally {
    archive.destroy()
  }
}

async function writeEntries(archive: ReturnType<typeof pack>, about: BackupAbout, files: readonly BackupFile[]): Promise<void> {
  archive.entry({ name: ABOUT_FILE }, JSON.stringify(about))
  for (const { name, path, bytes } of files) {
    await pipeline(createReadStream(path), archive.entry({ name, size: bytes, mode: 0o600 }))
  }
  archive.finalize()
}
