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
type StagedPoint = { month: string; point: number; rows: number }

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
  for (const [month, points] of byMonth) {
    for (const [n, group] of groups(points, ({ rows }) => rows).entries()) {
      const { fresh, added, rows, addedFrom } = await settle(duck, root, staged, input, month, group)
      loaded.added += added
      loaded.duplicate += rows - added
      loaded.addedFrom = Math.min(loaded.addedFrom, addedFrom)
      if (fresh === 0) continue
      const select = `SELECT point_id, ts, value, if(value IS NULL, 2, 0)::UTINYINT AS quality FROM settled WHERE fresh ORDER BY point_id, ts`
      loaded.parts.push(await writePart(duck, root, partFile(input.building_id, month, input.epoch, n), month, select))
    }
  }
  return loaded
}

async function survey(duck: Duck, staged: string, input: LoadInput): Promise<StagedPoint[]> {
  const found = (await duck.rows(
    `SELECT strftime(epoch_ms(ts), '%Y-%m'), point, count(*)::DOUBLE FROM ${staged} GROUP BY ALL ORDER BY ALL`,
  )) as [string, number, number][]
  const rows = found.reduce((sum, [, , some]) => sum + some, 0)
  if (rows !== input.rows) throw new Error(`${rows} rows are staged of ${input.rows} that were sent`)
  return found.map(([month, point, some]) => ({ month, point, rows: some + heldOf(input, month, point) }))
}

/** Sealed rows of a point in a month. */
function heldOf({ existing, points }: LoadInput, month: string, point: number): number {
  const ofMonth = existing.filter(part => part.month === month).flatMap(part => part.points)
  return ofMonth.reduce((sum, { point_id, samples }) => (point_id === points[point] ? sum + samples : sum), 0)
}

/**
 * Fills the table `settled` with the staged rows of some points and one month, with whether each row is new and whether it
 * is the last of its instant.
 */
async function settle(duck: Duck, root: string, staged: string, input: LoadInput, month: string, group: StagedPoint[]) {
  const { from, to } = monthSpan(month)
  const names = group.map(({ point }) => [point, input.points[point]!] as const)
  const wanted = new Set(names.map(([, point_id]) => point_id))
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
       SELECT point_id, epoch_ms(ts), value, batch, row
       FROM ${staged} JOIN ${valuesOf(names)} AS names (point, point_id) USING (point)
       WHERE ts >= ${from} AND ts < ${to} AND point IN (${names.map(([point]) => point).join(', ')})
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
  return { fresh: fresh!, added: added!, rows: rows!, addedFrom: addedFrom ?? Infinity }
}
