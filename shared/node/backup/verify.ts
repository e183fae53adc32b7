/** Shows that a backup can be restored, by restoring it. */
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openManifest } from '../historian/manifest.ts'
import { openReadOnly } from '../sqlite.ts'
import { type BackupAbout, DATABASE_FILE, HISTORY_PREFIX } from './archive.ts'
import { BackupError } from './encryption.ts'
import { unpackBackup } from './restore.ts'

/**
 * Unpacks a backup into a folder that it removes again, and checks the database and each history file that it lists.
 *
 * @param folder must not exist; it takes the space of all that is in the backup
 * @throws BackupError that says what is wrong
 */
export async function verifyBackup(file: string, passphrase: string, folder: string): Promise<BackupAbout> {
  try {
    const about = await unpackBackup(file, passphrase, folder)
    await checkUnpacked(folder)
    return about
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Checks the database of an unpacked backup, and each history file that it lists.
 *
 * @throws BackupError that says what is wrong
 */
export async function checkUnpacked(folder: string): Promise<void> {
  const db = openReadOnly(join(folder, DATABASE_FILE))
  try {
    const found = db.pragma('integrity_check', { simple: true })
    if (found !== 'ok') throw new BackupError(`the database in the backup is damaged: ${found}`)
    for (const { file: part, bytes } of openManifest(db).files()) {
      const { size } = await stat(join(folder, HISTORY_PREFIX, part))
      if (size !== bytes) throw new BackupError(`${part} in the backup has ${size} bytes of ${bytes}`)
    }
  } finally {
    db.close()
  }
}
