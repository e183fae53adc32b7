/** Reads records of an open journal in full, whether they were written in full or as marks. */
import type { PriorityQuery } from '#shared/core/ports.ts'
import type { JournalIndex } from '../core/priority/journal-index.ts'
import {
  type FindDevice,
  type JournalPayload,
  type LatestRecord,
  recordOf,
  targetJson,
  withDeviceId,
} from '../core/priority/journal-line.ts'
import type { PriorityRecord, PriorityTarget } from '#shared/core/priority/priority-record.ts'
import type { FileLog } from '../store/log/segmented-log.ts'

/** `latest`: by `targetJson`. `repaired`: its end was torn, or acknowledged records were missing, when it was opened. */
export type OpenedJournal = IndexedLog & { latest: Map<string, LatestRecord>; repaired: boolean }
/** `ownerOf`: the function with which the index was built. */
type IndexedLog = { log: FileLog<JournalPayload>; index: JournalIndex; ownerOf: FindDevice }

/** Reads records and the full records that their marks refer to. @throws Error when one does not verify any more */
function readRecords({ log, ownerOf }: IndexedLog, seqs: number[]): LatestRecord[] {
  const payloads = new Map(log.pick(seqs).map(({ seq, record }) => [seq, record]))
  const referred = [...new Set([...payloads.values()].flatMap(payload => ('same_as' in payload ? [payload.same_as] : [])))]
  for (const { seq, record } of log.pick(referred.filter(seq => !payloads.has(seq)))) payloads.set(seq, record)
  const payloadOf = (seq: number): JournalPayload => {
    const found = payloads.get(seq)
    if (!found) throw new Error(`record ${seq} is missing`)
    return found
  }
  return seqs.map(seq => {
    const payload = payloadOf(seq)
    const record = recordOf(seq, payload, payloadOf)
    const target = withDeviceId(record.target, ownerOf)
    return {
      record: target === record.target ? record : { ...record, target },
      full: 'same_as' in payload ? payload.same_as : seq,
    }
  })
}

/** @throws Error as `readRecords` does */
export function readJournalPage(
  journal: IndexedLog,
  { target, since, before, limit }: PriorityQuery,
): { records: PriorityRecord[]; more: boolean } {
  const seqs = journal.index.find({ keys: target && keysOf(journal.index, target), since, before, limit: limit + 1 })
  return { records: readRecords(journal, seqs.slice(0, limit)).map(({ record }) => record), more: seqs.length > limit }
}

/** @returns the key of the object; without a device id, the keys of this object in every device of the instance */
function keysOf(index: JournalIndex, target: PriorityTarget): string[] {
  if (target.device_id !== undefined) return [targetJson(target)]
  const object = targetJson(target).slice(1)
  return Array.from(index.keys()).filter(key => key.endsWith(object))
}

/** Reads the newest record of every point, by `targetJson`. @throws Error as `readRecords` does */
export function readLatest(journal: IndexedLog): Map<string, LatestRecord> {
  const newest = journal.index.newest()
  const records = readRecords(
    journal,
    newest.map(({ seq }) => seq),
  )
  return new Map(newest.map(({ key }, i) => [key, records[i]!]))
}
