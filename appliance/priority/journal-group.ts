/** What is done on disk for a visit: how it is written, where a segment begins, and what goes. */
import { type Kept, type KeptFull, type Plan, planVisit, withPreviousSegment } from '../core/priority/journal-line.ts'
import type { PriorityReading } from '#shared/core/priority/priority-record.ts'
import { type Head, writeHeadFile } from './journal-head.ts'
import { hashOfSegment } from './journal-log.ts'
import type { OpenedJournal } from './journal-read.ts'

/** What the log writes around a payload, at most, and a hash. */
const AROUND_BYTES = 200
/** A mark, at most: the longest device id and object type stand in it. */
const MARK_BYTES = 400

/**
 * After a visit: says what must be there, before what is older than the retention is dropped. What fails is not worth
 * refusing a visit that is on the disk; the next time does it.
 */
export async function settle({ log, index }: OpenedJournal, dir: string, fresh: boolean): Promise<void> {
  const { first } = index.range()
  // Almost always none: a visit costs the same however many segments there are.
  let gone = 0
  while (log.segment(gone + 1) && log.segment(gone)!.last < first) gone++
  const kept = log.segment(gone)!.first
  if (fresh || gone > 0) await writeHeadFile(dir, headOf(log, kept))
  log.dropThrough(kept - 1)
}

/** What must be there from now on. */
function headOf(log: OpenedJournal['log'], first: number): Head & { segment: number } {
  const newest = log.segment(-1)!
  return { first, last: log.last(), segment: newest.bytes > 0 ? newest.first : (log.segment(-2)?.first ?? newest.first) }
}

/** After a loss at the end: what is there is all that must be there, so that the loss is told once. */
export const acknowledgeLoss = (log: OpenedJournal['log'], dir: string): Promise<void> =>
  writeHeadFile(dir, headOf(log, log.segment(0)!.first))

/** `begin`: it begins a new segment; `fresh`: it is the first group of one. `bytes`: at most. */
type Group = Plan & { bytes: number; begin: boolean; fresh: boolean }

/**
 * What a visit is written as. The first group of a segment has every record in full, and the hash of the segment before.
 *
 * @throws Error when the segment before is not as it was written
 */
export async function groupOf(
  dir: string,
  { log, known, index }: OpenedJournal,
  visit: PriorityReading[],
  segmentBytes: number,
): Promise<Group> {
  const last = log.segment(-1)!
  const first = log.last() + 1
  const empty = last.bytes === 0
  const before = (key: string) => {
    const found = known.get(key)
    return found && found.record.seq >= index.range().first ? found : undefined
  }
  const plan = planVisit(visit, before, first, last.first)
  const bytes = sizeOf(plan.kept)
  if (!empty && last.bytes + bytes <= segmentBytes) return { ...plan, bytes, begin: false, fresh: false }
  const full = empty ? plan : planVisit(visit, before, first, first)
  const closing = empty ? log.segment(-2) : last
  if (closing) full.kept[0] = withPreviousSegment(full.kept[0] as KeptFull, await hashOfSegment(dir, closing))
  return { ...full, bytes: sizeOf(full.kept), begin: !empty, fresh: true }
}

const sizeOf = (kept: Kept[]): number =>
  kept.reduce(
    (sum, payload) => sum + AROUND_BYTES + ('same_as' in payload ? MARK_BYTES : Buffer.byteLength(JSON.stringify(payload))),
    0,
  )
