/** A priority history of one edge: a real journal, a scripted visit schedule, and its service. */
import type { ExecutionContext } from 'ava'
import { type LevelMeaning, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import pino from 'pino'
import { historyService } from '#appliance/priority/history-service.ts'
import { openPriorityJournal } from '#appliance/priority/priority-journal.ts'
import { type PriorityReading, type Slot, activeLevel, LEVELS } from '#shared/core/priority/priority-record.ts'
import type { VisitSchedule, VisitScheduleState, Visit } from '#shared/core/priority/visit.ts'
import { Problem } from '#shared/core/problem.ts'
import { folder } from '../folders.ts'

export const silent = pino({ level: 'silent' })
const START = Date.UTC(2026, 2, 1)
const MINUTE = 60_000

/** Visit `n` to object `instance`: its time and its value at P8 follow from `n`. */
export function reading(n: number, object_instance = 1): PriorityReading {
  const slots = Array.from({ length: LEVELS }, (_, i): Slot => {
    if (i === 7) return { level: 8, state: 'value', type: 'real', value: n }
    return i === 12 ? { level: 13, state: 'error', error: 'unknown-property' } : { level: i + 1, state: 'null' }
  })
  return {
    observed_at: START + n * MINUTE,
    target: { device_instance: 1001, object_type: 'analog-output', object_instance },
    label: 'AHU-1 cooling valve',
    slots,
    active_level: activeLevel(slots),
    present_value: n,
    relinquish_default: 0,
    out_of_service: false,
    source: 'scheduled',
  }
}

export const IDLE: VisitScheduleState = {
  enabled: true,
  state: 'idle',
  interval_secs: 3600,
  max_points_per_device: 100,
  last_started_at: START,
  last_completed_at: START + 5000,
  next_due_at: START + 60 * MINUTE,
  last_device_instance: 1001,
  last_error: null,
}
export const VISIT_ID = '5d5f7f0e-7c1e-4d0e-9d5a-111111111111'

/** A visit schedule whose state a test sets. Its visits never end by themselves. */
export function scriptedSchedule(start: VisitScheduleState = IDLE) {
  let now = start
  const visits = new Map<string, Visit>()
  const triggered: (number | undefined)[] = []
  const schedule: VisitSchedule = {
    state: () => now,
    trigger(device_instance = 1001) {
      if (!now.enabled) throw new Problem('scanner_disabled', 'The scanner is switched off')
      if (now.state === 'visiting') throw new Problem('visit_in_progress', 'A visit goes on')
      if (device_instance !== 1001) throw new Problem('unknown_device', `No device ${device_instance} is configured`)
      triggered.push(device_instance)
      now = { ...now, state: 'visiting' }
      const started = { state: 'visiting', started_at: START, completed_at: null, points_read: 0, points_failed: 0 } as const
      visits.set(VISIT_ID, {
        visit_id: VISIT_ID,
        device_id: 'ahu-1',
        device_instance,
        source: 'triggered',
        ...started,
        error: null,
      })
      return { visit_id: VISIT_ID, device_instance }
    },
    visit: visit_id => visits.get(visit_id),
  }
  return { schedule, triggered, set: (state: Partial<VisitScheduleState>) => (now = { ...now, ...state }) }
}

export async function openEdge(
  t: ExecutionContext,
  given: { maxRecords?: number; edge_id?: string; key?: Buffer; levels?: () => LevelMeaning[] } = {},
) {
  const journal = await openPriorityJournal({ dir: folder(t), maxRecords: given.maxRecords ?? 100_000, log: silent })
  t.teardown(journal.close)
  const scripted = scriptedSchedule()
  const cursorKey = given.key ?? Buffer.alloc(32, 7)
  const service = historyService({
    edge_id: given.edge_id ?? 'edge-1',
    journal,
    schedule: scripted.schedule,
    levels: given.levels ?? levelMeanings,
    cursorKey,
  })
  /** Appends visits `from` to `to`, in groups of the largest size of a visit. */
  const fill = async (from: number, to: number, object_instance = 1) => {
    const all = Array.from({ length: to - from + 1 }, (_, i) => reading(from + i, object_instance))
    for (let i = 0; i < all.length; i += 500) await journal.append(all.slice(i, i + 500))
  }
  return { journal, service, ...scripted, fill }
}
