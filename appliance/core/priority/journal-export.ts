/** Reads every readable record of a priority journal, also of a damaged one, and reports the gaps. */
import { objectName } from '#shared/core/bacnet/object-name.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { decodeLine, type RecordLine, NEWLINE } from '../log/log-line.ts'
import { formatInstant } from '#shared/core/time.ts'
import { type JournalPayload, LINE_HEAD_MAX, readPayloadHead, recordOf } from './journal-line.ts'
import { LEVELS, type PriorityRecord, priorityKey, type Slot, type SlotValue } from '#shared/core/priority/priority-record.ts'

/** `bytes` bytes from `offset` on hold no readable record; with 0 bytes, records are missing before that line. */
export type Gap = { file: string; offset: number; bytes: number; reason: string }
export type Salvaged = { record: PriorityRecord } | { gap: Gap }

/**
 * Reads every line of a segment that verifies, and skips those that do not.
 *
 * @param expected sequence of the first record of the segment; undefined when that is unknown
 */
export function* salvageSegment(file: string, bytes: Buffer, expected: number | undefined): Generator<Salvaged> {
  const full = new Map<number, JournalPayload>()
  let bad: { offset: number; bytes: number } | undefined
  let next = expected
  for (const { offset, end, line } of linesOf(bytes)) {
    if (!line) {
      bad = { offset: bad?.offset ?? offset, bytes: (bad?.bytes ?? 0) + end - offset }
      continue
    }
    if (bad) yield unreadable(file, bad)
    bad = undefined
    const gap = (reason: string): Salvaged => ({ gap: { file, offset, bytes: 0, reason } })
    const { seq } = line
    if (next !== undefined && seq > next) yield gap(`${seq - next} missing before record ${seq}`)
    if (next !== undefined && seq < next) yield gap(`record ${seq} stands where ${next} must`)
    const payload = JSON.parse(bytes.toString('utf8', offset + line.from, offset + line.to)) as JournalPayload
    if (!('same_as' in payload)) full.set(seq, payload)
    if ('same_as' in payload && !full.has(payload.same_as))
      yield gap(`${recordName(seq, payload)} was as record ${payload.same_as}, which cannot be read`)
    else yield { record: recordOf(seq, payload, referred => full.get(referred)!) }
    next = seq + 1
  }
  if (bad) yield unreadable(file, bad)
}

/** Splits a segment into lines. `line` is undefined for one that does not verify, or is none of a priority journal. */
function* linesOf(bytes: Buffer): Generator<{ offset: number; end: number; line: RecordLine | undefined }> {
  for (let offset = 0; offset < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, offset)
    const end = newline < 0 ? bytes.length : newline + 1
    const text = bytes.subarray(offset, newline < 0 ? end : newline)
    const line = newline < 0 ? undefined : decodeLine(text)
    const isOurs = line !== undefined && readPayloadHead(text.toString('latin1', 0, LINE_HEAD_MAX)) !== undefined
    yield { offset, end, line: isOurs ? line : undefined }
    offset = end
  }
}

const unreadable = (file: string, bytes: { offset: number; bytes: number }): Salvaged => ({
  gap: { file, ...bytes, reason: 'no line here verifies' },
})

const recordName = (seq: number, { observed_at, target }: JournalPayload): string =>
  `record ${seq}, ${priorityKey(target)} at ${formatInstant(observed_at)},`

/** One line of JSON: a record, or `{"gap":…}`. */
export const jsonLine = (salvaged: Salvaged): string =>
  `${JSON.stringify('gap' in salvaged ? salvaged : { ...salvaged.record, observed_at: formatInstant(salvaged.record.observed_at) })}\n`

export const CSV_HEADER = csvLine(
  [
    ...['seq', 'observed_at', 'device_id', 'device_instance', 'object_type', 'object_instance', 'label'],
    ...Array.from({ length: LEVELS }, (_, i) => `p${i + 1}`),
    ...['active_level', 'present_value', 'relinquish_default', 'out_of_service', 'changed', 'source', 'object_name', 'gap'],
  ],
  ',',
)

/** One line of CSV. A gap fills only the last cell; a level that the device refused begins with `error:`. */
export function csvRow(salvaged: Salvaged): string {
  if ('gap' in salvaged) {
    const { file, offset, bytes, reason } = salvaged.gap
    const empty = Array.from<undefined>({ length: LEVELS + 14 })
    return csvLine([...empty, `${file}, byte ${offset}, ${bytes} bytes: ${reason}`], ',')
  }
  const { seq, observed_at, target, label, slots, source, changed, ...rest } = salvaged.record
  const { device_id, device_instance, object_type, object_instance } = target
  const head = [seq, formatInstant(observed_at), device_id, device_instance, object_type, object_instance, label]
  const name = objectName(`${object_type},${object_instance}`)
  const values = [
    rest.active_level ?? undefined,
    cell(rest.present_value),
    cell(rest.relinquish_default),
    cell(rest.out_of_service),
  ]
  return csvLine([...head, ...slots.map(slotCell), ...values, changed.join(' '), source, name, undefined], ',')
}

const cell = (value: SlotValue | undefined): string | undefined => (value === undefined ? undefined : String(value))
const slotCell = (slot: Slot): string | undefined => {
  if (slot.state === 'value') return cell(slot.value)
  return slot.state === 'error' ? `error: ${slot.error}` : undefined
}
