import { type FileHandle, open } from 'node:fs/promises'
import { type Duck, sqlTexts } from '../duck.ts'
import { monthOf, partFile } from '../folder.ts'
import type { NewPart, Part } from '../manifest.ts'
import { groups, selectParts, writePart } from '../part-file.ts'
import { bytesOfRun, type Runs } from './staging.ts'

export type LoadInput = {
  building_id: string
  /** The file of the staged rows, and what is in it. */
  staging: string
  runs: Runs
  /** Point ids by their index in the runs. */
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

/** The runs of a point in a month, in the order in which they came, and the number of their rows. */
type StagedPoint = { point_id: string; runs: number[]; rows: number }
type Group = { month: string; n: number; points: StagedPoint[] }
/** Rows that are in no file yet: what of them is new, and SQL that selects it in the order of a part. */
type Settled = { fresh: number; added: number; addedFrom: number; select: string }

/**
 * Writes staged rows to parts, month by month, in bounded memory. Two parts are written at a time: while DuckDB writes one, the
 * rows of the other are handed over.
 *
 * @throws Error when the staging file does not hold all rows that were sent
 */
export async function loadStaged(duck: Duck, root: string, input: LoadInput): Promise<LoadResult> {
  const file = await open(input.staging)
  const other = await duck.beside()
  try {
    assertWhole((await file.stat()).size, input.runs)
    const groups = groupsOf(input)
    const ends = await Promise.allSettled([duck, other].map(own => loadGroups(own, root, file, input, groups)))
    const failed = ends.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
    if (failed) throw failed.reason
    const loaded = ends.flatMap(end => (end.status === 'fulfilled' ? end.value : []))
    return {
      parts: loaded.flatMap(({ part }) => part ?? []),
      added: sumOf(loaded, ({ added }) => added),
      duplicate: sumOf(loaded, ({ rows, added }) => rows - added),
      addedFrom: Math.min(Infinity, ...loaded.map(({ addedFrom }) => addedFrom)),
    }
  } finally {
    other.close()
    await file.close()
  }
}

const sumOf = <T>(all: T[], numberOf: (one: T) => number): number => all.reduce((sum, one) => sum + numberOf(one), 0)

/** Writes the next group until there is none. An error ends the groups for everybody. */
async function loadGroups(duck: Duck, root: string, file: FileHandle, input: LoadInput, groups: Iterable<Group>) {
  const isAllNew = input.ascending && input.existing.length === 0
  const loaded = []
  for (const { month, n, points } of groups) {
    const { rows, first } = await fillStaged(duck, file, input.runs, points)
    const settled = isAllNew ? takeAll(points, rows, first) : await settle(duck, root, input, month, points)
    const { fresh, added, addedFrom, select } = settled
    const path = partFile(input.building_id, month, input.epoch, n)
    const part = fresh > 0 ? await writePart(duck, root, path, month, select) : undefined
    loaded.push({ part, rows, added, addedFrom })
  }
  return loaded
}

/** The points of each part to be written: of a month, as many as fit. */
function* groupsOf(input: LoadInput): Generator<Group> {
  for (const [start, runs] of runsByMonth(input.runs)) {
    const month = monthOf(start)
    const cut = groups(pointsOf(runs, input), point => point.rows + heldOf(input, month, point))
    for (const [n, points] of cut.entries()) yield { month, n, points }
  }
}

function assertWhole(size: number, { rows }: Runs): void {
  const wanted = rows.reduce((sum, some) => sum + bytesOfRun(some), 0)
  if (size !== wanted) throw new Error(`${size} bytes are staged of ${wanted} that were sent`)
}

/** Indices of runs by the start of their month, ascending. */
function runsByMonth({ count, month }: Runs): [number, number[]][] {
  const byMonth = new Map<number, number[]>()
  for (let run = 0; run < count; run++) {
    const known = byMonth.get(month[run]!)
    if (known) known.push(run)
    else byMonth.set(month[run]!, [run])
  }
  return [...byMonth].toSorted(([a], [b]) => a - b)
}

/** The points of some runs in the order of a part. */
function pointsOf(runs: number[], { runs: { point, rows }, points }: LoadInput): StagedPoint[] {
  const byPoint = new Map<number, StagedPoint>()
  for (const run of runs) {
    const at = point[run]!
    const known = byPoint.get(at) ?? { point_id: points[at]!, runs: [], rows: 0 }
    known.runs.push(run)
    known.rows += rows[run]!
    byPoint.set(at, known)
  }
  return [...byPoint.values()].toSorted((a, b) => (a.point_id < b.point_id ? -1 : 1))
}

/** Sealed rows of a point in a month. */
function heldOf({ existing }: LoadInput, month: string, { point_id }: StagedPoint): number {
  const ofMonth = existing.filter(part => part.month === month).flatMap(part => part.points)
  return ofMonth.reduce((sum, one) => (one.point_id === point_id ? sum + one.samples : sum), 0)
}

/**
 * Fills the table `staged` with the rows of a group, point after point. `run` counts the runs of the group. It orders samples
 * of one instant: of a point, a run holds none twice.
 */
async function fillStaged(duck: Duck, file: FileHandle, { rows, at }: Runs, group: StagedPoint[]) {
  await duck.run('CREATE OR REPLACE TEMP TABLE staged (ts DOUBLE, value DOUBLE, run INTEGER)')
  const appender = await duck.appender('staged')
  const filled = { rows: 0, first: Infinity }
  for (const [i, run] of group.flatMap(({ runs }) => runs).entries()) {
    const n = rows[run]!
    const both = new Float64Array(2 * n)
    await file.read(both, 0, both.byteLength, at[run]!)
    appender.add([both.subarray(0, n), both.subarray(n), new Int32Array(n).fill(i)])
    filled.rows += n
    filled.first = Math.min(filled.first, both[0]!)
  }
  appender.end()
  return filled
}

/** SQL of the table `staged`. */
function stagedRows(group: StagedPoint[]): string {
  const idsByRun = sqlTexts(group.flatMap(({ point_id, runs }) => runs.map(() => point_id)))
  return `SELECT list_extract([${idsByRun}], run + 1) AS point_id, epoch_ms(ts::BIGINT) AS ts,
    if(isnan(value), NULL, value) AS value, run FROM staged`
}

const WRITTEN = 'point_id, ts, value, if(value IS NULL, 2, 0)::UTINYINT AS quality'

/** No instant of a point is staged twice or sealed already: there is nothing to compare, and rows are in order. */
const takeAll = (group: StagedPoint[], rows: number, first: number): Settled => ({
  ...{ fresh: rows, added: rows, addedFrom: first },
  select: `SELECT ${WRITTEN} FROM (${stagedRows(group)})`,
})

/**
 * Fills the table `settled` with the staged rows of some points and one month, with whether each row is new and whether it
 * is the last of its instant.
 */
async function settle(duck: Duck, root: string, input: LoadInput, month: string, group: StagedPoint[]): Promise<Settled> {
  const wanted = new Set(group.map(({ point_id }) => point_id))
  const existing = input.existing
    .filter(part => part.month === month)
    .map(part => ({ ...part, points: part.points.filter(({ point_id }) => wanted.has(point_id)) }))
    .filter(({ points }) => points.length > 0)
  const held = existing.length
    ? `UNION ALL SELECT point_id, ts, value, -1 FROM (${selectParts(root, existing)})
       QUALIFY row_number() OVER (PARTITION BY point_id, ts ORDER BY rank DESC) = 1`
    : ''
  await duck.run(
    `CREATE OR REPLACE TEMP TABLE settled AS
     WITH every (point_id, ts, value, run) AS (
       ${stagedRows(group)}
       ${held})
     SELECT point_id, ts, value, run,
       lag(run) OVER w IS NULL OR lag(value) OVER w IS DISTINCT FROM value AS added,
       lead(run) OVER w IS NULL AND (first(run) OVER w >= 0 OR first(value) OVER w IS DISTINCT FROM value) AS fresh
     FROM every WINDOW w AS (PARTITION BY point_id, ts ORDER BY run)`,
  )
  await duck.run('DELETE FROM settled WHERE run < 0')
  const [[fresh, added, addedFrom] = []] = (await duck.rows(
    `SELECT (count(*) FILTER (WHERE fresh))::DOUBLE, (count(*) FILTER (WHERE added))::DOUBLE,
       epoch_ms(min(ts) FILTER (WHERE added))::DOUBLE FROM settled`,
  )) as (number | null)[][]
  const select = `SELECT ${WRITTEN} FROM settled WHERE fresh ORDER BY point_id, ts`
  return { fresh: fresh!, added: added!, addedFrom: addedFrom ?? Infinity, select }
}
