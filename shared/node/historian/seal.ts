import { MINUTE } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'
import { type Duck, valuesOf } from './duck.ts'
import { monthOf, monthSpan, partFile } from './folder.ts'
import { HOT_SPAN } from './hot.ts'
import { openKeys } from './keys.ts'
import type { NewPart } from './manifest.ts'
import { writePart } from './part-file.ts'

/** Rows that are sealed at once: deleting them blocks the writing thread for at most a quarter of a second. */
const SEAL_ROWS = 200_000

export type SealInput = {
  building: number
  building_id: string
  /** Rows in `[from, before)` are sealed. */
  from: number
  before: number
  /** Rows of this epoch and later are not sealed: they may have arrived after the slice was read. */
  epoch: number
  /** Number of the slice, for the file's name. */
  n: number
}
/** The sealed slice `[from, to)`; no part when all of its rows are too new. */
export type SealedSlice = { from: number; to: number; part: NewPart | undefined }

/** Writes the oldest hot rows of a building to a part: rows of one month, at most `SEAL_ROWS` and those of one minute. */
export async function sealSlice(db: Database, duck: Duck, root: string, input: SealInput): Promise<SealedSlice | undefined> {
  const slice = readSlice(db, input)
  if (!slice) return undefined
  const { from, to, rows, names } = slice
  if (rows.length === 0) return { from, to, part: undefined }

  await duck.run('CREATE OR REPLACE TEMP TABLE hot (ts DOUBLE, point DOUBLE, value DOUBLE, quality DOUBLE)')
  const appender = await duck.appender('hot')
  appender.add([0, 1, 2, 3].map(column => Float64Array.from(rows, row => row[column] ?? Number.NaN)))
  appender.end()
  const month = monthOf(from)
  const file = partFile(input.building_id, month, input.epoch, input.n)
  const select = `SELECT point_id, epoch_ms(ts::BIGINT) AS ts, if(isnan(value), NULL, value) AS value, quality::UTINYINT AS quality
    FROM hot JOIN ${valuesOf(names)} AS names (point, point_id) USING (point) ORDER BY point_id, ts`
  return { from, to, part: await writePart(duck, root, file, month, select) }
}

type Row = [ts: number, point: number, value: number | null, quality: number]

function readSlice(db: Database, { building, from, before, epoch }: SealInput) {
  const span = `FROM hot_samples WHERE ${HOT_SPAN}`
  const oldest = db.prepare(`SELECT min(minute) ${span}`).pluck()
  const cut = db.prepare(`SELECT minute ${span} ORDER BY minute LIMIT 1 OFFSET ${SEAL_ROWS}`).pluck()
  const rows = db.prepare(`SELECT ts, point, value, quality ${span} AND epoch < @epoch`).raw()
  return db.transaction(() => {
    const first = oldest.get({ building, from, to: before }) as number | null
    if (first === null) return undefined
    const start = Math.max(from, first * MINUTE)
    const end = Math.min(before, monthSpan(monthOf(start)).to)
    const full = cut.get({ building, from: start, to: end }) as number | undefined
    const to = full === undefined ? end : Math.min(end, Math.max(full, first + 1) * MINUTE)
    const found = rows.all({ building, from: start, to, epoch }) as Row[]
    const all = openKeys(db).names(building)
    const names = [...new Set(found.map(([, point]) => point))].map(point => [point, all.get(point)!] as const)
    return { from: start, to, rows: found, names }
  })()
}
