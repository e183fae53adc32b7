import type { PointSpan } from '#shared/core/ports.ts'
import type { HistoryMonth } from '#shared/core/series/history-quota.ts'
import type { Database } from '../sqlite.ts'

/**
 * The samples of one point in a file. `step` is the time between them, ms, where all are equally far apart. `hours` is what they
 * were in each hour, as `packHours` packs it; it is there only when it was asked for, and null in a part that has none.
 */
export type PartPoint = PointSpan & { step: number | null; hours?: Uint8Array | null }
export type WrittenPoint = PartPoint & { hours: Uint8Array }
/**
 * A sealed file: rows sorted by point and time, at most one for each point and instant. A file is never changed, only
 * dropped.
 */
export type NewPart = {
  /** Path below the history folder. */
  file: string
  /** UTC, `2026-03`. */
  month: string
  bytes: number
  rows: number
  points: WrittenPoint[]
}
/** Order of parts: of two samples of the same instant, the one in the part with the higher rank is valid. */
export type Part = { part: number; file: string; month: string; rank: number; rows: number; points: PartPoint[] }

type FindQuery = { building: number; points: number[]; from: number; to: number }

type Manifest = {
  /** Parts with samples of these points in `[from, to)`, oldest month and lowest rank first. */
  find(query: FindQuery): Part[]
  /** The same parts with the hours of their points. */
  findHours(query: FindQuery): Part[]
  /** All parts of a building, or those of a month, in the same order. */
  all(building: number, month?: string): Part[]
  /** Months whose parts have more than `ranks` ranks. */
  crowded(ranks: number): { building: number; building_id: string; month: string }[]
  files(): { file: string; bytes: number }[]
  /** Months with parts, of all buildings or of one. */
  months(building_id?: string): HistoryMonth[]
}

const COLUMNS = 'parts.part, file, month, rank, rows, point_id, first, last, samples, step'
const ORDER = 'ORDER BY month, rank, parts.part, point_id'

/** The list of sealed files. A file that is not listed is ignored. */
export function openManifest(db: Database): Manifest {
  const openFind = (columns: string, joined = '') => {
    const find = db.prepare(
      `SELECT ${columns} FROM json_each(@points) AS wanted
       CROSS JOIN part_points ON part_points.point = wanted.value
       CROSS JOIN parts ON parts.part = part_points.part
       CROSS JOIN history_points ON history_points.point = part_points.point ${joined}
       WHERE parts.building = @building AND last >= @from AND first < @to ${ORDER}`,
    )
    return ({ points, ...query }: FindQuery) => toParts(find.all({ ...query, points: JSON.stringify(points) }))
  }
  const all = db.prepare(
    `SELECT ${COLUMNS} FROM parts JOIN part_points USING (part) JOIN history_points USING (point)
     WHERE parts.building = @building AND (@month IS NULL OR month = @month) ${ORDER}`,
  )
  const crowded = db.prepare(
    `SELECT building, building_id, month FROM parts JOIN history_buildings USING (building)
     GROUP BY building, month HAVING count(DISTINCT rank) > ?`,
  )
  const files = db.prepare('SELECT file, bytes FROM parts ORDER BY file')
  const months = db.prepare(
    `SELECT building_id, month, sum(bytes) AS bytes, min(thinned) AS thinned, max(thinned) AS touched
     FROM parts JOIN history_buildings USING (building) WHERE @building_id IS NULL OR building_id = @building_id GROUP BY building, month ORDER BY month, building_id`,
  )
  return {
    find: openFind(COLUMNS),
    findHours: openFind(
      `${COLUMNS}, hours`,
      'LEFT JOIN part_hours ON part_hours.point = part_points.point AND part_hours.part = part_points.part',
    ),
    all: (building, month) => toParts(all.all({ building, month: month ?? null })),
    crowded: ranks => crowded.all(ranks) as { building: number; building_id: string; month: string }[],
    files: () => files.all() as { file: string; bytes: number }[],
    months: building_id =>
      (months.all({ building_id: building_id ?? null }) as MonthRow[]).map(({ thinned, touched, ...one }) => ({
        ...one,
        isThinned: thinned === 1,
        hasThinned: touched === 1,
      })),
  }
}

type MonthRow = { building_id: string; month: string; bytes: number; thinned: number; touched: number }

function toParts(rows: unknown[]): Part[] {
  const parts = new Map<number, Part>()
  for (const row of rows as (Omit<Part, 'points'> & PartPoint)[]) {
    const { part, file, month, rank, rows: all, ...point } = row
    const known = parts.get(part)
    if (known) known.points.push(point)
    else parts.set(part, { part, file, month, rank, rows: all, points: [point] })
  }
  return [...parts.values()]
}
