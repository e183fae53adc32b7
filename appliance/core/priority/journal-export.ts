/** What can still be read of a priority journal, also of a damaged one, and what lies between. */
import { csvLine } from '#shared/core/csv/csv-text.ts'
import { decodeLine, NEWLINE } from '../log/log-line.ts'
import { formatInstant } from '#shared/core/time.ts'
import { type Kept, LINE_HEAD_MAX, readHead, recordOf } from './journal-line.ts'
import { LEVELS, type PriorityRecord, priorityKey, type Slot, type SlotValue } from '#shared/core/priority/priority-record.ts'

/** `bytes` from `offset` of a file on hold no record that can be read; 0 where records are missing between two that can. */
export type Gap = { file: string; offset: number; bytes: number; reason: string }
export type Salvaged = { record: PriorityRecord } | { gap: Gap }

/**
 * Reads every line of a segment that verifies, whatever is between them.
 *
 * @param expected sequence that the segment should begin with; undefined where that is not known
 */
export function* salvageSegment(file: string, bytes: Buffer, expected: number | undefined): Generator<Salvaged> {
  const full = new Map<number, Kept>()
  let bad: { offset: number; bytes: number } | undefined
  const unreadable = (): Salvaged => ({ gap: { file, ...bad!, reason: 'no line here verifies' } })
  let next = expected
  for (let offset = 0; offset < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, offset)
    const end = newline < 0 ? bytes.length : newline + 1
    const text = bytes.subarray(offset, newline < 0 ? end : newline)
    const line = newline < 0 ? undefined : decodeLine(text)
    if (!line || !readHead(text.toString('latin1', 0, LINE_HEAD_MAX))) {
      bad = { offset: bad?.offset ?? offset, bytes: (bad?.bytes ?? 0) + end - offset }
      offset = end
      continue
    }
    if (bad) yield unreadable()
    bad = undefined
    const gap = (reason: string): Salvaged => ({ gap: { file, offset, bytes: 0, reason } })
    if (next !== undefined && line.seq > next) yield gap(`${line.seq - next} missing before record ${line.seq}`)
    if (next !== undefined && line.seq < next) yield gap(`record ${line.seq} stands where ${next} must`)
    const kept = JSON.parse(text.toString('utf8', line.from, line.to)) as Kept
    if (!('same_as' in kept)) full.set(line.seq, kept)
    if ('same_as' in kept && !full.has(kept.same_as))
      yield gap(`${what(line.seq, kept)} was as record ${kept.same_as}, which cannot be read`)
    else yield { record: recordOf(line.seq, kept, seq => full.get(seq)!) }
    next = line.seq + 1
    offset = end
  }
  if (bad) yield unreadable()
}

const what = (seq: number, { observed_at, target }: Kept): string =>
  `record ${seq}, ${priorityKey(target)} at ${formatInstant(observed_at)},`

/** One line of JSON: a record, or `{"gap":…}`. */
export const jsonLine = (salvaged: Salvaged): string =>
  `${JSON.stringify('gap' in salvaged ? salvaged : { ...salvaged.record, observed_at: formatInstant(salvaged.record.observed_at) })}\n`

export const CSV_HEADER = csvLine(
  [
    ...['seq', 'observed_at', 'device_id', 'device_instance', 'object_type', 'object_instance', 'label'],
    ...Array.from({ length: LEVELS }, (_, i) => `p${i + 1}`),
    ...['active_level', 'present_value', 'relinquish_default', 'out_of_service', 'changed', 'source', 'gap'],
  ],
  ',',
)

/** One line of CSV. A gap has nothing but its last cell; a level that could not be read begins with `error:`. */
export function csvRow(salvaged: Salvaged): string {
  if ('gap' in salvaged) {
    const { file, offset, bytes, reason } = salvaged.gap
    const empty = Array.from<undefined>({ length: LEVELS + 13 })
    return csvLine([...empty, `${file}, byte ${offset}, ${bytes} bytes: ${reason}`], ',')
  }
  const { seq, observed_at, target, label, slots, source, changed, ...rest } = salvaged.record
  const { device_id, device_instance, object_type, object_instance } = target
  const head = [seq, formatInstant(observed_at), device_id, device_instance, object_type, object_instance, label]
  const values = [
    rest.active_level ?? undefined,
    cell(rest.present_value),
    cell(rest.relinquish_default),
    cell(rest.out_of_service),
  ]
  return csvLine([...head, ...slots.map(slotCell), ...values, changed.join(' '), source, undefined], ',')
}

const cell = (value: SlotValue | undefined): string | undefined => (value === undefined ? undefined : String(value))
const slotCell = (slot: Slot): string | undefined => {
  if (slot.state === 'value') return cell(slot.value)
  return slot.state === 'error' ? `error: ${slot.error}` : undefined
}
