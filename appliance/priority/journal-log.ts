/** Opens or inspects the log of the journal: checks that its segments belong together, and indexes its records. */
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JournalIndex } from '../core/priority/journal-index.ts'
import {
  type FindDevice,
  type JournalPayload,
  LINE_HEAD_MAX,
  parseTargetJson,
  type PayloadHead,
  readPayloadHead,
  targetJson,
  withDeviceId,
} from '../core/priority/journal-line.ts'
import { type FileLog, type LogOptions, openSegmentedLog } from '../store/log/segmented-log.ts'
import {
  type CheckSegment,
  type Corruption,
  type CutEnd,
  reportTornEnd,
  type LogSegment,
  type VerifiedLog,
  verifyLog,
} from '../store/log/log-verify.ts'
import { HEAD_FILE, type JournalHead, readHeadFile } from './journal-head.ts'

/** `lost`: acknowledged records that are missing from the end. */
type JournalLog = {
  state: 'open'
  log: FileLog<JournalPayload>
  index: JournalIndex
  cut: CutEnd | undefined
  lost: number
}

/** The journal begins its segments itself, so that the first record of each is in full. */
const NEVER = Number.MAX_SAFE_INTEGER

/**
 * Opens the log and verifies every byte.
 *
 * @param ownerOf finds the device of records that do not name it
 * @throws Error when the folder cannot be read or written
 */
export async function openJournalLog(
  dir: string,
  maxRecords: number,
  ownerOf: FindDevice,
  openFile?: LogOptions['openFile'],
): Promise<JournalLog | Corruption> {
  const head = await checkHead(dir)
  if ('state' in head) return head
  const index = new JournalIndex(maxRecords)
  const keyOf = keysWithDeviceIds(ownerOf)
  const segments = new SegmentChecks(head, {
    record: ({ target, observed_at }, seq) => void index.add(seq, keyOf(target), observed_at),
  })
  const opening = await openSegmentedLog<JournalPayload>(dir, {
    segmentBytes: NEVER,
    check: segments.check,
    ...(openFile && { openFile }),
  })
  return opening.state === 'open' ? { ...opening, index, lost: segments.lost } : opening
}

/** Converts the targets of format 1 to keys with a device id. Each target is looked up once. */
function keysWithDeviceIds(ownerOf: FindDevice): (target: string) => string {
  const keys = new Map<string, string>()
  return target => {
    const known = keys.get(target)
    if (known !== undefined) return known
    const key = targetJson(withDeviceId(parseTargetJson(target), ownerOf))
    keys.set(target, key)
    return key
  }
}

export type JournalInspection = (VerifiedLog & { lost: number }) | Corruption

/** Verifies the journal as `openJournalLog` does and changes nothing. @throws Error when the folder cannot be read */
export async function inspectJournal(dir: string, listener: CheckListener): Promise<JournalInspection> {
  const head = await checkHead(dir)
  if ('state' in head) return head
  const segments = new SegmentChecks(head, listener)
  const verified = await verifyLog(dir, segments.check, reportTornEnd)
  return verified.state === 'verified' ? { ...verified, lost: segments.lost } : verified
}

async function checkHead(dir: string): Promise<JournalHead | Corruption> {
  const head = await readHeadFile(dir)
  const corrupt = (reason: string): Corruption => ({ state: 'corrupt', file: HEAD_FILE, offset: 0, reason })
  if (typeof head === 'string') return corrupt(head)
  if (head.last === 0 || (await readdir(dir)).some(name => name.endsWith('.jsonl'))) return head
  return corrupt(`record ${head.last} was acknowledged, and every segment is missing`)
}

/** Is called for each record and for each segment that passed the checks. */
type CheckListener = {
  record: (head: PayloadHead, seq: number) => void
  segment?: (segment: LogSegment, sha256: string) => void
}

/**
 * Checks segments, oldest first: each record belongs to a journal, each mark refers to a full record before it in its
 * segment, each segment names the SHA-256 of the segment before, and no segment is missing at either end.
 *
 * Records missing from the end of the newest segment are not damage. They are counted as `lost`, whether half a line, half a
 * group or whole groups are missing. A head of version 1 does not name the newest segment, so there only a torn end shows
 * that it exists.
 */
class SegmentChecks {
  lost = 0
  readonly #head: JournalHead
  readonly #listener: CheckListener
  /** SHA-256 of the segment before. */
  #previous: string | undefined

  constructor(head: JournalHead, listener: CheckListener) {
    this.#head = head
    this.#listener = listener
  }

  readonly check: CheckSegment = (segment, bytes, end) => {
    const head = this.#head
    const { first, offsets } = segment
    const last = first + offsets.length - 1
    if (this.#previous === undefined && head.last > 0 && first > head.first)
      return {
        offset: 0,
        reason: `a segment is missing: record ${head.first} was not dropped, and the journal begins at ${first}`,
      }
    const fault = checkRecords(segment, bytes, this.#previous, this.#listener.record)
    if (fault) return fault
    if (end !== 'closed') {
      const isThere = head.segment === undefined ? last >= head.last || end === 'torn' : first >= head.segment
      if (!isThere)
        return {
          offset: bytes.length,
          reason: `a segment is missing: record ${head.last} was acknowledged, and the journal ends at ${last}`,
        }
      this.lost = Math.max(0, head.last - last)
    }
    this.#previous = sha256(bytes)
    this.#listener.segment?.(segment, this.#previous)
    return undefined
  }
}

function checkRecords(
  { first, offsets }: LogSegment,
  bytes: Buffer,
  previous: string | undefined,
  onRecord: CheckListener['record'],
): ReturnType<CheckSegment> {
  const full = new Set<number>()
  for (const [i, offset] of offsets.entries()) {
    const text = bytes.toString('latin1', offset, Math.min(offset + LINE_HEAD_MAX, offsets[i + 1] ?? bytes.length))
    const head = readPayloadHead(text)
    const seq = first + i
    if (!head) return { offset, reason: `record ${seq} is no record of a priority journal` }
    if (head.same_as === undefined) full.add(seq)
    else if (!full.has(head.same_as))
      return { offset, reason: `record ${seq} refers to ${head.same_as}, which is not in full before it` }
    const fault = i === 0 ? chainFault(head, first, previous) : strayHashFault(head)
    if (fault) return { offset, reason: fault }
    onRecord(head, seq)
  }
  return undefined
}

const sha256 = (bytes: Buffer): string => hash('sha256', bytes, 'hex')

/** @param previous hash of the segment before; undefined when it has been dropped */
function chainFault({ previous_segment }: PayloadHead, first: number, previous: string | undefined): string | undefined {
  if (first === 1) return previous_segment === undefined ? undefined : 'the first segment names one before it'
  if (previous_segment === undefined) return 'the segment does not name the hash of the one before it'
  return previous === undefined || previous_segment === previous
    ? undefined
    : `the segment before was altered: its SHA-256 is ${previous}, and ${previous_segment} was recorded`
}

const strayHashFault = ({ previous_segment }: PayloadHead): string | undefined =>
  previous_segment === undefined ? undefined : 'the hash of a segment stands in the middle of a segment'

/** SHA-256 of a closed segment. @throws Error when the file does not have as many bytes as were written */
export async function hashOfSegment(dir: string, { file, bytes }: { file: string; bytes: number }): Promise<string> {
  const found = await readFile(join(dir, file))
  if (found.length !== bytes) throw new Error(`${file} has ${found.length} bytes where ${bytes} were written`)
  return sha256(found)
}
