/** The command that makes a backup, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import type { BackupStream } from '#shared/central/backup/backups.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { Actor } from './command.ts'

/** As long as a person or a script likes within reason; shorter ones are guessed. */
export const PASSPHRASE = Type.String({ minLength: 12, maxLength: 1000 })

/**
 * Begins a backup and writes the audit row.
 *
 * @param passphrase undefined takes that of scheduled backups
 * @throws Problem invalid without any passphrase, backup_in_progress
 */
export async function beginBackup(
  { backups }: Pick<CentralParts, 'backups'>,
  { audit }: Pick<Actor, 'audit'>,
  passphrase: string | undefined,
): Promise<BackupStream> {
  const backup = await backups.create(passphrase)
  audit({ subject: backup.filename, after: { files: backup.files } })
  return backup
}
