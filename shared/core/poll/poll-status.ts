/** Facts about every polled device and point, and the status computed from them (contract §10). */
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { formatInstant, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import type { DeviceError, DevicePlan, DriverReport } from './device.ts'

export const POLL_STATES = ['ok', 'stale', 'down', 'fault', 'disabled', 'unknown'] as const
export type PollState = (typeof POLL_STATES)[number]

export type DeviceStatus = {
  device_id: string
  state: PollState
  since: string
  rtt_ms_p50: number | null
  rtt_ms_p95: number | null
  /** Since this process began to poll it. `errors`: reads that brought no value, or not a good one of each point. */
  reads: number
  errors: number
  /** The same of the last hour. */
  reads_1h: number
  errors_1h: number
  last_ok_at: string | null
  last_error: string | null
  next_due_at: string | null
  batch_size: number | null
  /** Bytes since this process began to poll it; absent where nobody counts them. */
  sent_bytes?: number
  received_bytes?: number
  /** Conflict with another device of the list, in words; absent without one. */
  conflict?: string
}

/** Body of `GET /api/bacnet/poll/status`. */
export type PollStatus = {
  ok: true
  enabled: boolean
  running: boolean
  cycles: number
  late_cycles: number
  points_ok: number
  points_stale: number
  points_down: number
  points_fault: number
  devices: DeviceStatus[]
}

type PointRecord = { periodMs: number; last: Reading | null; last_good_at: number | null }
type DeviceRecord = {
  plan: DevicePlan
  points: Map<string, PointRecord>
  /** How the last read ended. */
  outcome: 'none' | 'answered' | 'silent' | 'fault'
  /** The state last shown and when it began. */
  state: PollState
  since: number
  reads: number
  errors: number
  /** By minute since 1970, those of the last hour, oldest first. */
  recent: { minute: number; reads: number; errors: number }[]
  last_ok_at: number | null
  last_error: string | null
  next_due_at: number | null
  report: DriverReport
}

export type Board = { devices: Map<string, DeviceRecord>; cycles: number; late_cycles: number }

/** A point is stale when no good value came for this many periods. */
const STALE_PERIODS = 3
const NO_REPORT: DriverReport = { rtts: [], batch_size: null, point_error: null }

export function openBoard(plans: readonly DevicePlan[], now: number): Board {
  const board: Board = { devices: new Map(), cycles: 0, late_cycles: 0 }
  setPlans(board, plans, now)
  return board
}

/** From now on the board holds `plans`, in their order. What is known of a device stays when its plan is the same object. */
export function setPlans(board: Board, plans: readonly DevicePlan[], now: number): void {
  const before = board.devices
  board.devices = new Map(
    plans.map(plan => {
      const known = before.get(plan.device_id)
      return [plan.device_id, known?.plan === plan ? known : newRecord(plan, now)]
    }),
  )
}

function newRecord(plan: DevicePlan, now: number): DeviceRecord {
  const points = plan.points.map(({ point_id, poll_secs }): [string, PointRecord] => [
    point_id,
    { periodMs: poll_secs * SECOND, last: null, last_good_at: null },
  ])
  return {
    plan,
    points: new Map(points),
    outcome: 'none',
    state: plan.enabled ? 'unknown' : 'disabled',
    since: now,
    reads: 0,
    errors: 0,
    recent: [],
    last_ok_at: null,
    last_error: null,
    next_due_at: null,
    report: NO_REPORT,
  }
}

const recordOf = (board: Board, device_id: string): DeviceRecord => {
  const record = board.devices.get(device_id)
  if (!record) throw new RangeError(`no device ${device_id} on the board`)
  return record
}

/** Notes what a device answered. */
export function noteReadings(
  board: Board,
  device_id: string,
  readings: readonly Reading[],
  report: DriverReport,
  now: number,
): void {
  const record = recordOf(board, device_id)
  board.cycles++
  record.report = report
  notePoints(record, readings)
  const good = readings.filter(({ q }) => q !== 'bad').length
  record.outcome = good || readings.length === 0 ? 'answered' : 'fault'
  if (record.outcome === 'answered') record.last_ok_at = now
  if (good < readings.length) record.last_error = report.point_error
  noteRead(record, good < readings.length, now)
  settle(record, now)
}

function noteRead(record: DeviceRecord, isError: boolean, now: number): void {
  const minute = Math.floor(now / MINUTE)
  record.reads++
  if (isError) record.errors++
  record.recent = ofLastHour(record, now)
  let last = record.recent.at(-1)
  if (last?.minute !== minute) record.recent.push((last = { minute, reads: 0, errors: 0 }))
  last.reads++
  if (isError) last.errors++
}

/** Times in the future, after the clock was set back, are dropped. */
const ofLastHour = ({ recent }: DeviceRecord, now: number) =>
  recent.filter(({ minute }) => minute * MINUTE > now - HOUR && minute * MINUTE <= now)

function notePoints(record: DeviceRecord, readings: readonly Reading[]): void {
  for (const reading of readings) {
    const point = record.points.get(reading.id)
    if (!point) continue
    point.last = reading
    if (reading.q !== 'bad') point.last_good_at = reading.t
  }
}

/** Records a notification of a device. It does not show whether the device answers requests. */
export function noteChanges(board: Board, device_id: string, readings: readonly Reading[], now: number): void {
  const record = recordOf(board, device_id)
  notePoints(record, readings)
  if (readings.some(({ q }) => q !== 'bad')) record.last_ok_at = now
}

/** Notes that a device failed as a whole. */
export function noteFailure(board: Board, device_id: string, error: DeviceError, report: DriverReport, now: number): void {
  const record = recordOf(board, device_id)
  board.cycles++
  noteRead(record, true, now)
  record.report = report
  record.last_error = error.message
  record.outcome = error.kind
  settle(record, now)
}

/** Notes when a device is asked next. */
export function noteDue(board: Board, device_id: string, at: number): void {
  recordOf(board, device_id).next_due_at = at
}

/** Notes due times that passed unused. */
export function noteLate(board: Board, late: number): void {
  board.late_cycles += late
}

function settle(record: DeviceRecord, now: number): void {
  const state = deviceState(record, now)
  if (state === record.state) return
  record.state = state
  record.since = now
}

function deviceState({ plan, outcome, points, last_ok_at }: DeviceRecord, now: number): PollState {
  if (!plan.enabled) return 'disabled'
  if (outcome === 'none') return 'unknown'
  if (outcome === 'silent') return 'down'
  if (outcome === 'fault') return 'fault'
  const shortest = Math.min(...Array.from(points.values(), ({ periodMs }) => periodMs))
  return last_ok_at !== null && now - last_ok_at > STALE_PERIODS * shortest ? 'stale' : 'ok'
}

function pointState({ plan, outcome }: DeviceRecord, point: PointRecord, now: number): PollState {
  if (!plan.enabled) return 'disabled'
  if (outcome === 'silent') return 'down'
  if (!point.last) return outcome === 'fault' ? 'fault' : 'unknown'
  if (outcome === 'fault' || point.last.q === 'bad') return 'fault'
  return point.last_good_at !== null && now - point.last_good_at > STALE_PERIODS * point.periodMs ? 'stale' : 'ok'
}

/** Facts about one point. `last`: the newest reading, whatever its quality. */
export type PointStatus = { point_id: string; state: PollState; last: Reading | null }

/** @returns the points of a device in the order of its plan; empty when the board does not hold the device */
export function pointStatusOf(board: Board, device_id: string, now: number): PointStatus[] {
  const record = board.devices.get(device_id)
  if (!record) return []
  return Array.from(record.points, ([point_id, point]) => ({
    point_id,
    state: pointState(record, point, now),
    last: point.last,
  }))
}

/** @returns the newest reading of a point of any device; undefined before the first */
export function newestReadingOf(board: Board, point_id: string): Reading | undefined {
  for (const { points } of board.devices.values()) {
    const point = points.get(point_id)
    if (point) return point.last ?? undefined
  }
  return undefined
}

/** @returns the status at `now`; counts of points that are disabled or not yet read are left to the devices' states */
export function pollStatusOf(board: Board, { running, now }: { running: boolean; now: number }): PollStatus {
  const counts: Record<PollState, number> = { ok: 0, stale: 0, down: 0, fault: 0, disabled: 0, unknown: 0 }
  const devices = Array.from(board.devices.values(), record => {
    settle(record, now)
    for (const point of record.points.values()) counts[pointState(record, point, now)]++
    return deviceStatus(record, now)
  })
  return {
    ok: true,
    enabled: devices.some(({ state }) => state !== 'disabled'),
    running,
    cycles: board.cycles,
    late_cycles: board.late_cycles,
    points_ok: counts.ok,
    points_stale: counts.stale,
    points_down: counts.down,
    points_fault: counts.fault,
    devices,
  }
}

function deviceStatus(record: DeviceRecord, now: number): DeviceStatus {
  const { plan, state, since, reads, errors, last_ok_at, last_error, next_due_at, report } = record
  const recent = ofLastHour(record, now)
  const sorted = report.rtts.toSorted((a, b) => a - b)
  return {
    device_id: plan.device_id,
    state,
    since: formatInstant(since),
    rtt_ms_p50: percentile(sorted, 0.5),
    rtt_ms_p95: percentile(sorted, 0.95),
    reads,
    errors,
    reads_1h: recent.reduce((sum, one) => sum + one.reads, 0),
    errors_1h: recent.reduce((sum, one) => sum + one.errors, 0),
    last_ok_at: instantOrNull(last_ok_at),
    last_error,
    next_due_at: instantOrNull(next_due_at),
    batch_size: report.batch_size,
    ...report.traffic,
  }
}

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))

/** Nearest rank, rounded to a tenth of a millisecond. */
function percentile(sorted: readonly number[], share: number): number | null {
  const value = sorted[Math.ceil(share * sorted.length) - 1]
  return value === undefined ? null : Math.round(value * 10) / 10
}
