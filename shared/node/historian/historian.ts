import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { BulkLoader, Historian, HistoryQuery } from '#shared/core/ports.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'
import { openWorker } from '#shared/node/worker/worker.ts'
import { openAppend } from './append.ts'
import { moveEarlierSamples } from './hot/copy.ts'
import { prepareFolder, removeParts } from './folder.ts'
import { openLoader } from './load/loader.ts'
import { openManifest } from './manifest.ts'
import { openManifestWriter } from './manifest-writer.ts'
import type { ReadHandlers, ReadInit } from './read-worker.ts'
import { type HistoryQuota, openQuota } from './quota.ts'
import { openSealer, type SealCount } from './sealer.ts'
import { openLastAt } from './spans.ts'
import type { WriteHandlers, WriteInit } from './write-worker.ts'

/** Memory of a process beyond DuckDB's limit, MB: 300 were measured while ten million rows were loaded. */
const BESIDE_MB = 350
/** The process that reads stays as many times as long as the one that writes: a page asks again each 30 s, a person after a minute. */
const READER_STAYS = 4
/** Points of one request to the reading process: a year of minutes of so many is 70 MB. Of a shorter span it takes more. */
const READ_POINTS = 8
const READ_SPAN = 366 * DAY

export type StoredHistorian = Historian &
  BulkLoader & {
    /** Moves samples older than `before` (ms) from the database to files. */
    seal(bound: { before: number }): Promise<SealCount>
    /** Runs work while no sealed file is written or removed. */
    withFilesUnchanged<T>(work: () => Promise<T>): Promise<T>
    /** Makes one step towards the quota. See `HistoryQuota`. */
    shrink: HistoryQuota['shrink']
    extent: HistoryQuota['extent']
    extents: HistoryQuota['extents']
    /** Id of the process that answers queries, while one runs. */
    readerPid(): number | undefined
    stop(): Promise<void>
  }

type HistorianOptions = {
  /** A database on disk, with its tables (`openDatabase`). */
  db: Database
  /** Folder for the sealed files. */
  root: string
  /** Memory limit of DuckDB in each of its two processes. */
  memoryMb: number
  /** How long the process that writes may be idle before it ends. */
  idleMs: number
  /** Space of the sealed files; by default without a bound. */
  maxBytes?: number
  /** Space of those of one building; by default without a bound of its own. */
  buildingMaxBytes?: number
  /** Resolves when everything that was committed before the call outlasts this machine, where that is wanted. */
  settled?: () => Promise<void>
}

/**
 * Opens history: hot samples in SQLite and sealed files in Parquet. DuckDB reads and writes the files in separate processes.
 *
 * @throws Error when the folder cannot be written, belongs to another database or lacks a listed file
 */
export async function openHistorian({
  db,
  root,
  memoryMb,
  idleMs,
  maxBytes = Infinity,
  buildingMaxBytes = Infinity,
  settled = async () => undefined,
}: HistorianOptions): Promise<StoredHistorian> {
  moveEarlierSamples(db)
  const owner = db.prepare('SELECT history_id FROM history_state').pluck().get() as string
  await prepareFolder(root, owner, openManifest(db).files())
  const bounded = { memoryMb: memoryMb + BESIDE_MB }
  const init: ReadInit & WriteInit = { dbPath: db.name, root, memoryMb }
  const reader = openWorker<ReadHandlers>({
    name: 'history query',
    module: new URL('./read-worker.ts', import.meta.url),
    init,
    ...bounded,
    idleMs: READER_STAYS * idleMs,
  })
  const writer = openWorker<WriteHandlers>({
    name: 'history sealing',
    module: new URL('./write-worker.ts', import.meta.url),
    init,
    ...bounded,
    idleMs,
  })

  const read = (query: HistoryQuery) => inGroups(query, point_ids => reader.request('read', { ...query, point_ids }))
  const manifest = openManifestWriter(db)
  // A file goes when nobody can come back to a list that names it.
  const remove = async (files: string[]) => {
    await settled()
    removeParts(root, files)
  }
  const sealer = openSealer(db, remove, manifest, writer)
  const load = openLoader(db, { root, remove }, manifest, writer, sealer)
  const quota = openQuota(db, remove, manifest, writer, { max_bytes: maxBytes, building_max_bytes: buildingMaxBytes })
  const inTurn = createSerialQueue()
  return {
    append: openAppend(db, manifest, read),
    lastAt: openLastAt(db),
    read,
    buckets: query => inGroups(query, point_ids => reader.request('buckets', { ...query, point_ids })),
    spans: (building_id, point_ids) => reader.request('spans', { building_id, point_ids }),
    firsts: building_id => reader.request('firsts', building_id),
    load: (building_id, points, mode, rows, beside) =>
      inTurn(async () => {
        const count = await load(building_id, points, mode, rows, beside)
        await sealer.merge()
        return count
      }),
    seal: bound =>
      inTurn(async () => {
        const count = await sealer.seal(bound)
        await sealer.merge()
        return count
      }),
    withFilesUnchanged: inTurn,
    shrink: now => inTurn(() => quota.shrink(now)),
    extent: quota.extent,
    extents: quota.extents,
    readerPid: () => reader.pid(),
    stop: async () => void (await Promise.all([reader.stop(), writer.stop()])),
  }
}

async function inGroups<T>({ point_ids, from, to }: HistoryQuery, ask: (point_ids: string[]) => Promise<T[]>): Promise<T[]> {
  const most = Math.max(READ_POINTS, Math.floor((READ_POINTS * READ_SPAN) / Math.max(MINUTE, to - from)))
  const answers: T[] = []
  for (let i = 0; i < point_ids.length; i += most) answers.push(...(await ask(point_ids.slice(i, i + most))))
  return answers
}
