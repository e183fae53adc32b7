/** Backups of a workspace: one on request, and a schedule that retains the newest of them in a folder. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant, HOUR, MINUTE } from '#shared/core/time.ts'
import { packBackup } from '#shared/node/backup/archive.ts'
import { type WorkspaceSource, copyWorkspace } from '#shared/node/backup/workspace-copy.ts'
import { verifyBackup } from '#shared/node/backup/verify.ts'
import { errorText } from '#shared/core/error-text.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import { makeFolder, syncFolder } from '#shared/node/files.ts'
import type { Service } from '#shared/node/service.ts'
import { freeMb } from '#shared/central/import/disk-space.ts'

/** Folder and interval of backups. */
export type BackupSchedule = {
  folder: string
  passphrase: string
  everyHours: number
  /** Number of backups that stay; older ones are deleted. */
  keep: number
}
export type StoredBackup = { filename: string; bytes: number; created_at: number }
type BackupCheck = { status: 'ok' | 'warn'; detail?: string; newest_age_secs: number | null; newest_bytes: number | null }
export type BackupStream = { filename: string; files: number; stream: AsyncIterable<Buffer> }
export type Backups = {
  /**
   * A backup of this moment as a stream; its copies are removed when the stream ends or is left.
   *
   * @param passphrase undefined takes that of the schedule
   * @throws Problem invalid without a passphrase, backup_in_progress while another is being sent
   */
  create(passphrase: string | undefined): Promise<BackupStream>
  /** Backups in the folder of the schedule, newest first. Each was restored once to verify it. */
  stored(): Promise<StoredBackup[]>
  schedule: Pick<BackupSchedule, 'folder' | 'everyHours' | 'keep'> | undefined
  /** The check of the schedule; undefined without one. */
  check: (() => Promise<BackupCheck>) | undefined
  service: Service
}
type BackupOptions = {
  source: WorkspaceSource
  site_id: string
  version: string
  schedule: BackupSchedule | undefined
  clock: Clock
  log: Logger
}

const SUFFIX = '.backup'
/** A file that is being written or was not verified yet. */
const UNFINISHED = '.tmp'
const VERIFYING = '.verifying'
/** A backup that failed is tried again after this. */
const RETRY_MS = 15 * MINUTE
/** Space that a backup leaves to readings and imports, MB. */
const SPARE_MB = 512
const MB = 1024 * 1024

export function openBackups(options: BackupOptions): Backups {
  const { schedule, clock } = options
  let isSending = false
  const stored = async () => (schedule ? listStored(schedule.folder) : [])
  const scheduled = schedule && createSchedule(options, schedule)
  return {
    async create(passphrase = schedule?.passphrase) {
      if (passphrase === undefined) {
        const message = 'a passphrase is needed, for none is set for scheduled backups'
        throw new Problem('invalid', message, [{ pointer: '/passphrase', message }])
      }
      if (isSending) throw new Problem('backup_in_progress', 'Another backup is being sent; ask again when it has ended')
      isSending = true
      try {
        const { filename, files, bytes: _bytes, stream, remove } = await beginBackup(options, passphrase, clock.now())
        const release = async () => {
          isSending = false
          await remove()
        }
        return { filename, files, stream: withEnd(stream, release) }
      } catch (error) {
        isSending = false
        throw error
      }
    },
    stored,
    schedule,
    check: scheduled?.check,
    service: scheduled?.service ?? { name: 'backups', start: async () => undefined, stop: async () => undefined },
  }
}

/** The instant in a name, ms. */
function stampOf(filename: string): number | undefined {
  const [, date, time] = /-(\d{8})T(\d{6})Z\.backup$/.exec(filename) ?? []
  if (date === undefined || time === undefined) return undefined
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  const at = Date.parse(`${day}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`)
  return Number.isNaN(at) ? undefined : at
}

async function beginBackup({ source, site_id, version }: BackupOptions, passphrase: string, now: number) {
  const { files, remove } = await copyWorkspace(source, `backup-${randomUUID()}`)
  const created_at = formatInstant(now)
  return {
    filename: `plenum-${site_id}-${created_at.slice(0, 19).replaceAll(/[-:]/g, '')}Z${SUFFIX}`,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    stream: packBackup({ version, site_id, created_at }, files, passphrase),
    remove,
  }
}

