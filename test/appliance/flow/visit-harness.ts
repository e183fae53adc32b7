/** A visit runner with scripted devices, on a virtual clock. */
import { type DeviceMake, identityTargets } from '#appliance/drivers/bacnet/core/identity-check.ts'
import { DEVICE, targetKey } from '#shared/core/bacnet/object.ts'
import type { PropertyResult } from '#appliance/drivers/bacnet/core/reply.ts'
import type { BacnetValue } from '#appliance/drivers/bacnet/core/tag.ts'
import { LEVELS, priorityKey, type PriorityReading } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer } from '#appliance/core/priority/array-answer.ts'
import { visitedObjects, type PriorityDevice, type PriorityObject } from '#appliance/core/priority/visit-objects.ts'
import { EMPTY_MEMORY, type ScheduleMemory } from '#appliance/core/priority/visit-schedule.ts'
import { SECOND } from '#shared/core/time.ts'
import { type VisitEvent, VisitRunner } from '#appliance/flow/run-visits.ts'
import type { PriorityReader } from '#appliance/flow/visit-device.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

export const START = Date.UTC(2026, 2, 1)
const INTERVAL = 3600

const device = (device_id: string, device_instance: number, count = 3): PriorityDevice => ({
  device_id,
  device_instance,
  objects: visitedObjects(
    { device_id, device_instance },
    Array.from({ length: count }, (_, i) => ({ address: `analog-output,${i + 1}`, name: `Output ${i + 1}` })),
  ),
})
export const SITE = [device('a', 1), device('b', 2)]

type Read = PriorityReader['read']
type Identify = PriorityReader['identify']
export type Setup = Partial<{
  read: Read
  identify: Identify
  devices: PriorityDevice[]
  enabled: boolean
  most: number
  memory: ScheduleMemory
  append: (visit: PriorityReading[]) => Promise<void>
  journal: { journal: 'ok' | 'disabled'; reason?: string }
  save: (memory: ScheduleMemory) => Promise<void>
}>

export const answerOf = (object: PriorityObject, observed_at: number): ArrayAnswer => ({
  object,
  state: 'read',
  observed_at,
  slots: Array.from({ length: LEVELS }, (_, i) => ({ level: i + 1, state: 'null' })),
})

/** The identity properties of a device of this instance. */
export const saysOf = (
  instance: number,
  make: DeviceMake = { vendor_id: 1, model: 'X' },
): ReadonlyMap<string, PropertyResult> => {
  const values: BacnetValue[] = [
    { type: 'object', object: { type: DEVICE, instance } },
    { type: 'unsigned', value: make.vendor_id ?? 0 },
    { type: 'text', value: make.model ?? '' },
  ]
  return new Map(identityTargets(instance).map((target, i) => [targetKey(target), { values: [values[i]!] }]))
}

export function open(setup: Setup = {}) {
  const clock = virtualClock(START)
  const stopped = new AbortController()
  const asked: { at: number; device_id: string; instances: number[] }[] = []
  const stored: PriorityReading[] = []
  const events: VisitEvent[] = []
  const saved: ScheduleMemory[] = []
  const state = { devices: setup.devices ?? SITE, journal: setup.journal ?? { journal: 'ok' as const } }
  let skewMs = 0
  let ids = 0
  const now = () => clock.now() + skewMs
  const reader: PriorityReader = {
    identify: setup.identify ?? (async of => saysOf(of.device_instance)),
    async *read(of, objects, signal) {
      asked.push({ at: now() - START, device_id: of.device_id, instances: objects.map(({ instance }) => instance) })
      if (setup.read) return yield* setup.read(of, objects, signal)
      await clock.sleep(SECOND, signal)
      for (const object of objects) yield answerOf(object, now())
    },
  }
  const visits = new VisitRunner({
    enabled: setup.enabled ?? true,
    interval_secs: INTERVAL,
    max_points_per_device: setup.most ?? 100,
    reader,
    journal: {
      async append(visit) {
        await setup.append?.(visit)
        stored.push(...visit)
        return visit.map((reading, i) => ({ ...reading, seq: stored.length + i, changed: [] }))
      },
      latest: () => new Map(stored.map((reading, i) => [priorityKey(reading.target), { ...reading, seq: i + 1, changed: [] }])),
      state: () => ({ ...state.journal, first: 1, last: 0 }),
    },
    devices: () => state.devices,
    memory: setup.memory ?? EMPTY_MEMORY,
    async save(memory) {
      await setup.save?.(memory)
      saved.push(memory)
    },
    clock: { now, sleep: clock.sleep },
    newId: () => `visit-${++ids}`,
    notify: event => void events.push(event),
    signal: stopped.signal,
  })
  return {
    visits,
    clock,
    asked,
    stored,
    events,
    saved,
    state,
    skew: (ms: number) => (skewMs = ms),
    stop: () => stopped.abort(),
    /** Runs everything that is due until `ms` after the start. */
    runTo: (ms: number) => clock.runTo(START + ms),
    visited: () => asked.map(({ at, device_id }) => [at, device_id]),
  }
}

export const failing = (message: string): Read =>
  // oxlint-disable-next-line require-yield
  async function* () {
    throw new Error(message)
  }
