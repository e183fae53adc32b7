/** Visits to the commandable points of a school, and a journal in memory with them. */
import type { PriorityJournal, PriorityState } from '#shared/core/ports.ts'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import {
  activeLevel,
  LEVELS,
  type PriorityReading,
  type PriorityRecord,
  priorityKey,
  type Slot,
} from '#shared/core/priority/priority-record.ts'
import type { VisitSchedule, VisitScheduleState } from '#shared/core/priority/visit.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import type { DeviceCatalogue } from '#appliance/store/catalogue-schema.ts'
import type { SiteSettings } from '#appliance/store/site.ts'
import { BUILDING, EQUIPMENT, NOW } from './page-fixture.ts'

/** @param held value by level; the others are empty */
export function reading(
  at: number,
  object: string,
  held: Record<number, number>,
  more: Partial<PriorityReading> = {},
): PriorityReading {
  const [object_type = '', instance] = object.split(',')
  const slots = Array.from({ length: LEVELS }, (_, i): Slot => {
    const value = held[i + 1]
    return value === undefined ? { level: i + 1, state: 'null' } : { level: i + 1, state: 'value', type: 'real', value }
  })
  const active_level = activeLevel(slots)
  return {
    observed_at: at,
    target: { device_id: 'ahu-1', device_instance: 1007, object_type, object_instance: Number(instance) },
    label: object,
    slots,
    active_level,
    present_value: active_level === null ? 0 : held[active_level]!,
    relinquish_default: 0,
    out_of_service: false,
    source: 'scheduled',
    ...more,
  }
}

/** The newest last. `changed` is left empty, because no page shows it. */
export function journalOf(readings: PriorityReading[], state: Partial<PriorityState> = {}): PriorityJournal {
  const records: PriorityRecord[] = []
  const keep = (visit: PriorityReading[]) => {
    const kept = visit.map((one, i) => ({ ...one, seq: records.length + i + 1, changed: [] }))
    records.push(...kept)
    return kept
  }
  keep(readings.toSorted((a, b) => a.observed_at - b.observed_at))
  return {
    append: async visit => keep(visit),
    page({ target, since = 0, before = Infinity, limit }) {
      const wanted = records.filter(
        one =>
          one.seq < before &&
          one.observed_at >= since &&
          (!target || priorityKey({ ...one.target, ...target }) === priorityKey(one.target)),
      )
      return { records: wanted.toReversed().slice(0, limit), more: wanted.length > limit }
    },
    latest: () => new Map(records.map(one => [priorityKey(one.target), one])),
    state: () => ({ journal: 'ok', first: 1, last: records.length, ...state }),
  }
}

export const SCANNER: VisitScheduleState = {
  enabled: true,
  state: 'idle',
  interval_secs: 3600,
  max_points_per_device: 64,
  last_started_at: NOW - 13 * MINUTE,
  last_completed_at: NOW - 12 * MINUTE,
  next_due_at: NOW + 48 * MINUTE,
  last_device_instance: 1007,
  last_error: null,
}

export const scheduleOf = (state: Partial<VisitScheduleState> = {}): VisitSchedule => ({
  state: () => ({ ...SCANNER, ...state }),
  trigger() {
    if (state.enabled === false) throw new Problem('scanner_disabled', 'The scanner is off')
    return { visit_id: '0b5f4a55-0001-4000-8000-000000000001', device_instance: 1007 }
  },
  visit: () => undefined,
})

const point = (point_id: string, address: string, name: string, unit: string, more: object = {}) => ({
  point_id,
  address,
  name,
  unit,
  kind: 'number' as const,
  poll_secs: 60,
  ...more,
})
export const CATALOGUE: DeviceCatalogue = {
  devices: [
    {
      device_id: 'ahu-1',
      name: 'Controller of air handler 1',
      enabled: true,
      protocol: 'bacnet',
      bacnet: { device_instance: 1007, host: '10.0.0.7' },
      points: [
        point('ahu-1.clg_valve', 'analog-output,4', 'AHU-1 cooling valve', 'percent', {
          role: 'clg_valve',
          equipment_id: 'ahu-1',
        }),
        point('ahu-1.sa_t_sp', 'analog-value,3', 'AHU-1 supply air set point', 'degF', {
          role: 'sa_t_sp',
          equipment_id: 'ahu-1',
        }),
        point('ahu-1.fan_cmd', 'binary-output,1', 'AHU-1 supply fan', 'bool', {
          kind: 'bool',
          states: ['Off', 'On'],
          equipment_id: 'ahu-1',
        }),
        point('ahu-1.oa_t', 'analog-input,2', 'AHU-1 outdoor air', 'degF', { role: 'oa_t', equipment_id: 'ahu-1' }),
        point('exhaust', 'binary-output,2', 'Exhaust fan, kitchen', 'bool', { kind: 'bool', states: ['Off', 'On'] }),
        point('ahu-1.oa_damper', 'analog-output,5', 'AHU-1 outdoor air damper', 'percent', { equipment_id: 'ahu-1' }),
      ],
    },
  ],
}
export const SITE: SiteSettings = {
  site_id: 'riverside',
  edge_id: 'edge-1',
  building: BUILDING,
  equipment: EQUIPMENT.map(({ equipment_id, name, equipment_type }) => ({ equipment_id, name, equipment_type })),
  priority_levels: [{ level: 10, name: 'Plant sequence' }],
}

/** Ten days of hourly visits: a valve held for eight of them, a set point since this morning, a fan from the first visit on. */
export const HISTORY: PriorityReading[] = Array.from({ length: 240 }, (_, i) => NOW - 12 * MINUTE - (239 - i) * HOUR).flatMap(
  at => [
    reading(at, 'analog-output,4', at > NOW - 8 * DAY ? { 8: 100, 10: 42 } : { 10: 42 }),
    reading(
      at,
      'analog-value,3',
      at > NOW - 5 * HOUR || (at > NOW - 3 * DAY && at < NOW - 2 * DAY) ? { 8: 60, 16: 55 } : { 16: 55 },
    ),
    reading(at, 'binary-output,1', { 16: 1 }),
    reading(at, 'binary-output,2', { 1: 1 }),
    reading(at, 'analog-output,5', { 10: 20 }, { out_of_service: true }),
    reading(at, 'analog-output,9', { 5: 3 }, { label: '=HYPERLINK("gone")' }),
  ],
)

/** As that site names its levels. */
export const LEVEL_NAMES = () => levelMeanings(SITE.priority_levels)
