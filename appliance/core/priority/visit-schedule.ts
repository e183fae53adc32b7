/**
 * The schedule of visits as plain data: which device is next, when it is due, and how a visit changes both. Devices take
 * turns, one visit at a time, an interval apart. `appliance/flow/run-visits.ts` makes the visits.
 */
import { type OtherDevice, type Visit, type VisitScheduleState, OTHER_DEVICES_MAX } from '#shared/core/priority/visit.ts'
import { Problem } from '#shared/core/problem.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import type { KnownIdentity } from './device-identity.ts'
import type { PriorityDevice } from './visit-objects.ts'
import { type DeviceCursor, dueObjects, NEW_CURSOR, roundMs, visitsPerRound } from './visit-plan.ts'

/** The part of the schedule that outlives the process. Instants are ms since 1970 UTC; null before the first visit. */
export type ScheduleMemory = {
  next_due_at: number | null
  last_started_at: number | null
  last_completed_at: number | null
  last_device_instance: number | null
  last_device_id?: string | null
  /** The `device_id` that had the last turn. */
  after_device: string | null
  /** By `device_id`. */
  devices: Record<string, DeviceMemory>
}
/** Progress of the visits to a device, and the device that answered them. */
type DeviceMemory = DeviceCursor & { occupant?: KnownIdentity }

export const EMPTY_MEMORY: ScheduleMemory = {
  next_due_at: null,
  last_started_at: null,
  last_completed_at: null,
  last_device_instance: null,
  after_device: null,
  devices: {},
}

export type Schedule = {
  memory: ScheduleMemory
  /** The newest visits, oldest first; at most `VISITS_MAX`. */
  visits: readonly Visit[]
}

export type ScheduleSettings = {
  enabled: boolean
  /** From the end of a visit to the next one. A visit that takes as long is ended. */
  interval_secs: number
  max_points_per_device: number
}

/** Visits that can still be asked for by id. Their readings are in the journal. */
const VISITS_MAX = 100
/**
 * Longest wait before the schedule is checked again. A clock that was set, or a journal that works again, is noticed within
 * this time.
 */
const CHECK_MS = MINUTE

export const deviceMemory = ({ devices }: ScheduleMemory, { device_id }: PriorityDevice): DeviceMemory =>
  devices[device_id] ?? NEW_CURSOR

/** @returns the objects that a visit to the device would read now */
export const dueObjectsOf = (
  memory: ScheduleMemory,
  device: PriorityDevice,
  { max_points_per_device }: ScheduleSettings,
  now: number,
) => dueObjects(device.objects, deviceMemory(memory, device), max_points_per_device, now)

/** @returns the device behind `last` by id, and the first one behind the last; undefined when there is none */
export function deviceAfter(devices: readonly PriorityDevice[], last: string | null): PriorityDevice | undefined {
  const sorted = devices.toSorted((a, b) => (a.device_id < b.device_id ? -1 : 1))
  return sorted.find(({ device_id }) => last === null || device_id > last) ?? sorted[0]
}

/**
 * Finds the one device of this instance and id.
 *
 * @throws Problem unknown_device, or bad_request when several devices have the instance
 */
export function findDevice(
  devices: readonly PriorityDevice[],
  device_instance: number | undefined,
  device_id: string | undefined,
): PriorityDevice {
  const [found, other] = devices.filter(
    device =>
      (device_instance === undefined || device.device_instance === device_instance) &&
      (device_id === undefined || device.device_id === device_id),
  )
  const name = device_id ?? device_instance
  if (!found) throw new Problem('unknown_device', `Device ${name} is not in the list, or has no point to visit`)
  if (!other) return found
  const message = `is that of ${found.device_id} and of ${other.device_id}: name one by device_id`
  throw new Problem('bad_request', `/device_instance ${message}`, [{ pointer: '/device_instance', message }])
}

/**
 * Computes when a visit is due after a time without visits: at once before the first visit, else at its planned time. Missed
 * visits are not made up for.
 *
 * @param due planned time, ms; null before the first visit
 * @returns in [now, now + intervalMs]
 */
export function nextDue(due: number | null, now: number, intervalMs: number): number {
  if (due === null) return now
  if (due < now) return due + Math.ceil((now - due) / intervalMs) * intervalMs
  // A later time than this means that the clock was set back.
  return Math.min(due, now + intervalMs)
}

/** `wait`: check the schedule again after `ms`; `next_due_at` is the due time from now on. */
type NextStep = { kind: 'visit' } | { kind: 'wait'; next_due_at: number; ms: number }

/**
 * Decides whether the loop begins a visit or waits.
 *
 * @param canVisit false while visits are disabled; a visit that falls due meanwhile is skipped
 */
