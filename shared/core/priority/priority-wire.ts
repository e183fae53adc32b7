/** `svc_priority_history_v1`: requests for the priority history of an edge and their answers, over HTTP and over MQTT. */
import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import type { PriorityState } from '#shared/core/ports.ts'
import { formatInstant } from '#shared/core/time.ts'
import { CURSOR_MAX } from './history-cursor.ts'
import { PriorityLevels } from './level-settings.ts'
import { LEVELS, type PriorityRecord } from './priority-record.ts'
import { OTHER_DEVICES_MAX, type VisitScheduleState, type Visit } from './visit.ts'

export const HISTORY_SCHEMA = 'svc_priority_history_v1'
export const PAGE_MAX = 100
/** Most bytes of the records of one page, so that the answer fits into a message. The rest follows on the next page. */
export const RECORDS_BYTES_MAX = 192 * 1024
/** 135-2020 12.11 and 21: instances have 22 bits, and all ones is not a valid instance. */
const INSTANCE_MAX = 4_194_302

const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })
const words = <const T extends string>(list: readonly T[]) => Type.Union(list.map(word => Type.Literal(word)))
const instance = Type.Integer({ minimum: 0, maximum: INSTANCE_MAX })
const instant = Type.String({
  pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$`,
  maxLength: 40,
})
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()])
const text = (maxLength: number) => Type.String({ maxLength })
const level = Type.Integer({ minimum: 1, maximum: LEVELS })
const value = Type.Union([Type.Number(), Type.Boolean(), text(4096)])
const ok = Type.Literal(true)
/** A UUID or another id that an edge gives a visit. */
export const VISIT_ID = Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' })

/** The device in the list of the edge; needed when two devices of a building have one instance. */
const device_id = Type.Optional(ID)

const Target = strict({
  device_id,
  device_instance: instance,
  object_type: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
  object_instance: instance,
})
/** All members are optional. An empty request gives the newest records of all points. */
export const HistoryRequest = strict({
  schema: Type.Optional(Type.Literal(HISTORY_SCHEMA)),
  target: Type.Optional(Target),
  since: Type.Optional(instant),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: PAGE_MAX })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_MAX })),
})
export type HistoryRequest = Static<typeof HistoryRequest>

const Slot = Type.Union([
  strict({ level, state: Type.Literal('null') }),
  strict({ level, state: Type.Literal('value'), type: text(64), value }),
  strict({ level, state: Type.Literal('error'), error: text(1024) }),
])
const Record = strict({
  seq: Type.Integer({ minimum: 1 }),
  observed_at: instant,
  target: Target,
  label: Type.Optional(text(1024)),
  slots: Type.Array(Slot, { minItems: LEVELS, maxItems: LEVELS }),
  active_level: orNull(level),
  present_value: Type.Optional(value),
  relinquish_default: Type.Optional(value),
  out_of_service: Type.Optional(Type.Boolean()),
  changed: Type.Array(level, { maxItems: LEVELS }),
  source: words(['scheduled', 'triggered']),
})
export type WireRecord = Static<typeof Record>

const Scanner = strict({
  enabled: Type.Boolean(),
  state: words(['idle', 'visiting', 'disabled']),
  reason: Type.Optional(text(4096)),
  interval_secs: Type.Number({ minimum: 0 }),
  max_points_per_device: Type.Integer({ minimum: 0 }),
  /** Time until every output, and every object, has been read once at these settings. */
  round_outputs_secs: Type.Optional(Type.Number({ minimum: 0 })),
  round_secs: Type.Optional(Type.Number({ minimum: 0 })),
  /** Devices of the list at whose address another device answered at the last visit. */
  other_devices: Type.Optional(
    Type.Array(strict({ device_id: ID, device_instance: instance, since: instant, reason: text(1024) }), {
      maxItems: OTHER_DEVICES_MAX,
    }),
  ),
  read_only: ok,
  last_started_at: orNull(instant),
  last_completed_at: orNull(instant),
  next_due_at: orNull(instant),
  last_device_instance: orNull(instance),
  last_device_id: Type.Optional(orNull(ID)),
  last_error: orNull(text(4096)),
  records_retained: Type.Integer({ minimum: 0 }),
  journal: words(['ok', 'repaired', 'disabled']),
  /** Acknowledged records that were missing from the end of the journal when the edge started. */
  records_lost: Type.Optional(Type.Integer({ minimum: 1 })),
})
export type WireScanner = Static<typeof Scanner>

export const HistoryAnswer = strict({
  ok,
  schema: Type.Literal(HISTORY_SCHEMA),
  records: Type.Array(Record, { maxItems: PAGE_MAX }),
  next_cursor: Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_MAX })),
  scanner: Scanner,
  /** Levels that the site names, or counts, otherwise than the standard does. */
  priority_levels: Type.Optional(PriorityLevels),
})
export type HistoryAnswer = Static<typeof HistoryAnswer>

/** An empty request visits the next device in turn. */
export const TriggerRequest = strict({ device_instance: Type.Optional(instance), device_id })
export type TriggerRequest = Static<typeof TriggerRequest>
export const TriggerAnswer = strict({ ok, visit_id: VISIT_ID, device_id, device_instance: instance })
export type TriggerAnswer = Static<typeof TriggerAnswer>

export const VisitRequest = strict({ visit_id: VISIT_ID })
export type VisitRequest = Static<typeof VisitRequest>
const count = Type.Integer({ minimum: 0 })
export const VisitAnswer = strict({
  ok,
  visit_id: VISIT_ID,
  device_id,
  device_instance: instance,
  source: words(['scheduled', 'triggered']),
  state: words(['visiting', 'completed', 'failed']),
  started_at: instant,
  completed_at: orNull(instant),
  points_read: count,
  points_failed: count,
  error: orNull(text(4096)),
  /** Another device answered at the address, so nothing of the visit is stored. */
  is_other_device: Type.Optional(ok),
})
export type VisitAnswer = Static<typeof VisitAnswer>

const BASE = '/api/connector/priority-history'
export const PRIORITY_OPERATIONS = {
  priority_history: { method: 'POST', path: () => BASE, status: 200, request: HistoryRequest, answer: HistoryAnswer },
  priority_trigger: {
    method: 'POST',
    path: () => `${BASE}/trigger`,
    status: 202,
    request: TriggerRequest,
    answer: TriggerAnswer,
  },
  priority_visit: {
    method: 'GET',
    path: (visit_id: string) => `${BASE}/visits/${visit_id}`,
    status: 200,
    request: VisitRequest,
    answer: VisitAnswer,
  },
} as const

export const toWireRecord = ({ seq, observed_at, ...record }: PriorityRecord): WireRecord => ({
  seq,
  observed_at: formatInstant(observed_at),
  ...record,
})

/** Combines the states of schedule and journal. The reason of the journal is used when the schedule has none. */
export function toWireScanner(scanner: VisitScheduleState, { journal, reason, first, last, lost }: PriorityState): WireScanner {
  const { enabled, state, interval_secs, max_points_per_device, last_device_instance, last_device_id, last_error } = scanner
  const { round_outputs_secs, round_secs, other_devices } = scanner
  const why = scanner.reason ?? reason
  return {
    enabled,
    state,
    ...(why !== undefined && { reason: why }),
    interval_secs,
    max_points_per_device,
    ...(round_outputs_secs !== undefined && { round_outputs_secs }),
    ...(round_secs !== undefined && { round_secs }),
    ...(other_devices && { other_devices: other_devices.map(one => ({ ...one, since: formatInstant(one.since) })) }),
    read_only: true,
    last_started_at: instantOrNull(scanner.last_started_at),
    last_completed_at: instantOrNull(scanner.last_completed_at),
    next_due_at: instantOrNull(scanner.next_due_at),
    last_device_instance,
    ...(last_device_id !== undefined && { last_device_id }),
    last_error,
    records_retained: Math.max(0, last - first + 1),
    journal,
    ...(lost !== undefined && { records_lost: lost }),
  }
}

export const toWireVisit = ({ started_at, completed_at, is_other_device, ...visit }: Visit): VisitAnswer => ({
  ok: true,
  ...visit,
  ...(is_other_device && { is_other_device }),
  started_at: formatInstant(started_at),
  completed_at: instantOrNull(completed_at),
})

const instantOrNull = (ms: number | null) => (ms === null ? null : formatInstant(ms))
