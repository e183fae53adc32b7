import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { PackagePlan } from '#shared/core/csv/package-plan.ts'
import type { PackageReport } from '#shared/core/csv/package-report.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { replaceFile } from '#shared/node/files.ts'
import { folderSize } from '#shared/node/folder-size.ts'
import type { StagedFile } from './turn-table.ts'
import type { ImportResult } from '#shared/flow/ingest/import-package.ts'

/** How long a preflight is stored for its import. */
const KEPT_MS = DAY
/** Maximum number of staged packages; the oldest is removed. */
const SESSIONS_MAX = 100
const RECORD = 'session.json'
const ID = /^[0-9a-f-]{36}$/

export type ImportSession = {
  session_id: string
  created_at: number
  expires_at: number
  files: StagedFile[]
  report: PackageReport
  plan: PackagePlan | undefined
  /** Result of the import, once it is done. */
  result?: ImportResult
}

type Staged = Pick<ImportSession, 'files' | 'report' | 'plan'>

/** Staged packages, each in a separate folder; a package that is not imported within a day is removed. */
export type ImportSessions = {
  /** Creates the folder of a new session with the empty folders `upload` and `files`. */
  open(): Promise<{ session_id: string; folder: string; upload: string; files: string }>
  save(session: Pick<ImportSession, 'session_id' | 'files' | 'report' | 'plan'>): Promise<ImportSession>
  /** @throws Problem unknown_session */
  get(session_id: string): Promise<ImportSession>
  /**
   * Gives a session other files and another report; the upload stays. Meanwhile it can neither be removed nor imported.
   *
   * @param work gets the folder into which it may write files
   * @throws Problem unknown_session, or conflict when it was imported or is being used
   */
  restage(session_id: string, work: (session: ImportSession, folder: string) => Promise<Staged>): Promise<ImportSession>
  /**
   * Imports a session. Meanwhile it is not removed and cannot be imported again. The result of `work` is stored with the
   * session, and its files are removed.
   *
   * @throws Problem unknown_session, or conflict when it was imported or is being imported
   */
  importOnce(session_id: string, work: (session: ImportSession) => Promise<ImportResult>): Promise<ImportResult>
  discard(session_id: string): Promise<void>
}

/** @returns undefined when the text is not the record of this session */
function sessionOf(session_id: string, text: string): ImportSession | undefined {
  try {
    const record = JSON.parse(text) as ImportSession | null
    return record?.session_id === session_id ? record : undefined
  } catch {
    return undefined
  }
}

/**
 * It is one function because its methods share the folder and the set of busy sessions.
 *
 * @param now the wall clock, ms, not a simulated one, because people import within a real day
 * @param bytesMax space of the packages that wait when another is uploaded; the oldest give way, the newest stays
 */
export function importSessions(folder: string, now: () => number, bytesMax: number): ImportSessions {
  const path = (session_id: string) => join(folder, session_id)
  const write = (session: ImportSession) => replaceFile(join(path(session.session_id), RECORD), JSON.stringify(session))
  const read = async (session_id: string): Promise<ImportSession | undefined> => {
    const text = await readFile(join(path(session_id), RECORD), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : sessionOf(session_id, text)
  }
  const discard = (session_id: string) => rm(path(session_id), { recursive: true, force: true })
  /** Sessions that are being received or imported. */
  const busy = new Set<string>()
  const inTurn = createSerialQueue()

  /** Removes expired and unreadable sessions, rests of interrupted uploads, and the oldest sessions beyond the limits. */
  const tidy = async () => {
    const names = (await readdir(folder)).filter(name => ID.test(name) && !busy.has(name))
    const sessions = await Promise.all(names.map(async name => ({ name, created_at: (await read(name))?.created_at ?? 0 })))
    const newest = sessions.toSorted((a, b) => b.created_at - a.created_at)
    let bytes = 0
    for (const [i, { name, created_at }] of newest.entries()) {
      bytes += await folderSize(path(name))
      const isBeyond = i >= SESSIONS_MAX - 1 || (i > 0 && bytes > bytesMax)
      if (isBeyond || created_at + KEPT_MS <= now()) await discard(name)
    }
  }

  const get = async (session_id: string): Promise<ImportSession> => {
    const session = ID.test(session_id) ? await read(session_id) : undefined
    if (!session || session.expires_at <= now()) throw new Problem('unknown_session', `There is no import session ${session_id}`)
    return session
  }

  /** One thing at a time is done with a session that waits to be imported. */
  const alone = async <T>(session_id: string, work: (session: ImportSession) => Promise<T>): Promise<T> => {
    const session = await get(session_id)
    if (session.result) throw new Problem('conflict', `Session ${session_id} was imported already`)
    if (busy.has(session_id)) throw new Problem('conflict', `Session ${session_id} is being checked or imported`)
    busy.add(session_id)
    try {
      return await work(session)
    } finally {
      busy.delete(session_id)
    }
  }

  return {
    async open() {
      const session_id = randomUUID()
      busy.add(session_id)
      const [upload, files] = [join(path(session_id), 'upload'), join(path(session_id), 'files')]
      await mkdir(upload, { recursive: true })
      await mkdir(files)
      await inTurn(tidy)
      return { session_id, folder: path(session_id), upload, files }
    },
    async save(parts) {
      const session = { ...parts, created_at: now(), expires_at: now() + KEPT_MS }
      await write(session)
      busy.delete(parts.session_id)
      return session
    },
    get,
    restage: (session_id, work) =>
      alone(session_id, async session => {
        const folder = join(path(session_id), 'files')
        const next = { ...session, ...(await work(session, folder)) }
        await write(next)
        // The texts of the mapping before; the session names them no more.
        const used = new Set(next.files.map(({ file }) => file))
        const left = (await readdir(folder)).map(name => join(folder, name)).filter(file => !used.has(file))
        await Promise.all(left.map(file => rm(file, { force: true })))
        return next
      }),
    importOnce: (session_id, work) =>
      alone(session_id, async session => {
        const result = await work(session)
        await write({ ...session, files: [], result })
        for (const part of ['files', 'upload']) await rm(join(path(session_id), part), { recursive: true, force: true })
        return result
      }),
    async discard(session_id) {
      busy.delete(session_id)
      await discard(session_id)
    },
  }
}
