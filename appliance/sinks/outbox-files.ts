/** The folder of the outbox: `log/`, `streams.json`, `rejected/`, and at most one `damaged-…/`. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { replaceFile, syncFolder } from '#shared/node/files.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { type FileLog, openSegmentedLog } from '../store/log/segmented-log.ts'

/**
 * A stream numbers the messages for a destination: position n is record `base + n` of the log. The destination has everything
 * up to position `acked`, and possibly more. Of two streams, the one with the higher `born` began later.
 */
export type OutboxStream = { id: string; base: number; acked: number; born: number }
export type OutboxFiles<T> = {
  log: FileLog<T>
  /** The streams of the last run, by destination. Empty when there are none that can be continued. */
  streams: ReadonlyMap<string, OutboxStream>
  /** Why the streams of the last run cannot be continued; undefined when they can, or when there are none. */
  note: string | undefined
  saveStreams(streams: ReadonlyMap<string, OutboxStream>): Promise<void>
  /** Writes a message that a destination rejected to a file in `rejected/`. */
  keepRejected(stream: OutboxStream, seq: number, reason: string, message: unknown): void
}

const SEGMENT = { largest: 4 * 1024 * 1024, smallest: 64 * 1024 }
/** The quota is enforced by dropping whole segments, so there must be several of them. */
const SEGMENTS_MIN = 8
/** Most files in `rejected/`: enough to find the cause, too few to fill the disk. */
const REJECTED_FILES_MAX = 100
const STREAMS = 'streams.json'

/** @param options dir: exists. @throws Error when the folder cannot be read or written */
export async function openOutboxFiles<T>(options: { dir: string; maxBytes: number; log: Logger }): Promise<OutboxFiles<T>> {
  const { dir, maxBytes, log: logger } = options
  const segmentBytes = Math.max(SEGMENT.smallest, Math.min(SEGMENT.largest, Math.floor(maxBytes / SEGMENTS_MIN)))
  const { log, damage } = await openOrReplaceLog<T>(dir, segmentBytes, logger)
  const path = join(dir, STREAMS)
  const found = await readStreams(path)
  const { streams, fault } = typeof found === 'string' ? { streams: new Map(), fault: found } : checkStreams(found, log.state())
  const note = damage ?? fault
  if (note !== undefined) logger.warn(`${note}; starting a new stream with the oldest message that is left`)
  const oneAtATime = createSerialQueue()
  return {
    log,
    streams,
    note,
    saveStreams: all => oneAtATime(() => replaceFile(path, `${JSON.stringify(Object.fromEntries(all))}\n`)),
    keepRejected: rejectedFiles(join(dir, 'rejected'), logger),
  }
}

/**
 * Streams are continued only with the log that they belong to. An empty log, or one that ends before the position of a
 * stream, is another log, and its messages need a new stream name.
 */
function checkStreams(found: Map<string, OutboxStream>, { last }: { last: number }) {
  const beyond = [...found.values()].find(({ base, acked }) => base + acked > last)
  if (last > 0 && !beyond) return { streams: found, fault: undefined }
  const fault =
    beyond && `the outbox ends at message ${last} and was known to have ${beyond.base + beyond.acked}: it is an older copy`
  return { streams: new Map<string, OutboxStream>(), fault }
}

async function openOrReplaceLog<T>(
  dir: string,
  segmentBytes: number,
  logger: Logger,
): Promise<{ log: FileLog<T>; damage: string | undefined }> {
  const folder = join(dir, 'log')
  const opening = await openSegmentedLog<T>(folder, { segmentBytes })
  if (opening.state === 'open') {
    if (opening.cut) logger.warn(opening.cut, 'outbox: torn end cut, none of it was acknowledged')
    return { log: opening.log, damage: undefined }
  }
  const aside = join(dir, `damaged-${Date.now()}`)
  const damage = `the outbox is damaged (${opening.file}: ${opening.reason}) and was set aside as ${aside}`
  logger.error({ ...opening, aside }, damage)
  const earlier = (await readdir(dir)).filter(name => name.startsWith('damaged-'))
  await rename(folder, aside)
  await rm(join(dir, STREAMS), { force: true })
  syncFolder(dir)
  for (const name of earlier) await rm(join(dir, name), { recursive: true })
  return { ...(await openOrReplaceLog<T>(dir, segmentBytes, logger)), damage }
}

/** @returns the streams, or the reason why the file cannot be used */
async function readStreams(path: string): Promise<Map<string, OutboxStream> | string> {
  try {
    const streams = Object.entries(JSON.parse(await readFile(path, 'utf8')) as Record<string, Partial<OutboxStream> | null>)
    const bad = streams.find(([, stream]) => !isStream(stream))
    return bad ? `${path}: "${bad[0]}" is no stream` : new Map(streams as [string, OutboxStream][])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    if (error instanceof SyntaxError || error instanceof TypeError) return `${path} cannot be read: ${error.message}`
    throw error
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isStream = (stream: Partial<OutboxStream> | null): boolean =>
  typeof stream?.id === 'string' && isCount(stream.base) && isCount(stream.acked) && isCount(stream.born)

function rejectedFiles(folder: string, logger: Logger): OutboxFiles<unknown>['keepRejected'] {
  return (stream, seq, reason, message) => {
    const name = `${stream.id}-${seq}.json`
    logger.error({ seq, reason, kept: name }, 'message rejected by its destination: not sent again')
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).length < REJECTED_FILES_MAX) {
      writeFileSync(join(folder, name), `${JSON.stringify({ reason, message }, null, 2)}\n`)
    }
  }
}
