/** Unpacks a backup into a workspace that does not exist yet. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { makeFolder, syncFolder } from '../files.ts'
import { ABOUT_FILE, BACKUP_FORMAT, type BackupAbout, DATABASE_FILE, HISTORY_PREFIX } from './archive.ts'
import { BackupError, decrypt } from './encryption.ts'

/** Folder in which a restore unpacks before the workspace exists. */
const UNPACKED = '.restoring'
/** Default folder of the history files of a workspace. */
const HISTORY_FOLDER = join('.cache', 'parquet')
/** Entries of a new file system. */
const NOT_OURS = new Set(['lost+found'])
const FOLDER_MODE = 0o700
const ABOUT_BYTES_MAX = 64 * 1024

/** Names that a backup may contain; a name outside of them is refused, so no entry leaves its folder. */
const ENTRY_NAMES = [
  /^plenum\.db$/,
  /^auth\.env\.local$/,
  /^(config|rules)\/[A-Za-z0-9_-][A-Za-z0-9._-]*$/,
  /^parquet\/history\.id$/,
  /^parquet\/building_id=(?!\.{1,2}\/)[^/\\\0]+\/month=\d{4}-\d{2}\/\d+-\d+\.parquet$/,
]

/**
 * Restores a backup into a folder that is empty or does not exist. The database comes last, so a folder with a database is
 * whole; a restore that was interrupted is started again by the same call.
 *
 * @returns the first entry of the backup
 * @throws BackupError when the backup cannot be read or the folder holds a workspace; Error when a file cannot be written
 */
export async function restoreBackup(file: string, passphrase: string, workspace: string): Promise<BackupAbout> {
  await prepareFolder(workspace)
  const unpacked = join(workspace, UNPACKED)
  const about = await unpackBackup(file, passphrase, unpacked)
  await makeFolder(join(workspace, dirname(HISTORY_FOLDER)), FOLDER_MODE)
  const entries = (await readdir(unpacked)).filter(name => name !== DATABASE_FILE)
  for (const name of entries) await rename(join(unpacked, name), join(workspace, placeOf(name)))
  syncFolder(workspace)
  await rename(join(unpacked, DATABASE_FILE), join(workspace, DATABASE_FILE))
  await rm(unpacked, { recursive: true })
  syncFolder(workspace)
  return about
}

const placeOf = (entry: string): string => (`${entry}/` === HISTORY_PREFIX ? HISTORY_FOLDER : entry)

async function prepareFolder(workspace: string): Promise<void> {
  await makeFolder(workspace, FOLDER_MODE)
  const found = (await readdir(workspace)).filter(name => !NOT_OURS.has(name))
  const isInterrupted = found.includes(UNPACKED) && !found.includes(DATABASE_FILE)
  if (found.length > 0 && !isInterrupted) {
    throw new BackupError(`${workspace} is not empty (it holds ${found[0]}): a backup is restored into an empty folder`)
  }
  for (const name of found) await rm(join(workspace, name), { recursive: true })
}

/**
 * Decrypts and unpacks a backup as it is in the archive, and makes each file durable.
 *
 * @param folder is created
 * @throws BackupError as `restoreBackup`
 */
export async function unpackBackup(file: string, passphrase: string, folder: string): Promise<BackupAbout> {
  await makeFolder(folder, FOLDER_MODE)
  const archive = extract()
  const reading = pipeline(Readable.from(decrypt(createReadStream(file), passphrase)), archive)
  // The error of the pipeline reaches the loop below too; it is thrown once, from there.
  reading.catch(() => undefined)
  let about: BackupAbout | undefined
  let files = 0
  for await (const entry of archive) {
    const { name, type, size = 0 } = entry.header
    if (type !== 'file') throw new BackupError(`${name} in the backup is no ordinary file`)
    if (!about) {
      about = readAbout(name, size, await text(entry))
      continue
    }
    if (!ENTRY_NAMES.some(pattern => pattern.test(name))) throw new BackupError(`${name} does not belong into a backup`)
    await writeEntry(join(folder, name), entry)
    files++
  }
  await reading
  if (!about) throw new BackupError('the backup is empty')
  if (files !== about.files) throw new BackupError(`the backup has ${files} files of ${about.files}`)
  if (!existsSync(join(folder, DATABASE_FILE))) throw new BackupError(`the backup has no ${DATABASE_FILE}`)
  return about
}

function readAbout(name: string, size: number, json: string): BackupAbout {
  if (name !== ABOUT_FILE || size > ABOUT_BYTES_MAX) throw new BackupError(`the backup does not begin with ${ABOUT_FILE}`)
  const about = JSON.parse(json) as BackupAbout
  if (about.format === BACKUP_FORMAT) return about
  throw new BackupError(`the backup has format ${about.format} inside, this program reads format ${BACKUP_FORMAT}`)
}

async function writeEntry(path: string, bytes: NodeJS.ReadableStream): Promise<void> {
  await makeFolder(dirname(path), FOLDER_MODE)
  await pipeline(bytes, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  await using written = await open(path)
  await written.sync()
  syncFolder(dirname(path))
}
