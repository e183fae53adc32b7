/** Visits one device after the other and keeps what their priority arrays say. It can ask, and do nothing else to a device. */
import type { Clock, PriorityJournal } from '#shared/core/ports.ts'
import type { Occupant } from '../core/priority/occupant.ts'
import {
  cursorAfter,
  type DeviceCursor,
  deviceAfter,
  dueObjects,
  newlyWithout,
  nextDue,
  roundMs,
  roundVisits,
  START,
} from '../core/priority/plan.ts'
import { activeLevel, isInput, type PriorityReading, priorityKey } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer, ScanDevice, ScanObject } from '../core/priority/visit.ts'
import { type OtherDevice, OTHER_DEVICES_MAX, type VisitSchedule, type Visit } from '#shared/core/priority/visit.ts'
import { Problem } from '#shared/core/problem.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { type PriorityReader, visitDevice } from './visit-device.ts'

/** What outlives the process. Instants are ms since 1970 UTC; null: never yet. */
export type ScanMemory = {
  next_due_at: number | null
  last_started_at: number | null
  last_completed_at: number | null
  last_device_instance: number | null
  last_device_id?: string | null
  /** The `device_id` whose turn it was last. */
  after_device: string | null
  devices: Record<string, DeviceMemory>
}
/** By `device_id`: where its visits stand, and which device answered them. */
export type DeviceMemory = DeviceCursor & { occupant?: Occupant }
export const NO_MEMORY: ScanMemory = {
  next_due_at: null,
  last_started_at: null,
  last_completed_at: null,
  last_device_instance: null,
  after_device: null,
  devices: {},
}

export type ScanParts = {
  enabled: boolean
  /** Between the end of a visit and the next one; a visit that takes as long is ended. */
  interval_secs: number
  max_points_per_device: number
  reader: PriorityReader
  journal: Pick<PriorityJournal, 'append' | 'latest' | 'state'>
  /** The catalogue as it is now; only devices with objects to ask for. */
  devices(): ScanDevice[]
  memory: ScanMemory
  /** Durable when resolved. */
  save(memory: ScanMemory): Promise<void>
  clock: Clock
  newId(): string
  notify(event: ScanEvent): void
  /** Ends everything. */
  signal: AbortSignal
}
/** What is worth a line in the log. */
export type ScanEvent =
  | { kind: 'visit_over'; visit: Visit }
  | { kind: 'not_commandable'; device_id: string; objects: ScanObject[] }
  | { kind: 'replaced'; device_id: string; occupant: Occupant }
  | { kind: 'saved' }
  | { kind: 'not_saved'; error: unknown }

export type PriorityScan = VisitSchedule & {
  /** Visits on schedule until `signal` aborts. */
  run(): Promise<void>
  /** Resolves when the visit that is under way, if one is, is over. */
  settled(): Promise<void>
}

/** Visits that are remembered; the journal has what they kept. */
const VISITS_MAX = 100
/** How often it is looked whether a visit is due: a clock that was set, or a journal that goes on, counts within this time. */
const LOOK_MS = MINUTE

