/** The priority journal in files: shared/core/history/FORMAT.md draws them. */
import { existsSync, statfsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { PriorityJournal, PriorityQuery, PriorityState } from '#shared/core/ports.ts'
import type { JournalIndex } from '#shared/core/priority/journal-index.ts'
import {
  type Kept,
  type KeptFull,
  type Known,
  planVisit,
  plainReading,
  recordOf,
  targetText,
  withPreviousSegment,
} from '#shared/core/priority/journal-line.ts'
import { type PriorityReading, type PriorityRecord, priorityKey } from '#shared/core/priority/record.ts'
import type { FileLog, LogOptions } from '#shared/node/segmented-log.ts'
import { writeHeadFile } from './journal-head.ts'
import { hashOfSegment, openJournalLog } from './journal-log.ts'

export type OpenPriorityJournal = PriorityJournal & {
  /** Resolves when every append that was begun has been kept or refused. Later appends are refused. */
  close(): Promise<void>
}

export type JournalOptions = {
  dir: string
  /** SERVICE_PRIORITY_HISTORY_MAX_RECORDS */
  maxRecords: number
  log: Logger
  /** A segment that would grow beyond this is closed and the next one begun. Default 4 MiB. */
  segmentBytes?: number
  /** How long after a failure the disk is tried again, ms. Default 30 s. */
  retryMs?: number
  openFile?: LogOptions['openFile']
}

const SEGMENT_BYTES = 4 * 1024 * 1024
const RETRY_MS = 30_000
/** What the log writes around a payload, at most, and a hash. */
const AROUND_BYTES = 200
/** A mark, at most. */
const MARK_BYTES = 260

/** `known`: by `targetText`. */
type Opened = { log: FileLog<Kept>; index: JournalIndex; known: Map<string, Known>; torn: boolean }
/** `damaged`: only an operator makes it good. Else the disk failed, and is tried again. */
type Fault = { reason: string; damaged: boolean }

/**
 * Opens, or makes, the journal in `dir` and verifies every byte of it. One process at a time may have it open.
 *
 * Never rejects: what is wrong stands in `state()`. A journal whose disk failed goes on by itself when the disk does; one
 * that is damaged stays closed, with everything that is in it, until an operator has put it aside.
 */
export async function openPriorityJournal(options: JournalOptions): Promise<OpenPriorityJournal> {
  const { dir, maxRecords, log: logger, segmentBytes = SEGMENT_BYTES, retryMs = RETRY_MS, openFile } = options
  let opened: Opened | undefined
  let fault: Fault | undefined
  let closed = false
  let refusedBytes = 0
  let timer: NodeJS.Timeout | undefined
  let turn: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }

  const fail = (found: Fault) => {
    if (fault?.reason !== found.reason) logger.error(found, 'priority history is paused')
    fault = found
    clearTimeout(timer)
    if (!closed) timer = setTimeout(() => void inTurn(tryAgain), retryMs).unref()
  }
  const mend = () => {
    if (fault) logger.warn({ was: fault.reason }, 'priority history goes on')
    fault = undefined
    clearTimeout(timer)
  }

  const takeUp = async () => {
    try {
      const found = await openJournalLog(dir, maxRecords, openFile)
      if (found.state === 'corrupt')
        return fail({ reason: `${found.file}, byte ${found.offset}: ${found.reason}`, damaged: true })
      opened = { log: found.log, index: found.index, known: latestOf(found.log, found.index), torn: found.cut !== undefined }
      if (found.cut)
        logger.warn(found.cut, 'the priority journal had a torn end, which was cut; it had not been reported as kept')
      mend()
    } catch (error) {
      fail({ reason: `the journal cannot be opened: ${(error as Error).message}`, damaged: false })
    }
  }

  const tryAgain = async () => {
    if (!fault || closed) return
    if (!opened) return fault.damaged && existsSync(dir) ? fail(fault) : takeUp()
    try {
      const { bavail, bsize } = statfsSync(dir)
      if (bavail * bsize < 2 * refusedBytes) return fail(fault)
      await opened.log.recover()
      mend()
    } catch (error) {
      refuse(error as Error)
    }
  }

  /** What was kept cannot be read any more. An error of the system is the disk's; anything else is damage. */
  const shut = (error: NodeJS.ErrnoException) => {
    const log = opened?.log
    opened = undefined
    fail({ reason: error.message, damaged: error.code === undefined })
    void log?.close().catch(() => undefined)
  }

  /** What cannot be written: the log verifies again before it goes on, and when it cannot, what was kept is damaged. */
  const refuse = (error: NodeJS.ErrnoException) => {
    if (error.code === undefined) return shut(error)
    fail({ reason: `the journal cannot be written: ${error.message}`, damaged: false })
  }

  const write = async (visit: PriorityReading[]): Promise<PriorityRecord[]> => {
    if (closed) throw new Error('the priority journal is closed')
    if (!opened && !fault?.damaged) await takeUp()
    if (!opened) throw new Error(`priority history is disabled: ${fault?.reason}`)
    const { log, index, known } = opened
    const plan = await group(dir, opened, visit, segmentBytes).catch((error: Error) => (shut(error), Promise.reject(error)))
    refusedBytes = plan.bytes
    await log.append(plan.kept, { fresh: plan.begin }).catch((error: Error) => (refuse(error), Promise.reject(error)))
    if (!opened) throw new Error(`priority history is disabled: ${fault?.reason}`)
    mend()
    for (const { seq, target, observed_at } of plan.records) {
      const key = targetText(target)
      const gone = index.add(seq, key, observed_at)
      if (gone !== undefined) known.delete(gone)
      known.set(key, plan.known.get(key)!)
    }
    await settle(opened, dir, plan.fresh).catch(error => logger.warn({ err: error }, 'the journal is not tidied up yet'))
    return plan.records
  }

  await takeUp()
  return {
    append: visit => inTurn(async () => (visit.length === 0 ? [] : write(visit.map(plainReading)))),
    page(query) {
      if (!opened) return { records: [], more: false }
      try {
        return pageOf(opened, query)
      } catch (error) {
        shut(error as Error)
        return { records: [], more: false }
      }
    },
    latest: () => new Map([...(opened?.known.values() ?? [])].map(({ record }) => [priorityKey(record.target), record])),
    state: () => stateOf(opened, fault),
    close: async () => {
      closed = true
      clearTimeout(timer)
      await turn
      if (!opened) return
      await opened.log.close()
      if (!fault && opened.index.range().last > 0)
        await settle(opened, dir, true).catch(error => logger.warn({ err: error }, 'the journal is not tidied up'))
    },
  }
}

