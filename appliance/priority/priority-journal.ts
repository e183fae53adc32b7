/** The priority journal in files. appliance/core/log/FORMAT.md specifies them. */
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import type { PriorityJournal, PriorityQuery, PriorityState } from '#shared/core/ports.ts'
import { type PriorityReading, type PriorityRecord, priorityKey } from '#shared/core/priority/priority-record.ts'
import { type FailureLog, failureLog } from '#shared/node/failure-log.ts'
import { type FindDevice, normalizeReading, targetJson } from '../core/priority/journal-line.ts'
import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import type { LogOptions } from '../store/log/segmented-log.ts'
import { acknowledgeLoss, planGroup, updateHead } from './journal-group.ts'
import { openJournalLog } from './journal-log.ts'
import { type OpenedJournal, readJournalPage, readLatest } from './journal-read.ts'

export type OpenPriorityJournal = PriorityJournal & {
  /** Resolves when all appends have been written or refused. Later appends are refused. */
  close(): Promise<void>
}

export type JournalOptions = {
  dir: string
  /** SERVICE_PRIORITY_HISTORY_MAX_RECORDS */
  maxRecords: number
  /** Finds the device of records of format 1, which do not name it. Without it records are identified by the instance alone. */
  ownerOf?: FindDevice
  log: Logger
  /** Largest segment. A group that does not fit begins the next one. Default 4 MiB. */
  segmentBytes?: number
  /** From a failure to the next attempt, ms. Default 30 s. */
  retryMs?: number
  /** From a visit to the update of `head.json`, ms. Default 1 s. */
  headMs?: number
  openFile?: LogOptions['openFile']
}

const SEGMENT_BYTES = 4 * 1024 * 1024
const RETRY_MS = 30_000
/** Visits are minutes apart, so `head.json` follows each of them soon. This also bounds how often the file is replaced. */
const HEAD_MS = 1000

/** `damaged`: only an operator can resolve it. Otherwise the disk failed, and it is tried again. */
type Fault = { reason: string; damaged: boolean }

/**
 * Opens the journal in `dir`, or creates it, and verifies every byte. Only one process may have it open.
 *
 * Never rejects: `state()` reports what is wrong. After a failure of the disk the journal resumes by itself when the disk
 * works again. A damaged journal stays closed, and its files stay as they are, until an operator sets them aside.
 */
export async function openPriorityJournal(options: JournalOptions): Promise<OpenPriorityJournal> {
  const journal = new JournalFiles(options)
  await journal.open()
  return {
    append: visit => journal.append(visit),
    page: query => journal.page(query),
    latest: () => journal.latest(),
    state: () => journal.state(),
    close: () => journal.close(),
  }
}

class JournalFiles {
  readonly #options: JournalOptions
  readonly #log: Logger
  /** Everything that writes runs through this. */
  readonly #oneAtATime = createSerialQueue()
  readonly #headFailures: FailureLog
  /** Undefined while the journal is not open. */
  #opened: OpenedJournal | undefined
  #fault: Fault | undefined
  #closed = false
  /** Size of the last group that was refused: more than that must be free before the disk is tried again. */
  #refusedBytes = 0
  #retryTimer: NodeJS.Timeout | undefined
  #headTimer: NodeJS.Timeout | undefined
  #cuts = 0
  #lost = 0

