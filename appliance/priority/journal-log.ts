/** The journal's log: what its segments hold, whether they belong together, and where each point's records are. */
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type JournalIndex, journalIndex } from '../core/priority/journal-index.ts'
import {
  type Kept,
  type KeptHead,
  LINE_HEAD_MAX,
  ownedTarget,
  type OwnerOf,
  readHead,
  targetFrom,
  targetText,
} from '../core/priority/journal-line.ts'
import { type FileLog, type LogOptions, openSegmentedLog } from '../store/log/segmented-log.ts'
import {
  type CheckSegment,
  type Corruption,
  type Cut,
  leaveEnd,
  type Segment,
  type Verified,
  verifyLog,
} from '../store/log/verify.ts'
import { type Head, HEAD_FILE, readHeadFile } from './journal-head.ts'

/** `lost`: records that were reported as kept and are missing from the end. */
export type JournalLog = { state: 'open'; log: FileLog<Kept>; index: JournalIndex; cut: Cut | undefined; lost: number }

/** The journal begins segments itself, so that the first record of each is in full. */
const NEVER = Number.MAX_SAFE_INTEGER

/**
 * Opens the log and reads every byte of it.
 *
 * @param ownerOf finds the device of records that do not name it
 * @throws Error when the folder cannot be read or written
 */
export async function openJournalLog(
  dir: string,
  maxRecords: number,
  ownerOf: OwnerOf,
  openFile?: LogOptions['openFile'],
): Promise<JournalLog | Corruption> {
  const head = await checkHead(dir)
  if ('state' in head) return head
  const index = journalIndex(maxRecords)
  const keyOf = ownedKeys(ownerOf)
  const { check, lost } = segmentCheck(head, {
    record: ({ target, observed_at }, seq) => void index.add(seq, keyOf(target), observed_at),
  })
  const opening = await openSegmentedLog<Kept>(dir, { segmentBytes: NEVER, check, ...(openFile && { openFile }) })
  return opening.state === 'open' ? { ...opening, index, lost: lost() } : opening
}

/** Targets as records of today have them; each of those from before is looked up once. */
function ownedKeys(ownerOf: OwnerOf): (target: string) => string {
  const owned = new Map<string, string>()
  return target => {
    const known = owned.get(target)
    if (known !== undefined) return known
    const key = targetText(ownedTarget(targetFrom(target), ownerOf))
    owned.set(target, key)
    return key
  }
}

export type Inspected = (Verified & { lost: number }) | Corruption

/** Reads the journal as it is opened, and touches nothing. @throws Error when the folder cannot be read */
export async function inspectJournal(dir: string, found: Found): Promise<Inspected> {
  const head = await checkHead(dir)
  if ('state' in head) return head
  const { check, lost } = segmentCheck(head, found)
  const verified = await verifyLog(dir, check, leaveEnd)
  return verified.state === 'verified' ? { ...verified, lost: lost() } : verified
}

async function checkHead(dir: string): Promise<Head | Corruption> {
  const head = await readHeadFile(dir)
  const corrupt = (reason: string): Corruption => ({ state: 'corrupt', file: HEAD_FILE, offset: 0, reason })
  if (typeof head === 'string') return corrupt(head)
  if (head.last === 0 || (await readdir(dir)).some(name => name.endsWith('.jsonl'))) return head
  return corrupt(`record ${head.last} was kept, and every segment is missing`)
}

type Found = { record: (head: KeptHead, seq: number) => void; segment?: (segment: Segment, sha256: string) => void }

/**
 * Checks segments, oldest first: each record is one of the journal's, each mark refers to a full record before it in its
 * segment, each segment names the SHA-256 of the one before, and no segment is missing at either end.
 *
 * What is missing from the end of the newest segment is no damage: it is counted as `lost`, whether the cut left half a line,
 * half a group or none. A head of version 1 does not name the newest segment, so only a torn end shows that it is there.
 */
function segmentCheck(head: Head, found: Found): { check: CheckSegment; lost: () => number } {
  let previous: string | undefined
  let lost = 0
  const check: CheckSegment = (segment, bytes, end) => {
    const { first, offsets } = segment
    const last = first + offsets.length - 1
    if (previous === undefined && head.last > 0 && first > head.first)
      return {
        offset: 0,
        reason: `a segment is missing: record ${head.first} was not dropped, and the journal begins at ${first}`,
      }
    const fault = checkRecords(segment, bytes, previous, found.record)
    if (fault) return fault
    if (end !== 'closed') {
      const isThere = head.segment === undefined ? last >= head.last || end === 'torn' : first >= head.segment
      if (!isThere)
        return {
          offset: bytes.length,
          reason: `a segment is missing: record ${head.last} was kept, and the journal ends at ${last}`,
        }
      lost = Math.max(0, head.last - last)
    }
    previous = sha256(bytes)
    found.segment?.(segment, previous)
    return undefined
  }
  return { check, lost: () => lost }
}

function checkRecords(
  { first, offsets }: Segment,
  bytes: Buffer,
  previous: string | undefined,
  found: (head: KeptHead, seq: number) => void,
): ReturnType<CheckSegment> {
  const full = new Set<number>()
  for (const [i, offset] of offsets.entries()) {
    const head = readHead(bytes.toString('latin1', offset, Math.min(offset + LINE_HEAD_MAX, offsets[i + 1] ?? bytes.length)))
    const seq = first + i
    if (!head) return { offset, reason: `record ${seq} is no record of priorities` }
    if (head.same_as === undefined) full.add(seq)
    else if (!full.has(head.same_as))
      return { offset, reason: `record ${seq} refers to ${head.same_as}, which is not in full before it` }
    const fault = i === 0 ? unchained(head, first, previous) : strayHash(head)
    if (fault) return { offset, reason: fault }
    found(head, seq)
  }
  return undefined
}

const sha256 = (bytes: Buffer): string => hash('sha256', bytes, 'hex')

/** @param previous hash of the segment before; undefined where it has been dropped */
function unchained({ previous_segment }: KeptHead, first: number, previous: string | undefined): string | undefined {
  if (first === 1) return previous_segment === undefined ? undefined : 'the first segment names one before it'
  if (previous_segment === undefined) return 'the segment does not name the hash of the one before it'
  return previous === undefined || previous_segment === previous
    ? undefined
    : `the segment before was altered: its SHA-256 is ${previous}, and ${previous_segment} was recorded`
}

const strayHash = ({ previous_segment }: KeptHead): string | undefined =>
  previous_segment === undefined ? undefined : 'a hash of a segment stands within a segment'

/** SHA-256 of a segment that nothing more will be written to. @throws Error when it is not as long as it must be */
export async function hashOfSegment(dir: string, { file, bytes }: { file: string; bytes: number }): Promise<string> {
  const found = await readFile(join(dir, file))
  if (found.length !== bytes) throw new Error(`${file} has ${found.length} bytes where ${bytes} were written`)
  return sha256(found)
}
