/** What is read of an open journal: records in full, whatever each was kept as. */
import type { PriorityQuery } from '#shared/core/ports.ts'
import type { JournalIndex } from '../core/priority/journal-index.ts'
import { type Kept, type Known, ownedTarget, type OwnerOf, recordOf, targetText } from '../core/priority/journal-line.ts'
import type { PriorityRecord, PriorityTarget } from '#shared/core/priority/priority-record.ts'
import type { FileLog } from '../store/log/segmented-log.ts'

/** `ownerOf`: as the index was made with. `known`: by `targetText`. `torn`: its end was cut. */
export type OpenedJournal = Indexed & { known: Map<string, Known>; torn: boolean }
type Indexed = { log: FileLog<Kept>; index: JournalIndex; ownerOf: OwnerOf }

/** Reads records, and the full ones that they refer to. @throws Error when one does not verify any more */
function readRecords({ log, ownerOf }: Indexed, seqs: number[]): Known[] {
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
    const record = recordOf(seq, payload, payloadOf)
    const target = ownedTarget(record.target, ownerOf)
    return {
      record: target === record.target ? record : { ...record, target },
      full: 'same_as' in payload ? payload.same_as : seq,
    }
  })
}

/** @throws Error as `readRecords` does */
export function pageOf(
  journal: Indexed,
  { target, since, before, limit }: PriorityQuery,
): { records: PriorityRecord[]; more: boolean } {
  const seqs = journal.index.find({ keys: target && keysOf(journal.index, target), since, before, limit: limit + 1 })
  return { records: readRecords(journal, seqs.slice(0, limit)).map(({ record }) => record), more: seqs.length > limit }
}

/** @returns the key of an object, or those of the object of every device of the instance */
function keysOf(index: JournalIndex, target: PriorityTarget): string[] {
  if (target.device_id !== undefined) return [targetText(target)]
  const object = targetText(target).slice(1)
  return Array.from(index.keys()).filter(key => key.endsWith(object))
}

/** The newest record of every point, by `targetText`. @throws Error as `readRecords` does */
export function latestOf(journal: Indexed): Map<string, Known> {
  const newest = journal.index.newest()
  const known = readRecords(
    journal,
    newest.map(({ seq }) => seq),
  )
  return new Map(newest.map(({ key }, i) => [key, known[i]!]))
}