async function* withEnd<T>(source: AsyncIterable<T>, end: () => Promise<void>): AsyncGenerator<T> {
  try {
    yield* source
  } finally {
    await end()
  }
}

async function listStored(folder: string): Promise<StoredBackup[]> {
  const names = (await readdir(folder)).filter(name => name.endsWith(SUFFIX))
  const listed = await Promise.all(
    names.map(async filename => {
      const { size, mtimeMs } = await stat(join(folder, filename))
      return { filename, bytes: size, created_at: stampOf(filename) ?? Math.round(mtimeMs) }
    }),
  )
  return listed.toSorted((a, b) => b.created_at - a.created_at)
}

function createSchedule(options: BackupOptions, schedule: BackupSchedule) {
  const { clock, log } = options
  const ending = new AbortController()
  const failures = failureLog(log, 'no backup was made', 'backups are made again')
  let failure: string | undefined
  let loop: Promise<void> = Promise.resolve()
  const everyMs = schedule.everyHours * HOUR

  /** A backup that is dated ahead of the clock does not determine when the next one is due. */
  const waitMs = (newest: StoredBackup | undefined, now: number): number =>
    newest && newest.created_at <= now ? Math.max(0, newest.created_at + everyMs - now) : 0

  const run = async () => {
    while (!ending.signal.aborted) {
      const [newest] = await listStored(schedule.folder).catch(() => [])
      await clock.sleep(failure === undefined ? waitMs(newest, clock.now()) : RETRY_MS, ending.signal)
      if (ending.signal.aborted) return
      try {
        const { filename, bytes } = await storeBackup(options, schedule, clock.now())
        log.info({ filename, bytes }, 'backup stored and verified')
        failure = undefined
        failures.worked()
      } catch (error) {
        failure = errorText(error)
        failures.failed(error)
      }
    }
  }
  const service: Service = {
    name: 'backups',
    async start() {
      await removeUnfinished(schedule.folder)
      loop = run()
    },
    async stop() {
      ending.abort()
      await loop
    },
  }
  const check = async (): Promise<BackupCheck> => {
    const [newest] = await listStored(schedule.folder)
    const age = newest ? Math.max(0, Math.round((clock.now() - newest.created_at) / 1000)) : null
    const figures = { newest_age_secs: age, newest_bytes: newest?.bytes ?? null }
    if (failure !== undefined) return { status: 'warn', detail: `the last backup failed: ${failure}`, ...figures }
    return { status: 'ok', ...figures }
  }
  return { service, check }
}

/** The remains of a process that was killed. */
async function removeUnfinished(folder: string): Promise<void> {
  const left = (await readdir(folder)).filter(name => name.endsWith(SUFFIX + UNFINISHED) || name === VERIFYING)
  for (const name of left) await rm(join(folder, name), { recursive: true, force: true })
}

/** Writes a backup, restores it to verify it, gives it its name, and deletes the oldest. A name without `.tmp` was verified. */
async function storeBackup(options: BackupOptions, { folder, passphrase, keep }: BackupSchedule, now: number) {
  await makeFolder(folder)
  const { filename, bytes, stream, remove } = await beginBackup(options, passphrase, now)
  const path = join(folder, filename)
  const unfinished = path + UNFINISHED
  try {
    await needSpace(folder, 2 * bytes)
    await pipeline(stream, createWriteStream(unfinished, { mode: 0o600 }))
    await using file = await open(unfinished)
    await file.sync()
    await verifyBackup(unfinished, passphrase, join(folder, VERIFYING))
    await rename(unfinished, path)
    syncFolder(folder)
  } finally {
    await remove()
    await rm(unfinished, { force: true })
  }
  const others = (await listStored(folder)).filter(other => other.filename !== filename)
  for (const old of others.slice(keep - 1)) await rm(join(folder, old.filename))
  return { filename, bytes: (await stat(path)).size }
}

/** @throws Error when the backup and its restored copy do not fit, so that space remains for readings */
async function needSpace(folder: string, bytes: number): Promise<void> {
  const needed = Math.ceil(bytes / MB) + SPARE_MB
  const free = await freeMb(folder)
  if (free < needed) throw new Error(`${free} MB are free in ${folder}, and a backup that is verified needs ${needed}`)
}
