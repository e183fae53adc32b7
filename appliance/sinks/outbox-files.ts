/** The outbox's folder: `log/`, `streams.json`, `rejected/`, and at most one `damaged-…/`. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { replaceFile, syncFolder } from '#shared/node/files.ts'
import { type FileLog, openSegmentedLog } from '../store/log/segmented-log.ts'

/**
 * The stream's place n is the log's record `base + n`; the destination has everything up to place `acked`, and perhaps
 * more. Of two streams over one log the one with the higher `born` began later.
 */
export type Stream = { id: string; base: number; acked: number; born: number }
export type OutboxFiles<T> = {
  log: FileLog<T>
  /** What the folder holds: by destination. Empty when there was nothing, or nothing that can be gone on with. */
  streams: ReadonlyMap<string, Stream>
  /** Why streams that there were cannot be gone on with. */
  note: string | undefined
  saveStreams(streams: ReadonlyMap<string, Stream>): Promise<void>
  /** Keeps what a destination refused where an engineer finds it. */
  keepRejected(stream: Stream, seq: number, reason: string, message: unknown): void
}

const SEGMENT = { largest: 4 * 1024 * 1024, smallest: 64 * 1024 }
/** The quota is kept by dropping whole segments, so there must be several of them. */
const SEGMENTS_MIN = 8
const REJECTED_FILES_MAX = 100
const STREAMS = 'streams.json'

/** @param options dir: exists. @throws Error when the folder cannot be read or written */
export async function openOutboxFiles<T>(options: { dir: string; maxBytes: number; log: Logger }): Promise<OutboxFiles<T>> {
  const { dir, maxBytes, log: logger } = options
  const segmentBytes = Math.max(SEGMENT.smallest, Math.min(SEGMENT.largest, Math.floor(maxBytes / SEGMENTS_MIN)))
  const { log, damage } = await openSound<T>(dir, segmentBytes, logger)
  const path = join(dir, STREAMS)
  const found = await readStreams(path)
  const { streams, fault } = typeof found === 'string' ? { streams: new Map(), fault: found } : fitting(found, log.state())
  const note = damage ?? fault
  if (note !== undefined) logger.warn(`${note}; a new stream begins with the oldest message that is left`)
  return {
    log,
    streams,
    note,
    saveStreams: inTurn(all => replaceFile(path, `${JSON.stringify(Object.fromEntries(all))}\n`)),
    keepRejected: keeper(join(dir, 'rejected'), logger),
  }
}

/** A name is never used for another log: not when nothing was written yet, nor when the log ends before the stream does. */
function fitting(found: Map<string, Stream>, { last }: { last: number }) {
  const beyond = [...found.values()].find(({ base, acked }) => base + acked > last)
  if (last > 0 && !beyond) return { streams: found, fault: undefined }
  const fault =
    beyond && `the outbox ends at message ${last} and was known to have ${beyond.base + beyond.acked}: it is an older copy`
  return { streams: new Map<string, Stream>(), fault }
}

async function openSound<T>(
  dir: string,
  segmentBytes: number,
  logger: Logger,
): Promise<{ log: FileLog<T>; damage: string | undefined }> {
  const folder = join(dir, 'log')
  const opening = await openSegmentedLog<T>(folder, { segmentBytes })
  if (opening.state === 'open') {
    if (opening.cut) logger.warn(opening.cut, 'the outbox had a torn end, which was cut; it had not been acknowledged')
    return { log: opening.log, damage: undefined }
  }
  const aside = join(dir, `damaged-${Date.now()}`)
  const damage = `the outbox is damaged (${opening.file}: ${opening.reason}) and was put aside in ${aside}`
  logger.error({ ...opening, aside }, damage)
  const earlier = (await readdir(dir)).filter(name => name.startsWith('damaged-'))
  await rename(folder, aside)
  await rm(join(dir, STREAMS), { force: true })
  syncFolder(dir)
  for (const name of earlier) await rm(join(dir, name), { recursive: true })
  return { ...(await openSound<T>(dir, segmentBytes, logger)), damage }
}

/** @returns what the file says, or why it cannot be read, in words */
async function readStreams(path: string): Promise<Map<string, Stream> | string> {
  try {
    const streams = Object.entries(JSON.parse(await readFile(path, 'utf8')) as Record<string, Partial<Stream> | null>)
    const bad = streams.find(([, stream]) => !isStream(stream))
    return bad ? `${path}: "${bad[0]}" is no stream` : new Map(streams as [string, Stream][])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    if (error instanceof SyntaxError || error instanceof TypeError) return `${path} cannot be read: ${error.message}`
    throw error
  }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isStream = (stream: Partial<Stream> | null): boolean =>
  typeof stream?.id === 'string' && isCount(stream.base) && isCount(stream.acked) && isCount(stream.born)

/** One write after the other; one that fails does not keep the next from running. */
function inTurn<T>(write: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let last = Promise.resolve()
  return value => {
    const turn = last.then(() => write(value))
    last = turn.catch(() => undefined)
    return turn
  }
}

function keeper(folder: string, logger: Logger): OutboxFiles<unknown>['keepRejected'] {
  return (stream, seq, reason, message) => {
    const name = `${stream.id}-${seq}.json`
    logger.error({ seq, reason, kept: name }, 'what was sent cannot be used')
    mkdirSync(folder, { recursive: true })
    if (readdirSync(folder).length < REJECTED_FILES_MAX) {
      writeFileSync(join(folder, name), `${JSON.stringify({ reason, message }, null, 2)}\n`)
    }
  }
}
