/** Rows of the list of overrides, the oldest first, and of points out of service. */
import { objectName } from '#shared/core/bacnet/object-name.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { DAY, formatInstant } from '#shared/core/time.ts'
import { isOverride, type LevelMeaning } from './priority-levels.ts'
import type { SlotValue } from './priority-record.ts'
import { commandOf, type CommandState, FLIPS_MS } from './command-state.ts'

/** Names of a point from the list of field devices. A point that left the list has some of them. */
export type PointWords = {
  point_id?: string
  name: string
  /** Set with its name, `equipment`. */
  equipment_id?: string
  equipment?: string
  device: string
  /** Formats a raw value of the device with the unit or states of the point: `42 %`, `On (1)`. */
  valueWords: (value: SlotValue) => string
}
export type OverrideRow = { command: CommandState; point: PointWords; level: LevelMeaning & { number: number }; flips: number }
/** A point out of service: its value does not come from the input, or does not reach the output (135-2020 12.2.10). */
export type OutOfServiceRow = Pick<OverrideRow, 'command' | 'point'>

/** @returns the points that are overridden as of their newest visit, the oldest first */
export function overridesOf(
  commands: readonly CommandState[],
  meanings: readonly LevelMeaning[],
  wordsOf: (command: CommandState) => PointWords,
  now: number,
): OverrideRow[] {
  return commands
    .filter(({ latest }) => isOverride(latest.active_level, meanings))
    .map(command => {
      const number = command.latest.active_level!
      const flips = command.flips.filter(at => at > now - FLIPS_MS).length
      return { command, point: wordsOf(command), level: { ...meanings[number - 1]!, number }, flips }
    })
    .toSorted((a, b) => a.command.held_since - b.command.held_since || (a.point.name < b.point.name ? -1 : 1))
}

/** A point that was overridden until `seen_at`; `since` is the first visit that saw the level command. */
export type ReleasedRow = Pick<OverrideRow, 'command' | 'point' | 'level'> & { since: number; seen_at: number }

/** So long a release is listed: a week, as somebody sweeps them. */
const RELEASED_MS = 7 * DAY

/** @returns the points whose override was gone at a visit of the last week and has not come back, the newest first */
export function releasedOf(
  commands: readonly CommandState[],
  meanings: readonly LevelMeaning[],
  wordsOf: (command: CommandState) => PointWords,
  now: number,
): ReleasedRow[] {
  return commands
    .flatMap((command): ReleasedRow[] => {
      const { before, held_since, latest } = command
      if (before === undefined || held_since <= now - RELEASED_MS) return []
      if (isOverride(latest.active_level, meanings) || !isOverride(before.level, meanings)) return []
      const number = before.level!
      const level = { ...meanings[number - 1]!, number }
      return [{ command, point: wordsOf(command), level, since: before.since, seen_at: held_since }]
    })
    .toSorted((a, b) => b.seen_at - a.seen_at || (a.point.name < b.point.name ? -1 : 1))
}

/** Ages that the list can be cut to, days. */
export const AGES = ['1', '7'] as const
/** How a list of overrides is cut and gathered: the query of its page and of its CSV. */
export type OverrideQuery = { older?: (typeof AGES)[number] | undefined; group?: 'equipment' | undefined }
/** Overrides of one equipment, or all of them; `equipment` is undefined for those of none. */
export type OverrideGroup = { equipment: { equipment_id: string; name: string } | undefined; rows: OverrideRow[] }

/**
 * Cuts a list to an age and gathers it by equipment.
 *
 * @param all  the oldest first, as `overridesOf` returns them
 * @param now  ms since 1970 UTC
 * @returns the equipment with the oldest override first, overrides of no equipment last; one group when none is wanted
 */
export function groupOverrides(all: readonly OverrideRow[], { older, group }: OverrideQuery, now: number): OverrideGroup[] {
  const rows = older === undefined ? [...all] : all.filter(({ command }) => command.held_since < now - Number(older) * DAY)
  if (rows.length === 0) return []
  if (group === undefined) return [{ equipment: undefined, rows }]
  return [...Map.groupBy(rows, ({ point }) => point.equipment_id)]
    .map(
      ([equipment_id, own]): OverrideGroup => ({
        equipment: equipment_id === undefined ? undefined : { equipment_id, name: own[0]!.point.equipment ?? equipment_id },
        rows: own,
      }),
    )
    .toSorted((a, b) => Number(a.equipment === undefined) - Number(b.equipment === undefined))
}

/** @returns the points that are out of service as of their newest visit, by name */
export const outOfServiceOf = (
  commands: readonly CommandState[],
  wordsOf: (command: CommandState) => PointWords,
): OutOfServiceRow[] =>
  commands
    .filter(({ latest }) => latest.out_of_service === true)
    .map(command => ({ command, point: wordsOf(command) }))
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
  // As people in the field write it; `object` stays for programs.
  'object_name',
]

/** @returns CSV with a header, one group below the other; values are the device's own, instants UTC */
export const writeOverrides = (groups: readonly OverrideGroup[]): string =>
  [csvLine(COLUMNS, ','), ...groups.flatMap(({ rows }) => rows.map(line))].join('')

function line({ command, point, level, flips }: OverrideRow): string {
  const { latest, held_since, otherwise_at, visits } = command
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
      objectName(`${object_type},${object_instance}`),
    ],
    ',',
  )
}
