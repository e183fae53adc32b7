import { type Duck, sqlTexts, valuesOf } from './duck.ts'
import { monthSpan, partFile, stageFile } from './folder.ts'
import type { NewPart, Part } from './manifest.ts'
import { groups, selectParts, writePart } from './part-file.ts'

export type LoadInput = {
  building_id: string
  /** The staging folder, and the number of its batches and rows. */
  folder: string
  batches: number
  rows: number
  /** Point ids by their index in the staged rows. */
  points: string[]
  /** Whether the samples of each point were sent in the order of time, none twice. */
  ascending: boolean
  /** Sealed parts to merge with; none when their samples are replaced. */
  existing: Part[]
  epoch: number
}
/** Counts as if the rows had been appended one by one: a value that is stored already counts as duplicate. */
export type LoadResult = {
  parts: NewPart[]
  added: number
  duplicate: number
  /** The earliest instant at which a sample was added. */
  addedFrom: number
}

/** The staged rows of a point in a month. `rows` counts these and the sealed rows to compare with. */
type StagedPoint = { month: string; point: number; rows: number; first: number }
/** Which of the staged rows of a group are new. */
type Settled = { fresh: number; added: number; rows: number; addedFrom: number; select: string }

/**
 * Writes staged rows to parts, month by month, in bounded memory.
 *
 * @throws Error when the staging folder does not hold all rows that were sent
 */
export async function loadStaged(duck: Duck, root: string, input: LoadInput): Promise<LoadResult> {
  const files = Array.from({ length: input.batches }, (_, n) => stageFile(root, input.folder, n))
  const staged = `read_parquet([${sqlTexts(files)}])`
  const byMonth = Map.groupBy(await survey(duck, staged, input), ({ month }) => month)
  const loaded: LoadResult = { parts: [], added: 0, duplicate: 0, addedFrom: Infinity }
  const isAllNew = input.ascending && input.existing.length === 0
  for (const [month, points] of byMonth) {
    for (const [n, group] of groups(points, ({ rows }) => rows).entries()) {
      const settled = isAllNew ? takeAll(staged, input, month, group) : await settle(duck, root, staged, input, month, group)
      const { fresh, added, rows, addedFrom, select } = settled
      loaded.added += added
      loaded.duplicate += rows - added
      loaded.addedFrom = Math.min(loaded.addedFrom, addedFrom)
      if (fresh === 0) continue
      loaded.parts.push(await writePart(duck, root, partFile(input.building_id, month, input.epoch, n), month, select))
    }
  }
  return loaded
}

async function survey(duck: Duck, staged: string, input: LoadInput): Promise<StagedPoint[]> {
  const found = (await duck.rows(
    `SELECT strftime(epoch_ms(ts), '%Y-%m') AS month, point, count(*)::DOUBLE, min(ts)::DOUBLE FROM ${staged}
     GROUP BY month, point ORDER BY month, point`,
  )) as [string, number, number, number][]
  const rows = found.reduce((sum, [, , some]) => sum + some, 0)
  if (rows !== input.rows) throw new Error(`${rows} rows are staged of ${input.rows} that were sent`)
  return found.map(([month, point, some, first]) => ({ month, point, rows: some + heldOf(input, month, point), first }))
}

/** Sealed rows of a point in a month. */
function heldOf({ existing, points }: LoadInput, month: string, point: number): number {
  const ofMonth = existing.filter(part => part.month === month).flatMap(part => part.points)
  return ofMonth.reduce((sum, { point_id, samples }) => (point_id === points[point] ? sum + samples : sum), 0)
}

/** SQL of the staged rows of some points in a month. */
function rowsOf(staged: string, { points }: LoadInput, month: string, group: StagedPoint[]): string {
  const { from, to } = monthSpan(month)
  const names = valuesOf(group.map(({ point }) => [point, points[point]!]))
  const wanted = group.map(({ point }) => point).join(', ')
  return `SELECT point_id, epoch_ms(ts) AS ts, value, batch, row FROM ${staged} JOIN ${names} AS names (point, point_id) USING (point)
    WHERE ts >= ${from} AND ts < ${to} AND point IN (${wanted})`
}

const WRITTEN = 'point_id, ts, value, if(value IS NULL, 2, 0)::UTINYINT AS quality'

/** No instant of a point is staged twice or sealed already: there is nothing to compare. */
function takeAll(staged: string, input: LoadInput, month: string, group: StagedPoint[]): Settled {
  const rows = group.reduce((sum, point) => sum + point.rows, 0)
  const addedFrom = Math.min(...group.map(({ first }) => first))
  const select = `SELECT ${WRITTEN} FROM (${rowsOf(staged, input, month, group)}) ORDER BY point_id, ts`
  return { fresh: rows, added: rows, rows, addedFrom, select }
}

/**
 * Fills the table `settled` with the staged rows of some points and one month, with whether each row is new and whether it
 * is the last of its instant.
 */
async function settle(
  duck: Duck,
  root: string,
  staged: string,
  input: LoadInput,
  month: string,
  group: StagedPoint[],
): Promise<Settled> {
  const wanted = new Set(group.map(({ point }) => input.points[point]!))
  const existing = input.existing
    .filter(part => part.month === month)
    .map(part => ({ ...part, points: part.points.filter(({ point_id }) => wanted.has(point_id)) }))
    .filter(({ points }) => points.length > 0)
  const held = existing.length
    ? `UNION ALL SELECT point_id, ts, value, -1, -1 FROM (${selectParts(root, existing)})
       QUALIFY row_number() OVER (PARTITION BY point_id, ts ORDER BY rank DESC) = 1`
    : ''
  await duck.run(
    `CREATE OR REPLACE TEMP TABLE settled AS
     WITH every (point_id, ts, value, batch, row) AS (
       ${rowsOf(staged, input, month, group)}
       ${held})
     SELECT point_id, ts, value, batch,
       lag(batch) OVER w IS NULL OR lag(value) OVER w IS DISTINCT FROM value AS added,
       lead(batch) OVER w IS NULL AND (first(batch) OVER w >= 0 OR first(value) OVER w IS DISTINCT FROM value) AS fresh
     FROM every WINDOW w AS (PARTITION BY point_id, ts ORDER BY batch, row)`,
  )
  await duck.run('DELETE FROM settled WHERE batch < 0')
  const [[fresh, added, rows, addedFrom] = []] = (await duck.rows(
    `SELECT (count(*) FILTER (WHERE fresh))::DOUBLE, (count(*) FILTER (WHERE added))::DOUBLE, count(*)::DOUBLE,
       epoch_ms(min(ts) FILTER (WHERE added))::DOUBLE FROM settled`,
  )) as (number | null)[][]
  const select = `SELECT ${WRITTEN} FROM settled WHERE fresh ORDER BY point_id, ts`
  return { fresh: fresh!, added: added!, rows: rows!, addedFrom: addedFrom ?? Infinity, select }
}