  constructor(options: JournalOptions) {
    this.#options = options
    this.#log = options.log
    this.#headFailures = failureLog(
      options.log,
      'priority journal: head.json or old segments not updated, trying again',
      'priority journal: head.json and old segments updated again',
    )
  }

  async open(): Promise<void> {
    const { dir, maxRecords, ownerOf = () => undefined, openFile } = this.#options
    try {
      const findDevice = memoized(ownerOf)
      const found = await openJournalLog(dir, maxRecords, findDevice, openFile)
      if (found.state === 'corrupt')
        return this.#fail({ reason: `${found.file}, byte ${found.offset}: ${found.reason}`, damaged: true })
      const { log, index, cut, lost } = found
      if (lost > 0) await acknowledgeLoss(log, dir).catch(async error => (await log.close(), Promise.reject(error)))
      const parts = { log, index, ownerOf: findDevice }
      this.#opened = { ...parts, latest: readLatest(parts), repaired: cut !== undefined || lost > 0 }
      if (cut) this.#cuts++
      this.#lost += lost
      const facts = { ...cut, lost }
      if (lost > 0) this.#log.error(facts, 'priority journal: acknowledged records missing from its end, going on without them')
      else if (cut) this.#log.warn(facts, 'priority journal: torn end cut, none of it was acknowledged')
      this.#clearFault()
    } catch (error) {
      this.#fail({ reason: `the journal cannot be opened: ${errorText(error)}`, damaged: false })
    }
  }

  append(visit: PriorityReading[]): Promise<PriorityRecord[]> {
    return this.#oneAtATime(async () => (visit.length === 0 ? [] : this.#write(visit.map(normalizeReading))))
  }

  page(query: PriorityQuery): { records: PriorityRecord[]; more: boolean } {
    if (!this.#opened) return { records: [], more: false }
    try {
      return readJournalPage(this.#opened, query)
    } catch (error) {
      this.#closeUnreadable(error as Error)
      return { records: [], more: false }
    }
  }

  latest(): ReadonlyMap<string, PriorityRecord> {
    const latest = [...(this.#opened?.latest.values() ?? [])]
    return new Map(latest.map(({ record }) => [priorityKey(record.target), record]))
  }

  state(): PriorityState {
    const range = this.#opened?.index.range() ?? { first: 1, last: 0 }
    const health = this.#fault
      ? { journal: 'disabled' as const, reason: this.#fault.reason }
      : { journal: this.#opened?.repaired ? ('repaired' as const) : ('ok' as const) }
    return { ...health, ...range, ...(this.#cuts > 0 && { cuts: this.#cuts }), ...(this.#lost > 0 && { lost: this.#lost }) }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#headTimer)
    await this.#oneAtATime(async () => undefined)
    if (!this.#opened) return
    await this.#opened.log.close()
    if (!this.#fault && this.#opened.index.range().last > 0) await this.#updateHead(this.#opened, true)
  }

  async #write(visit: PriorityReading[]): Promise<PriorityRecord[]> {
    const { dir, segmentBytes = SEGMENT_BYTES, headMs = HEAD_MS } = this.#options
    if (this.#closed) throw new Error('the priority journal is closed')
    if (this.#opened && !isInPlace(dir, this.#opened))
      this.#closeUnreadable(Object.assign(new Error('the journal was moved away'), { code: 'ENOENT' }))
    if (!this.#opened && !this.#fault?.damaged) await this.open()
    const opened = this.#assertOpen()
    const group = await planGroup(dir, opened, visit, segmentBytes).catch((error: Error) => {
      this.#closeUnreadable(error)
      throw error
    })
    this.#refusedBytes = group.bytes
    await opened.log.append(group.payloads, { startsSegment: group.startsSegment }).catch((error: Error) => {
      this.#refuse(error)
      throw error
    })
    this.#assertOpen()
    this.#clearFault()
    const { index, latest } = opened
    for (const { seq, target, observed_at } of group.records) {
      const key = targetJson(target)
      const gone = index.add(seq, key, observed_at)
      if (gone !== undefined) latest.delete(gone)
      latest.set(key, group.latest.get(key)!)
    }
    await this.#updateHead(opened, group.isFirstOfSegment)
    this.#headTimer ??= setTimeout(() => void this.#oneAtATime(() => this.#updateHeadLater()), headMs).unref()
    return group.records
  }

  /** A page that is read while a group is written may find damage and close the journal. */
  #assertOpen(): OpenedJournal {
    if (!this.#opened) throw new Error(`priority history is disabled: ${this.#fault?.reason}`)
    return this.#opened
  }

  /** `head.json` says which records are acknowledged, so that a log which ends before them is detected. */
  async #updateHeadLater(): Promise<void> {
    this.#headTimer = undefined
    if (this.#opened && !this.#fault && !this.#closed) await this.#updateHead(this.#opened, true)
  }

  /** A failure does not refuse the visit, which is on the disk. The next update makes up for it. */
  async #updateHead(opened: OpenedJournal, always: boolean): Promise<void> {
    await updateHead(opened, this.#options.dir, always).then(this.#headFailures.worked, this.#headFailures.failed)
  }

  #fail(fault: Fault): void {
    // The reason of a full disk differs each time, because it contains figures.
    if (this.#fault?.damaged !== fault.damaged) this.#log.error(fault, 'priority history paused: no visits until it works again')
    this.#fault = fault
    clearTimeout(this.#retryTimer)
    const { retryMs = RETRY_MS } = this.#options
    if (!this.#closed) this.#retryTimer = setTimeout(() => void this.#oneAtATime(() => this.#retry()), retryMs).unref()
  }

  #clearFault(): void {
    if (this.#fault) this.#log.warn({ was: this.#fault.reason }, 'priority history works again')
    this.#fault = undefined
    clearTimeout(this.#retryTimer)
  }

  async #retry(): Promise<void> {
    const { dir } = this.#options
    if (!this.#fault || this.#closed) return
    if (!this.#opened) {
      if (this.#fault.damaged && existsSync(dir)) this.#fail(this.#fault)
      else await this.open()
      return
    }
    try {
      const { bavail, bsize } = statfsSync(dir)
      if (bavail * bsize < 2 * this.#refusedBytes) return this.#fail(this.#fault)
      await this.#opened.log.recover()
      this.#clearFault()
    } catch (error) {
      this.#refuse(error as Error)
    }
  }

  /** Closes a journal whose records cannot be read any more. An error of the system is the disk's; any other is damage. */
  #closeUnreadable(error: NodeJS.ErrnoException): void {
    const log = this.#opened?.log
    this.#opened = undefined
    this.#fail({ reason: error.message, damaged: error.code === undefined })
    void log?.close().catch(() => undefined)
  }

  /**
   * Pauses a journal that cannot be written. The log verifies itself before it resumes; an error without a code means that it
   * does not verify.
   */
  #refuse(error: NodeJS.ErrnoException): void {
    if (error.code === undefined) return this.#closeUnreadable(error)
    this.#fail({ reason: `the journal cannot be written: ${error.message}`, damaged: false })
  }
}

/** Caches each answer while the journal is open, because the index was built with the first one; the catalogue may change. */
function memoized(findDevice: FindDevice): FindDevice {
  const known = new Map<number, string | undefined>()
  return device_instance => {
    if (!known.has(device_instance)) known.set(device_instance, findDevice(device_instance))
    return known.get(device_instance)
  }
}

/** An operator may move the folder while it is open. Records written to it after that would be in no history. */
const isInPlace = (dir: string, { log }: OpenedJournal): boolean => existsSync(join(dir, log.segment(-1)!.file))
