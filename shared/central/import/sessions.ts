import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { PackagePlan } from '#shared/core/csv/package-plan.ts'
import type { PackageReport } from '#shared/core/csv/package-report.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { replaceFile } from '#shared/node/files.ts'
import type { PackageFile } from '#shared/node/zip.ts'
import type { ImportResult } from '#shared/flow/ingest/import-package.ts'

/** How long a preflight may wait for its import. */
const KEPT_MS = DAY
/** Packages that lie in wait at once; the oldest makes room. Their bytes are bounded by the space that an import asks for. */
const SESSIONS_MAX = 100
const RECORD = 'session.json'
const ID = /^[0-9a-f-]{36}$/

export type ImportSession = {
  session_id: string
  created_at: number
  expires_at: number
  files: PackageFile[]
  report: PackageReport
  plan: PackagePlan | undefined
  /** Set once it was imported. */
  result?: ImportResult
}

/** Staged packages, each in a folder of its own; what is not imported within a day is removed. */
export type ImportSessions = {
  /** A folder for a new session; `upload` and `files` are in it and empty. */
  open(): Promise<{ session_id: string; folder: string; upload: string; files: string }>
  save(session: Pick<ImportSession, 'session_id' | 'files' | 'report' | 'plan'>): Promise<ImportSession>
  /** @throws Problem unknown_session */
  get(session_id: string): Promise<ImportSession>
  /**
   * Imports a session; meanwhile it is not removed and not imported by somebody else. What `work` gives is kept as the
   * session's result, and its files are removed.
   *
   * @throws Problem unknown_session, or conflict when it was imported or is just being imported
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

/** @param now the wall clock, ms: a person's day is meant, not a simulated one */
export function importSessions(folder: string, now: () => number): ImportSessions {
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

  /** Removes what has expired, what an upload cut off has left or cannot be read, and the oldest beyond the limit. */
  const tidy = async () => {
    const names = (await readdir(folder)).filter(name => ID.test(name) && !busy.has(name))
    const sessions = await Promise.all(names.map(async name => ({ name, created_at: (await read(name))?.created_at ?? 0 })))
    const newest = sessions.toSorted((a, b) => b.created_at - a.created_at)
    const old = newest.filter(({ created_at }, i) => i >= SESSIONS_MAX - 1 || created_at + KEPT_MS <= now())
    await Promise.all(old.map(({ name }) => discard(name)))
  }

  const get = async (session_id: string): Promise<ImportSession> => {
    const session = ID.test(session_id) ? await read(session_id) : undefined
    if (!session || session.expires_at <= now())
      throw new Problem('unknown_session', `No import session ${session_id} waits here`)
    return session
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
    async importOnce(session_id, work) {
      const session = await get(session_id)
      if (session.result) throw new Problem('conflict', `Session ${session_id} was imported already`)
      if (busy.has(session_id)) throw new Problem('conflict', `Session ${session_id} is being imported`)
      busy.add(session_id)
      try {
        const result = await work(session)
        await write({ ...session, files: [], result })
        for (const part of ['files', 'upload']) await rm(join(path(session_id), part), { recursive: true, force: true })
        return result
      } finally {
        busy.delete(session_id)
      }
    },
    async discard(session_id) {
      busy.delete(session_id)
      await discard(session_id)
    },
  }
}