export function nextStep(memory: ScheduleMemory, now: number, intervalMs: number, canVisit: boolean): NextStep {
  const due = Math.min(memory.next_due_at ?? now, now + intervalMs)
  if (!canVisit) return { kind: 'wait', next_due_at: nextDue(due, now, intervalMs), ms: CHECK_MS }
  if (due <= now) return { kind: 'visit' }
  return { kind: 'wait', next_due_at: due, ms: Math.min(CHECK_MS, due - now) }
}

/**
 * Records the begin of a visit. A triggered visit to another device than the next one leaves the turns as they are.
 *
 * @param next the device whose turn it is
 */
export function beginVisit({ memory, visits }: Schedule, visit: Visit, next: PriorityDevice | undefined): Schedule {
  const { device_id, device_instance, started_at } = visit
  return {
    memory: {
      ...memory,
      last_started_at: started_at,
      last_device_instance: device_instance,
      last_device_id: device_id,
      ...(next?.device_id === device_id && { after_device: device_id }),
    },
    visits: [...visits, visit].slice(-VISITS_MAX),
  }
}

/** Stores what a visit found out about a device. Devices that left the catalogue are dropped. */
export function rememberDevice(
  { memory, visits }: Schedule,
  catalogue: readonly PriorityDevice[],
  device_id: string,
  device: DeviceMemory,
): Schedule {
  const listed = new Set(catalogue.map(one => one.device_id))
  const others = Object.entries(memory.devices).filter(([id]) => listed.has(id))
  return { memory: { ...memory, devices: { ...Object.fromEntries(others), [device_id]: device } }, visits }
}

/** Replaces the newest visit, which has ended. The next visit is due an interval later, whatever the result. */
export function endVisit({ memory, visits }: Schedule, visit: Visit, nextDueAt: number): Schedule {
  return {
    memory: { ...memory, last_completed_at: visit.completed_at, next_due_at: nextDueAt },
    visits: [...visits.slice(0, -1), visit],
  }
}

/** A visit that has begun. */
export const newVisit = (
  visit_id: string,
  source: Visit['source'],
  { device_id, device_instance }: PriorityDevice,
  started_at: number,
): Visit => ({
  visit_id,
  device_id,
  device_instance,
  source,
  state: 'visiting',
  started_at,
  completed_at: null,
  points_read: 0,
  points_failed: 0,
  error: null,
})

/**
 * Describes the schedule for the API and the pages.
 *
 * @param isVisiting whether a visit is under way
 * @param reason why visits are disabled; undefined while they are not, or while one is under way
 * @param devices of the current catalogue
 */
export function describeSchedule(
  { memory, visits }: Schedule,
  settings: ScheduleSettings,
  { isVisiting, reason, devices, now }: DescribedNow,
): VisitScheduleState {
  const { enabled, interval_secs, max_points_per_device } = settings
  const { next_due_at, last_started_at, last_completed_at, last_device_instance, last_device_id } = memory
  const others = otherDevices(memory, devices)
  const isIdle = reason === undefined && !isVisiting
  return {
    enabled,
    state: isVisiting ? 'visiting' : isIdle ? 'idle' : 'disabled',
    ...(reason !== undefined && { reason }),
    interval_secs,
    max_points_per_device,
    ...(enabled && roundSecs(memory, settings, devices, now)),
    ...(others.length > 0 && { other_devices: others }),
    last_started_at,
    last_completed_at,
    next_due_at: isIdle ? nextDue(next_due_at, now, interval_secs * SECOND) : null,
    last_device_instance,
    ...(last_device_id !== undefined && { last_device_id }),
    last_error: visits.findLast(({ completed_at }) => completed_at !== null)?.error ?? null,
  }
}
type DescribedNow = { isVisiting: boolean; reason: string | undefined; devices: readonly PriorityDevice[]; now: number }

function otherDevices(memory: ScheduleMemory, devices: readonly PriorityDevice[]): OtherDevice[] {
  const others = devices.flatMap(({ device_id, device_instance }) => {
    const other = memory.devices[device_id]?.occupant?.other
    return other ? [{ device_id, device_instance, since: other.since, reason: other.reason }] : []
  })
  return others.slice(0, OTHER_DEVICES_MAX)
}

function roundSecs(memory: ScheduleMemory, settings: ScheduleSettings, devices: readonly PriorityDevice[], now: number) {
  const rounds = devices
    .filter(device => dueObjectsOf(memory, device, settings, now).length > 0)
    .map(device => visitsPerRound(device.objects, deviceMemory(memory, device), settings.max_points_per_device, now))
  const { outputs, all } = roundMs(rounds, settings.interval_secs * SECOND)
  return { round_outputs_secs: outputs / SECOND, round_secs: all / SECOND }
}