export function openPriorityScan(parts: ScanParts): PriorityScan {
  const { enabled, interval_secs, max_points_per_device, journal, devices, clock, notify, signal } = parts
  const intervalMs = interval_secs * SECOND
  const visits = new Map<string, Visit>()
  let memory = parts.memory
  let under: { visit: Visit; over: Promise<void> } | undefined
  let lastError: string | null = null

  const dueOf = (device: ScanDevice): ScanObject[] =>
    dueObjects(device.objects, cursorOf(device), max_points_per_device, clock.now())
  const isAskable = (device: ScanDevice): boolean => dueOf(device).length > 0
  const cursorOf = ({ device_id }: ScanDevice): DeviceMemory => memory.devices[device_id] ?? START

  const whyDisabled = (): string | undefined => {
    if (!enabled) return 'SERVICE_PRIORITY_SCAN_ENABLED=1 switches it on'
    if (signal.aborted) return 'this process is stopping'
    const state = journal.state()
    if (state.journal === 'disabled') return `history is disabled: ${state.reason ?? 'no reason is known'}`
    return devices().some(isAskable) ? undefined : 'no BACnet device of the list has a point to visit'
  }

  /** The one guard: held from here until the visit is over, however it ends. */
  const begin = (source: Visit['source'], device: ScanDevice): Visit => {
    const visit = openVisit(parts.newId(), source, device, clock.now())
    visits.set(visit.visit_id, visit)
    for (const old of visits.keys()) if (visits.size > VISITS_MAX) visits.delete(old)
    const { device_id, device_instance } = device
    memory = { ...memory, last_started_at: visit.started_at, last_device_instance: device_instance, last_device_id: device_id }
    if (turn()?.device_id === device_id) memory = { ...memory, after_device: device_id }
    const over = conduct(visit, device, dueOf(device)).finally(() => {
      under = undefined
    })
    under = { visit, over }
    return visit
  }

  const conduct = async (visit: Visit, device: ScanDevice, due: ScanObject[]): Promise<void> => {
    try {
      const known = cursorOf(device)
      const { answers, broke, isOther, isReplaced, occupant } = await visitDevice(parts, device, due, known.occupant ?? {})
      // Who answered counts also where the journal refuses what was read.
      remember(device, { ...known, occupant })
      if (isOther) visit.is_other_device = true
      if (isReplaced) notify({ kind: 'replaced', device_id: device.device_id, occupant })
      const read = answers.flatMap(answer => readingOf(answer, visit.source))
      await journal.append(worthKeeping(read))
      const without = answers.filter(({ state }) => state === 'not_commandable').length
      const objects = newlyWithout(known, answers)
      remember(device, { ...cursorAfter(known, device.objects, answers, clock.now()), occupant })
      if (objects.length) notify({ kind: 'not_commandable', device_id: device.device_id, objects })
      visit.points_read = read.length
      visit.points_failed = due.length - read.length - without
      visit.error = broke ?? reasonOf(answers)
      visit.state = read.length + without > 0 || due.length === 0 ? 'completed' : 'failed'
    } catch (error) {
      visit.points_failed = due.length
      visit.error = (error as Error).message
      visit.state = 'failed'
    }
    visit.completed_at = clock.now()
    lastError = visit.error
    await end(visit)
  }

  /** An input is kept while it is out of service, and once when it is back: that it works costs no record. */
  const worthKeeping = (read: PriorityReading[]): PriorityReading[] => {
    const latest = journal.latest()
    return read.filter(
      ({ target, out_of_service }) => !isInput(target) || out_of_service || latest.get(priorityKey(target))?.out_of_service,
    )
  }

  /** Whatever came of it, the next device comes next, an interval from now. */
  const end = async (visit: Visit): Promise<void> => {
    memory = { ...memory, last_completed_at: visit.completed_at, next_due_at: clock.now() + intervalMs }
    notify({ kind: 'visit_over', visit })
    await parts.save(memory).then(
      () => notify({ kind: 'saved' }),
      (error: unknown) => notify({ kind: 'not_saved', error }),
    )
  }

  /** Devices that have left the catalogue are forgotten. */
  const remember = ({ device_id }: ScanDevice, device: DeviceMemory): void => {
    const known = new Set(devices().map(one => one.device_id))
    const others = Object.entries(memory.devices).filter(([id]) => known.has(id))
    memory = { ...memory, devices: { ...Object.fromEntries(others), [device_id]: device } }
  }

  const otherDevices = (): OtherDevice[] =>
    devices()
      .flatMap(({ device_id, device_instance }) => {
        const other = memory.devices[device_id]?.occupant?.other
        return other ? [{ device_id, device_instance, since: other.since, reason: other.reason }] : []
      })
      .slice(0, OTHER_DEVICES_MAX)

  const roundSecs = () => {
    const visited = devices().filter(isAskable)
    const needs = visited.map(device => roundVisits(device.objects, cursorOf(device), max_points_per_device, clock.now()))
    const { outputs, all } = roundMs(needs, intervalMs)
    return { round_outputs_secs: outputs / SECOND, round_secs: all / SECOND }
  }

  /** @throws Problem unknown_device, or bad_request where several devices of the list have the instance */
  const named = (device_instance: number | undefined, device_id: string | undefined): ScanDevice => {
    const [wanted, other] = devices().filter(
      device =>
        (device_instance === undefined || device.device_instance === device_instance) &&
        (device_id === undefined || device.device_id === device_id) &&
        isAskable(device),
    )
    const name = device_id ?? device_instance
    if (!wanted) throw new Problem('unknown_device', `Device ${name} is not in the list, or has no point to visit`)
    if (!other) return wanted
    const message = `is that of ${wanted.device_id} and of ${other.device_id}: name one by device_id`
    throw new Problem('bad_request', `/device_instance ${message}`, [{ pointer: '/device_instance', message }])
  }

  const turn = (): ScanDevice | undefined => deviceAfter(devices().filter(isAskable), memory.after_device)

  return {
    state() {
      const reason = under ? undefined : whyDisabled()
      const { next_due_at, last_started_at, last_completed_at, last_device_instance, last_device_id } = memory
      const others = otherDevices()
      return {
        enabled,
        state: under ? 'visiting' : reason === undefined ? 'idle' : 'disabled',
        ...(reason !== undefined && { reason }),
        interval_secs,
        max_points_per_device,
        ...(enabled && roundSecs()),
        ...(others.length > 0 && { other_devices: others }),
        last_started_at,
        last_completed_at,
        next_due_at: reason === undefined && !under ? nextDue(next_due_at, clock.now(), intervalMs) : null,
        last_device_instance,
        ...(last_device_id !== undefined && { last_device_id }),
        last_error: lastError,
      }
    },
    trigger(device_instance, device_id) {
      const reason = under ? undefined : whyDisabled()
      if (reason !== undefined) throw new Problem('scanner_disabled', `Priority arrays are not visited: ${reason}`)
      if (under) {
        const { visit_id, device_instance: visited } = under.visit
        throw new Problem('visit_in_progress', `Visit ${visit_id} to device ${visited} is under way; wait until it is over`)
      }
      const wanted = device_instance === undefined && device_id === undefined ? turn() : named(device_instance, device_id)
      const { visit_id } = begin('triggered', wanted!)
      return { visit_id, device_id: wanted!.device_id, device_instance: wanted!.device_instance }
    },
    visit: visit_id => visits.get(visit_id),
    async run() {
      memory = { ...memory, next_due_at: nextDue(memory.next_due_at, clock.now(), intervalMs) }
      while (!signal.aborted) {
        const isAble = whyDisabled() === undefined
        const due = Math.min(memory.next_due_at ?? clock.now(), clock.now() + intervalMs)
        if (!under && isAble && due <= clock.now()) begin('scheduled', turn()!)
        if (under) await under.over
        else {
          // What is not visited in this time is not made up for.
          memory = { ...memory, next_due_at: isAble ? due : nextDue(due, clock.now(), intervalMs) }
          await clock.sleep(isAble ? Math.min(LOOK_MS, due - clock.now()) : LOOK_MS, signal)
        }
      }
    },
    settled: async () => under?.over,
  }
}

const openVisit = (
  visit_id: string,
  source: Visit['source'],
  { device_id, device_instance }: ScanDevice,
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

function readingOf(answer: ArrayAnswer, source: Visit['source']): PriorityReading[] {
  if (answer.state !== 'read') return []
  const { object, state: _, ...found } = answer
  const { target, label } = object
  return [{ ...found, target, label, active_level: activeLevel(found.slots), source }]
}

/** Why the last point that gave nothing did not. */
function reasonOf(answers: readonly ArrayAnswer[]): string | null {
  const failed = answers.filter(answer => answer.state === 'failed')
  const last = failed.at(-1)
  if (!last) return null
  const { object_type, object_instance } = last.object.target
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : ''
  return `${object_type},${object_instance}: ${last.reason}${more}`
}
