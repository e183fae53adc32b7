/** Reads the priority history of an edge and converts it for the pages of the hub. */
import { targetName } from '#shared/core/bacnet/object-name.ts'
import type { Connectors } from '#shared/central/api/connectors.ts'
import type { EdgeKey, Equipment, Point } from '#shared/core/model/model.ts'
import type { PointWords } from '#shared/core/priority/override-rows.ts'
import type { PriorityRecord, PriorityTarget } from '#shared/core/priority/priority-record.ts'
import { type LevelMeaning, levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { type CommandState, CommandTracker } from '#shared/core/priority/command-state.ts'
import { HISTORY_SCHEMA, PAGE_MAX, type WireRecord, type WireScanner } from '#shared/core/priority/priority-wire.ts'
import { parseInstant } from '#shared/core/time.ts'
import { objectWords, type ScannerCard } from '#shared/central/ui/overrides-list.ts'
import { deviceValueText } from '#shared/central/ui/measure-text.ts'

type ReadPage = { records: PriorityRecord[]; next: string | undefined; scanner: WireScanner; meanings: LevelMeaning[] }

/**
 * One page, newest first.
 *
 * @throws Problem as `Connectors.ask` does
 */
export async function readPage(
  { ask }: Connectors,
  edge: EdgeKey,
  { target, cursor }: { target?: PriorityTarget; cursor?: string | undefined },
): Promise<ReadPage> {
  const { records, next_cursor, scanner, priority_levels } = await ask(edge, 'priority_history', {
    schema: HISTORY_SCHEMA,
    page_size: PAGE_MAX,
    ...(target && { target }),
    ...(cursor !== undefined && { cursor }),
  })
  return { records: records.map(recordOf), next: next_cursor, scanner, meanings: levelMeanings(priority_levels) }
}

export type HistoryExcerpt = {
  commands: CommandState[]
  records: number
  oldest: number | undefined
  more: boolean
  scanner: WireScanner
  /** The site's own names of the levels. */
  meanings: LevelMeaning[]
}

/**
 * Reads history from the newest record back, page by page, and derives the states of commands from it.
 *
 * @param pages at least 1
 * @throws Problem as `Connectors.ask` does
 */
export async function readExcerpt(connectors: Connectors, edge: EdgeKey, pages: number): Promise<HistoryExcerpt> {
  let page = await readPage(connectors, edge, {})
  const { scanner, meanings } = page
  const records = page.records
  for (let i = 1; i < pages && page.next !== undefined; i++) {
    page = await readPage(connectors, edge, { cursor: page.next })
    records.push(...page.records)
  }
  const tracker = new CommandTracker()
  for (const record of records.toReversed()) tracker.add(record)
  return {
    commands: tracker.states(),
    records: records.length,
    oldest: records.at(-1)?.observed_at,
    more: page.next !== undefined,
    scanner,
    meanings,
  }
}

const recordOf = ({ observed_at, ...record }: WireRecord): PriorityRecord => ({
  ...record,
  observed_at: instantOf(observed_at) ?? 0,
})
const instantOf = (text: string | null): number | null => (text === null ? null : (parseInstant(text) ?? null))

/** @returns the scanner's state with instants in ms */
export function scannerOf(wire: WireScanner): Pick<ScannerCard, 'scanner' | 'journal'> {
  const { journal, records_retained, records_lost, reason, read_only: _readOnly, other_devices, ...scanner } = wire
  const reasonField = reason !== undefined && { reason }
  return {
    scanner: {
      ...scanner,
      ...reasonField,
      ...(other_devices && { other_devices: other_devices.map(one => ({ ...one, since: instantOf(one.since) ?? 0 })) }),
      last_started_at: instantOf(wire.last_started_at),
      last_completed_at: instantOf(wire.last_completed_at),
      next_due_at: instantOf(wire.next_due_at),
    },
    journal: { journal, records: records_retained, ...reasonField, ...(records_lost !== undefined && { lost: records_lost }) },
  }
}

/** A number is shown as the device holds it, without a unit, where an earlier box does not say how it is scaled. */
const rawPoint = ({ kind, states, unit, source }: Point) => ({
  ...{ kind, ...(states && { states }) },
  ...(source.scaling ? { unit, ...source.scaling } : { unit: 'count' }),
})

/** The record has the point's name; its equipment is shown when exactly one point of that name reads that object. */
export function wordsFor(
  points: readonly Point[],
  equipment: readonly Equipment[],
): (record: Pick<PriorityRecord, 'target' | 'label'>) => PointWords {
  const names = new Map(equipment.map(one => [one.equipment_id, one.name]))
  return ({ target, label }) => {
    const object = objectWords(target)
    const isOf = (address: string) =>
      target.device_id === undefined ? address.endsWith(`/${object}`) : address === `${target.device_id}/${object}`
    const [point, other] = points.filter(({ name, source }) => name === label && source && isOf(source.address))
    const at = other ? undefined : point?.equipment_id
    return {
      ...(point && !other && { point_id: point.point_id }),
      name: label ?? targetName(target),
      ...(at !== undefined && { equipment_id: at, equipment: names.get(at) ?? at }),
      device: `${target.device_id === undefined ? '' : `${target.device_id}, `}device ${target.device_instance}`,
      valueWords: value => deviceValueText(value, point && !other ? rawPoint(point) : undefined),
    }
  }
}