function stateOf(opened: Opened | undefined, fault: Fault | undefined): PriorityState {
  const range = opened?.index.range() ?? { first: 1, last: 0 }
  if (fault) return { journal: 'disabled', reason: fault.reason, ...range }
  return { journal: opened?.torn ? 'repaired' : 'ok', ...range }
}

/**
 * After a visit: says what must be there, before what is older than the retention is dropped. What fails is not worth
 * refusing a visit that is on the disk; the next time does it.
 */
async function settle({ log, index }: Opened, dir: string, fresh: boolean): Promise<void> {
  const { first, last } = index.range()
  const segments = log.segments()
  const kept = segments.find(segment => segment.last >= first)!.first
  if (fresh || kept > segments[0]!.first) await writeHeadFile(dir, { first: kept, last })
  log.dropThrough(kept - 1)
}

/** What a visit is written as. The first group of a segment has every record in full, and the hash of the segment before. */
async function group(dir: string, { log, known, index }: Opened, visit: PriorityReading[], segmentBytes: number) {
  const segments = log.segments()
  const last = segments.at(-1)!
  const first = log.state().last + 1
  const empty = last.bytes === 0
  const before = (key: string) => {
    const found = known.get(key)
    return found && found.record.seq >= index.range().first ? found : undefined
  }
  const plan = planVisit(visit, before, first, last.first)
  const bytes = sizeOf(plan.kept)
  if (!empty && last.bytes + bytes <= segmentBytes) return { ...plan, bytes, begin: false, fresh: false }
  const full = empty ? plan : planVisit(visit, before, first, first)
  const closing = empty ? segments.at(-2) : last
  if (closing) full.kept[0] = withPreviousSegment(full.kept[0] as KeptFull, await hashOfSegment(dir, closing))
  return { ...full, bytes: sizeOf(full.kept), begin: !empty, fresh: true }
}

const sizeOf = (kept: Kept[]): number =>
  kept.reduce(
    (sum, payload) => sum + AROUND_BYTES + ('same_as' in payload ? MARK_BYTES : Buffer.byteLength(JSON.stringify(payload))),
    0,
  )

/** Reads records, and the full ones that they refer to. @throws Error when one does not verify any more */
function readRecords(log: FileLog<Kept>, seqs: number[]): Known[] {
  const kept = new Map(log.pick(seqs).map(({ seq, record }) => [seq, record]))
  const referred = [...new Set([...kept.values()].flatMap(record => ('same_as' in record ? [record.same_as] : [])))]
  for (const { seq, record } of log.pick(referred.filter(seq => !kept.has(seq)))) kept.set(seq, record)
  const payloadOf = (seq: number): Kept => {
    const found = kept.get(seq)
    if (!found) throw new Error(`record ${seq} is missing`)
    return found
  }
  return seqs.map(seq => {
    const payload = payloadOf(seq)
    return { record: recordOf(seq, payload, payloadOf), full: 'same_as' in payload ? payload.same_as : seq }
  })
}

function pageOf({ log, index }: Opened, { target, since, before, limit }: PriorityQuery) {
  const key = target && targetText(target)
  const seqs = index.find({ key, since, before, limit: limit + 1 })
  return { records: readRecords(log, seqs.slice(0, limit)).map(({ record }) => record), more: seqs.length > limit }
}

function latestOf(log: FileLog<Kept>, index: JournalIndex): Map<string, Known> {
  const newest = index.newest()
  const known = readRecords(
    log,
    newest.map(({ seq }) => seq),
  )
  return new Map(newest.map(({ key }, i) => [key, known[i]!]))
}
