/** Plans how a visit is written to the journal, and keeps `head.json` and the retention up to date. */
import {
  type FullPayload,
  type JournalPayload,
  payloadsOfVisit,
  type VisitPayloads,
  withPreviousSegment,
} from '../core/priority/journal-line.ts'
import type { PriorityReading } from '#shared/core/priority/priority-record.ts'
import { type JournalHead, writeHeadFile } from './journal-head.ts'
import { hashOfSegment } from './journal-log.ts'
import type { OpenedJournal } from './journal-read.ts'

/** Most bytes that the log writes around a payload, with a hash. */
const AROUND_BYTES = 200
/** Most bytes of a mark, with the longest device id and object type. */
const MARK_BYTES = 400

/**
 * Drops the segments beyond the retention. `head.json` is replaced before that, so that it never names a dropped record.
 *
 * @param always replace `head.json` also when no segment is dropped
 * @throws Error of the disk; the visit before is durable, and the next call makes up for it
 */
export async function updateHead({ log, index }: OpenedJournal, dir: string, always: boolean): Promise<void> {
  const { first } = index.range()
  // Almost always none, so a visit costs the same for any number of segments.
  let dropped = 0
  while (log.segment(dropped + 1) && log.segment(dropped)!.last < first) dropped++
  const oldest = log.segment(dropped)!.first
  if (always || dropped > 0) await writeHeadFile(dir, headOf(log, oldest))
  log.dropThrough(oldest - 1)
}

/** The head of the log as it is now. */
function headOf(log: OpenedJournal['log'], first: number): JournalHead & { segment: number } {
  const newest = log.segment(-1)!
  return { first, last: log.last(), segment: newest.bytes > 0 ? newest.first : (log.segment(-2)?.first ?? newest.first) }
}

/** After a loss at the end, makes `head.json` name the records that are left, so that the loss is reported once. */
export const acknowledgeLoss = (log: OpenedJournal['log'], dir: string): Promise<void> =>
  writeHeadFile(dir, headOf(log, log.segment(0)!.first))

/** `startsSegment`: the log begins a segment for it. `isFirstOfSegment`: also true in an empty segment. `bytes`: at most. */
type VisitGroup = VisitPayloads & { bytes: number; startsSegment: boolean; isFirstOfSegment: boolean }

/**
 * Plans the group of a visit. The first group of a segment has every record in full, and the hash of the segment before.
 *
 * @throws Error when the segment before is not as it was written
 */
export async function planGroup(
  dir: string,
  { log, latest, index }: OpenedJournal,
  visit: PriorityReading[],
  segmentBytes: number,
): Promise<VisitGroup> {
  const last = log.segment(-1)!
  const first = log.last() + 1
  const isEmpty = last.bytes === 0
  const latestOf = (key: string) => {
    const found = latest.get(key)
    return found && found.record.seq >= index.range().first ? found : undefined
  }
  const plan = payloadsOfVisit(visit, latestOf, first, last.first)
  const bytes = sizeOf(plan.payloads)
  if (!isEmpty && last.bytes + bytes <= segmentBytes) return { ...plan, bytes, startsSegment: false, isFirstOfSegment: false }
  const full = isEmpty ? plan : payloadsOfVisit(visit, latestOf, first, first)
  const closing = isEmpty ? log.segment(-2) : last
  if (closing) full.payloads[0] = withPreviousSegment(full.payloads[0] as FullPayload, await hashOfSegment(dir, closing))
  return { ...full, bytes: sizeOf(full.payloads), startsSegment: !isEmpty, isFirstOfSegment: true }
}

const sizeOf = (payloads: JournalPayload[]): number =>
  payloads.reduce(
    (sum, payload) => sum + AROUND_BYTES + ('same_as' in payload ? MARK_BYTES : Buffer.byteLength(JSON.stringify(payload))),
    0,
  )
