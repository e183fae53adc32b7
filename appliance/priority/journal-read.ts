/** What is read of an open journal: records in full, whatever each was kept as. */
import type { PriorityQuery } from '#shared/core/ports.ts'
import type { JournalIndex } from '#shared/core/priority/journal-index.ts'
import { type Kept, type Known, recordOf, targetText } from '#shared/core/priority/journal-line.ts'
import type { PriorityRecord } from '#shared/core/priority/record.ts'
import type { FileLog } from '#shared/node/segmented-log.ts'

/** `known`: by `targetText`. */
export type OpenedJournal = { log: FileLog<Kept>; index: JournalIndex; known: Map<string, Known>; torn: boolean }

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

/** @throws Error as `readRecords` does */
export function pageOf(
  { log, index }: OpenedJournal,
  { target, since, before, limit }: PriorityQuery,
): { records: PriorityRecord[]; more: boolean } {
  const key = target && targetText(target)
  const seqs = index.find({ key, since, before, limit: limit + 1 })
  return { records: readRecords(log, seqs.slice(0, limit)).map(({ record }) => record), more: seqs.length > limit }
}

/** The newest record of every point, by `targetText`. @throws Error as `readRecords` does */
export function latestOf(log: FileLog<Kept>, index: JournalIndex): Map<string, Known> {
  const newest = index.newest()
  const known = readRecords(
    log,
    newest.map(({ seq }) => seq),
  )
  return new Map(newest.map(({ key }, i) => [key, known[i]!]))
}
