import { MINUTE } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'
import { type Duck, valuesOf } from './duck.ts'
import { monthOf, monthSpan, partFile } from './folder.ts'
import { HotChunk } from './hot/chunk.ts'
import { HOT_SPAN } from './hot/chunks.ts'
import { openKeys } from './keys.ts'
import type { NewPart } from './manifest.ts'
import { writePart } from './part-file.ts'

/** Samples that are sealed at once, which bounds the memory that it takes. */
const SEAL_SAMPLES = 200_000

export type SealInput = {
  building: number
  building_id: string
  /** Samples in `[from, before)` are sealed, both whole minutes. */
  from: number
  before: number
  /** Chunks of this epoch and later are not sealed: they may have arrived after the slice was read. */
  epoch: number
  /** Number of the slice, for the file's name. */
  n: number
}
/** The sealed slice `[from, to)`; no part when all of its samples are too new. */
export type SealedSlice = { from: number; to: number; part: NewPart | undefined }

/** Writes the oldest hot samples of a building to a part: those of one month, at most `SEAL_SAMPLES` and those of one minute. */
export async function sealSlice(db: Database, duck: Duck, root: string, input: SealInput): Promise<SealedSlice | undefined> {
  const slice = readSlice(db, input)
  if (!slice) return undefined
  const { from, to, columns, names } = slice
  if (names.length === 0) return { from, to, part: undefined }

  await duck.run('CREATE OR REPLACE TEMP TABLE hot (ts DOUBLE, point DOUBLE, value DOUBLE, quality DOUBLE)')
  const appender = await duck.appender('hot')
  appender.add(columns)
  appender.end()
  const month = monthOf(from)
  const file = partFile(input.building_id, month, input.epoch, input.n)
  const select = `SELECT point_id, epoch_ms(ts::BIGINT) AS ts, if(isnan(value), NULL, value) AS value, quality::UTINYINT AS quality
    FROM hot JOIN ${valuesOf(names)} AS names (point, point_id) USING (point) ORDER BY point_id, ts`
  return { from, to, part: await writePart(duck, root, file, month, select) }
}

/** Minutes of a building that have chunks, and how many samples. */
type Filled = { minute: number; samples: number }

function readSlice(db: Database, { building, from, before, epoch }: SealInput) {
  const filled = db.prepare(
    `SELECT minute, sum(samples) AS samples FROM hot_chunks WHERE ${HOT_SPAN} GROUP BY minute ORDER BY minute`,
  )
  const chunks = db.prepare(`SELECT minute, data FROM hot_chunks WHERE ${HOT_SPAN} AND epoch < @epoch`)
  return db.transaction(() => {
    const minutes = filled.iterate({ building, from, to: before }) as IterableIterator<Filled>
    const span = firstMinutes(minutes)
    if (!span) return undefined
    const start = span.first * MINUTE
    const end = Math.min(before, monthSpan(monthOf(start)).to, (span.last + 1) * MINUTE)
    const found = chunks.all({ building, from: start, to: end, epoch }) as { minute: number; data: Buffer }[]
    const columns = columnsOf(found)
    const all = openKeys(db).names(building)
    const names = [...new Set(columns[1])].map(point => [point, all.get(point)!] as const)
    return { from: start, to: end, columns, names }
  })()
}

/** @returns the first and the last of the minutes that are sealed together */
function firstMinutes(minutes: Iterable<Filled>): { first: number; last: number } | undefined {
  let span: { first: number; last: number } | undefined
  let count = 0
  for (const { minute, samples } of minutes) {
    count += samples
    if (span && count > SEAL_SAMPLES) break
    span = { first: span?.first ?? minute, last: minute }
  }
  return span
}

/** The columns `ts`, `point`, `value` and `quality` of all samples of some chunks. */
function columnsOf(found: { minute: number; data: Buffer }[]): Float64Array[] {
  const chunks = found.map(({ minute, data }) => ({ start: minute * MINUTE, chunk: new HotChunk(data) }))
  const length = chunks.reduce((sum, { chunk }) => sum + chunk.length, 0)
  const [ts, points, values, qualities] = Array.from({ length: 4 }, () => new Float64Array(length)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ]
  let n = 0
  for (const { start, chunk } of chunks) {
    for (let i = 0; i < chunk.length; i++, n++) {
      ts[n] = start + chunk.ms(i)
      points[n] = chunk.point(i)
      values[n] = chunk.value(i)
      qualities[n] = chunk.quality(i)
    }
  }
  return [ts, points, values, qualities]
}
