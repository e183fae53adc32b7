/** The list of overrides: which points a person or life safety holds, the oldest first. */
import { csvLine } from '#shared/core/csv/csv-text.ts'
import { formatInstant } from '#shared/core/time.ts'
import { isOverride, type LevelMeaning } from './priority-levels.ts'
import type { SlotValue } from './priority-record.ts'
import { commandOf, type CommandState, FLIPS_MS } from './command-state.ts'

/** What the list of field devices says of a point, as far as it is on it. */
export type PointWords = {
  point_id?: string
  name: string
  equipment?: string
  device: string
  /** The raw value of the device in the words of the point: `42 %`, `On (1)`. */
  valueWords: (value: SlotValue) => string
}
export type OverrideRow = { course: CommandState; point: PointWords; level: LevelMeaning & { number: number }; flips: number }
/** A point whose value does not come from its input, or does not reach its output (135-2020 12.2.10). */
export type OutOfServiceRow = Pick<OverrideRow, 'course' | 'point'>

/** @returns the points that are overridden as of their newest visit, the oldest first */
export function overridesOf(
  courses: readonly CommandState[],
  meanings: readonly LevelMeaning[],
  wordsOf: (course: CommandState) => PointWords,
  now: number,
): OverrideRow[] {
  return courses
    .filter(({ latest }) => isOverride(latest.active_level, meanings))
    .map(course => {
      const number = course.latest.active_level!
      const flips = course.flips.filter(at => at > now - FLIPS_MS).length
      return { course, point: wordsOf(course), level: { ...meanings[number - 1]!, number }, flips }
    })
    .toSorted((a, b) => a.course.held_since - b.course.held_since || (a.point.name < b.point.name ? -1 : 1))
}

/** @returns the points that are out of service as of their newest visit, by name */
export const outOfServiceOf = (
  courses: readonly CommandState[],
  wordsOf: (course: CommandState) => PointWords,
): OutOfServiceRow[] =>
  courses
    .filter(({ latest }) => latest.out_of_service === true)
    .map(course => ({ course, point: wordsOf(course) }))
    .toSorted((a, b) => (a.point.name < b.point.name ? -1 : 1))

const COLUMNS = [
  'point_id',
  'point_name',
  'equipment',
  'device',
  'device_instance',
  'object',
  'slot',
  'slot_name',
  'value',
  'present_value',
  'relinquish_default',
  'first_seen',
  'seen_otherwise',
  'last_visit',
  'visits',
  'flips_30d',
  'out_of_service',
]

/** @returns CSV with a header; values are the device's own, instants UTC */
export const writeOverrides = (rows: readonly OverrideRow[]): string => [csvLine(COLUMNS, ','), ...rows.map(line)].join('')

function line({ course, point, level, flips }: OverrideRow): string {
  const { latest, held_since, otherwise_at, visits } = course
  const { device_instance, object_type, object_instance } = latest.target
  const text = (value: SlotValue | undefined) => (value === undefined ? undefined : String(value))
  return csvLine(
    [
      point.point_id,
      point.name,
      point.equipment,
      point.device,
      device_instance,
      `${object_type},${object_instance}`,
      level.number,
      level.name,
      text(commandOf(latest)),
      text(latest.present_value),
      text(latest.relinquish_default),
      formatInstant(held_since),
      otherwise_at === null ? 'present at first visit' : formatInstant(otherwise_at),
      formatInstant(latest.observed_at),
      visits,
      flips,
      text(latest.out_of_service),
    ],
    ',',
  )
}
