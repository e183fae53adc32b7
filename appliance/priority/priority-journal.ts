/** The priority journal in files: appliance/core/log/FORMAT.md draws them. */
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { PriorityJournal, PriorityState } from '#shared/core/ports.ts'
import { type OwnerOf, plainReading, targetText } from '../core/priority/journal-line.ts'
import { type PriorityReading, type PriorityRecord, priorityKey } from '#shared/core/priority/priority-record.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { LogOptions } from '../store/log/segmented-log.ts'
import { acknowledgeLoss, groupOf, settle } from './journal-group.ts'
import { openJournalLog } from './journal-log.ts'
import { latestOf, type OpenedJournal, pageOf } from './journal-read.ts'

export type OpenPriorityJournal = PriorityJournal & {
  /** Resolves when every append that was begun has been kept or refused. Later appends are refused. */
  close(): Promise<void>
}

export type JournalOptions = {
  dir: string
  /** SERVICE_PRIORITY_HISTORY_MAX_RECORDS */
  maxRecords: number
  /** Finds the device of records from before journals named it. Without it they are shown with their instance alone. */
  ownerOf?: OwnerOf
  log: Logger
  /** A segment that would grow beyond this is closed and the next one begun. Default 4 MiB. */
  segmentBytes?: number
  /** How long after a failure the disk is tried again, ms. Default 30 s. */
  retryMs?: number
  /** How long after a visit `head.json` says that it is kept, ms. Default 1 s. */
  headMs?: number
  openFile?: LogOptions['openFile']
}

const SEGMENT_BYTES = 4 * 1024 * 1024
const RETRY_MS = 30_000
/** Visits come minutes apart, so this is soon after each; and it bounds how often the file is replaced. */
const HEAD_MS = 1000

/** `damaged`: only an operator makes it good. Else the disk failed, and is tried again. */
type Fault = { reason: string; damaged: boolean }

/**
 * Opens, or makes, the journal in `dir` and verifies every byte of it. One process at a time may have it open.
 *
 * Never rejects: what is wrong stands in `state()`. A journal whose disk failed goes on by itself when the disk does; one
 * that is damaged stays closed, with everything that is in it, until an operator has put it aside.
 */
export async function openPriorityJournal(options: JournalOptions): Promise<OpenPriorityJournal> {
  const { dir, maxRecords, log: logger, segmentBytes = SEGMENT_BYTES, retryMs = RETRY_MS, headMs = HEAD_MS, openFile } = options
  let opened: OpenedJournal | undefined
  let fault: Fault | undefined
  let closed = false
  let refusedBytes = 0
  let timer: NodeJS.Timeout | undefined
  let headTimer: NodeJS.Timeout | undefined
  let cuts = 0
  let lost = 0
  let turn: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }

  const tidying = failureLog(logger, 'the journal is not tidied up yet', 'the journal is tidied up again')
  const fail = (found: Fault) => {
    // On a full disk the reason has other figures each time.
    if (fault?.damaged !== found.damaged) logger.error(found, 'priority history is paused')
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
      const ownerOf = steady(options.ownerOf ?? (() => undefined))
      const found = await openJournalLog(dir, maxRecords, ownerOf, openFile)
      if (found.state === 'corrupt')
        return fail({ reason: `${found.file}, byte ${found.offset}: ${found.reason}`, damaged: true })
      const { log, index } = found
      if (found.lost > 0) await acknowledgeLoss(log, dir).catch(async error => (await log.close(), Promise.reject(error)))
      const torn = found.cut !== undefined || found.lost > 0
      opened = { log, index, ownerOf, known: latestOf({ log, index, ownerOf }), torn }
      if (found.cut) cuts++
      lost += found.lost
      const facts = { ...found.cut, lost: found.lost }
      if (found.lost > 0) logger.error(facts, 'priority journal: records that were reported as kept are missing from its end')
      else if (found.cut) logger.warn(facts, 'priority journal: torn end cut, none of it was reported as kept')
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
    if (opened && !isInPlace(dir, opened)) shut(Object.assign(new Error('the journal was put aside'), { code: 'ENOENT' }))
    if (!opened && !fault?.damaged) await takeUp()
    if (!opened) throw new Error(`priority history is disabled: ${fault?.reason}`)
    const { log, index, known } = opened
    const plan = await groupOf(dir, opened, visit, segmentBytes).catch((error: Error) => (shut(error), Promise.reject(error)))
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
    await settle(opened, dir, plan.fresh).then(tidying.worked, tidying.failed)
    headTimer ??= setTimeout(() => void inTurn(sayWhatIsKept), headMs).unref()
    return plan.records
  }

  /** What was reported stands beside the log too, so that a log which ends before it is seen to. */
  const sayWhatIsKept = async () => {
    headTimer = undefined
    if (opened && !fault && !closed) await settle(opened, dir, true).then(tidying.worked, tidying.failed)
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
    state: () => ({ ...stateOf(opened, fault), ...(cuts > 0 && { cuts }), ...(lost > 0 && { lost }) }),
    close: async () => {
      closed = true
      clearTimeout(timer)
      clearTimeout(headTimer)
      await turn
      if (!opened) return
      await opened.log.close()
      if (!fault && opened.index.range().last > 0) await settle(opened, dir, true).then(tidying.worked, tidying.failed)
    },
  }
}

/** Answers alike while the journal is open, whatever becomes of the catalogue: the index was made with the first answer. */
function steady(ownerOf: OwnerOf): OwnerOf {
  const known = new Map<number, string | undefined>()
  return device_instance => {
    if (!known.has(device_instance)) known.set(device_instance, ownerOf(device_instance))
    return known.get(device_instance)
  }
}

/** An operator may put the folder aside while it is open: what is written to it then would be in no history. */
const isInPlace = (dir: string, { log }: OpenedJournal): boolean => existsSync(join(dir, log.segment(-1)!.file))

function stateOf(opened: OpenedJournal | undefined, fault: Fault | undefined): PriorityState {
  const range = opened?.index.range() ?? { first: 1, last: 0 }
  if (fault) return { journal: 'disabled', reason: fault.reason, ...range }
  return { journal: opened?.torn ? 'repaired' : 'ok', ...range }
}
