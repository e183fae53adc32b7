/** The outbox's folder: `log/`, `stream.json`, `rejected/`, and at most one `damaged-…/`. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { makeFolder, replaceFile, syncFolder } from '#shared/node/files.ts'
import { type FileLog, openSegmentedLog } from '#shared/node/segmented-log.ts'

/** The stream's place n is the log's record `base + n`; the hub has everything up to place `acked`, and perhaps more. */
export type Stream = { id: string; base: number; acked: number }
export type OutboxFiles<T> = {
  log: FileLog<T>
  stream: Stream
  saveStream(stream: Stream): Promise<Stream>
  /** Keeps what the hub refused where an engineer finds it. */
  keepRejected(stream: Stream, seq: number, reason: string, message: unknown): void
}

const SEGMENT = { largest: 4 * 1024 * 1024, smallest: 64 * 1024 }
/** The quota is kept by dropping whole segments, so there must be several of them. */
const SEGMENTS_MIN = 8
const REJECTED_FILES_MAX = 100

/** @throws Error when the folder cannot be read or written */
export async function openOutboxFiles<T>(options: { dir: string; maxBytes: number; log: Logger }): Promise<OutboxFiles<T>> {
  const { dir, maxBytes, log: logger } = options
  await makeFolder(dir)
  const segmentBytes = Math.max(SEGMENT.smallest, Math.min(SEGMENT.largest, Math.floor(maxBytes / SEGMENTS_MIN)))
  const log = await openSound<T>(dir, segmentBytes, logger)
  const path = join(dir, 'stream.json')
  const saveStream = async (stream: Stream): Promise<Stream> => {
    await replaceFile(path, `${JSON.stringify(stream)}\n`)
    return stream
  }
  const { first, last } = log.state()
  const known = await readStream(path)
  // A name is never used for another log: not when nothing was written yet, nor when the log ends before the stream does.
  const fits = known && last > 0 && known.base + known.acked <= last
  const stream = fits ? known : await saveStream({ id: randomUUID(), base: first - 1, acked: 0 })
  return { log, stream, saveStream, keepRejected: keeper(join(dir, 'rejected'), logger) }
}

async function openSound<T>(dir: string, segmentBytes: number, logger: Logger): Promise<FileLog<T>> {
  const folder = join(dir, 'log')
  const opening = await openSegmentedLog<T>(folder, { segmentBytes })
  if (opening.state === 'open') {
    if (opening.cut) logger.warn(opening.cut, 'the outbox had a torn end, which was cut; it had not been acknowledged')
    return opening.log
  }
  const aside = join(dir, `damaged-${Date.now()}`)
  logger.error({ ...opening, aside }, 'the outbox is damaged; it is put aside and a new stream begun')
  const earlier = (await readdir(dir)).filter(name => name.startsWith('damaged-'))
  await rename(folder, aside)
  await rm(join(dir, 'stream.json'), { force: true })
  syncFolder(dir)
  for (const name of earlier) await rm(join(dir, name), { recursive: true })
  return openSound(dir, segmentBytes, logger)
}

async function readStream(path: string): Promise<Stream | undefined> {
  try {
    const { id, base, acked } = JSON.parse(await readFile(path, 'utf8')) as Stream
    return typeof id === 'string' && Number.isSafeInteger(base) && Number.isSafeInteger(acked) ? { id, base, acked } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function keeper(folder: string, logger: Logger): OutboxFiles<unknown>['keepRejected'] {
  return (stream, seq, reason, message) => {
    const name = `${stream.id}-${seq}.json`
    logger.error({ seq, reason, kept: name }, 'the hub cannot use a message')
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).length < REJECTED_FILES_MAX) {
      writeFileSync(join(folder, name), `${JSON.stringify({ reason, message }, null, 2)}\n`)
    }
  }
}
