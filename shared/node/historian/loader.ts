import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { BulkLoader, PointRows } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { INSTANT_END, INSTANT_MIN } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import { openChangeMarks } from './changes.ts'
import { removeParts, stageFolder } from './folder.ts'
import { isInstant } from './hot.ts'
import { openKeyGiver } from './keys.ts'
import { openManifest } from './manifest.ts'
import type { ManifestWriter } from './manifest-writer.ts'
import type { Sealer } from './sealer.ts'
import type { WriteHandlers } from './write-worker.ts'

/** Rows that are sent to staging at once: 2.4 MB. */
const BATCH_ROWS = 100_000

/** Loads packages. Callers run one operation at a time. */
export function openLoader(
  db: Database,
  root: string,
  manifest: ManifestWriter,
  writer: Worker<WriteHandlers>,
  sealer: Sealer,
): BulkLoader['load'] {
  const give = openKeyGiver(db)
  const mark = openChangeMarks(db)
  const firstStored = openFirstStored(db)
  const forget = db.prepare('DELETE FROM samples WHERE building = ? AND point IN (SELECT value FROM json_each(?))')
  const { find } = openManifest(db)

  return async (building_id, points, mode, rows, beside) => {
    const folder = randomUUID()
    try {
      const staged = await stageAll(writer, folder, points, rows)
      if (staged.rows === 0) throw new Problem('package_invalid', 'the package holds no rows: nothing was changed')
      // Hot rows are sealed first, so that they have a lower rank than the package.
      if (mode === 'merge') await sealer.seal({ building_id, from: staged.first, before: staged.last + 1 })
      const given = give(building_id, points)
      const keys = points.map(point_id => given.points.get(point_id)!)
      const query = { building: given.building, points: keys, from: staged.first, to: staged.last + 1 }
      const existing = mode === 'merge' ? find(query) : []
      const epoch = manifest.nextEpoch()
      const { batches, rows: sent, ascending } = staged
      const loaded = await writer.request('load', {
        building_id,
        folder,
        batches,
        rows: sent,
        ascending,
        points,
        existing,
        epoch,
      })
      let unlisted = loaded.parts.map(({ file }) => file)
      try {
        unlisted = manifest.commit(list => {
          const changedFrom = mode === 'replace' ? Math.min(staged.first, firstStored(given.building, keys)) : loaded.addedFrom
          if (changedFrom < Infinity) mark(given.building, changedFrom)
          if (mode === 'replace') forget.run(given.building, JSON.stringify(keys))
          const files = mode === 'replace' ? list.dropPoints(given.building, keys) : []
          list.add(given.building, epoch, loaded.parts)
          beside?.()
          return files
        })
      } finally {
        removeParts(root, unlisted)
      }
      return { added: loaded.added, duplicate: loaded.duplicate }
    } finally {
      rmSync(stageFolder(root, folder), { recursive: true, force: true })
    }
  }
}

/** @returns a function that returns the first stored instant of some points; Infinity when there is none */
function openFirstStored(db: Database): (building: number, points: number[]) => number {
  const first = db
    .prepare(
      `WITH wanted AS (SELECT value FROM json_each(@points))
       SELECT min(t) FROM (
         SELECT min(ts) AS t FROM samples WHERE building = @building AND point IN wanted
         UNION ALL SELECT min(first) FROM part_points WHERE point IN wanted)`,
    )
    .pluck()
  return (building, points) => (first.get({ building, points: JSON.stringify(points) }) as number | null) ?? Infinity
}

/**
 * Sends the rows to the staging folder in batches.
 *
 * @returns their number, their first and last instant, and whether those of each point came in the order of time, none twice
 */
async function stageAll(writer: Worker<WriteHandlers>, folder: string, points: string[], rows: AsyncIterable<PointRows>) {
  const index = new Map(points.map((point_id, i) => [point_id, i]))
  const staged = { batches: 0, rows: 0, first: INSTANT_END, last: INSTANT_MIN, ascending: true }
  const lasts = new Float64Array(points.length).fill(-Infinity)
  let batch: { point: number; rows: PointRows }[] = []
  let size = 0
  let sending: Promise<void> = Promise.resolve()
  /** While a batch is written, the next one is read. */
  const send = async () => {
    await sending
    if (size === 0) return
    sending = writer.request('stage', { folder, n: staged.batches, ...columnsOf(batch, size) })
    sending.catch(() => undefined) // The next wait for it throws.
    staged.batches += 1
    staged.rows += size
    batch = []
    size = 0
  }
  const take = async (each: PointRows) => {
    const point = index.get(each.point_id)
    assert(point !== undefined, `${each.point_id} is not one of the points of the package`)
    for (const t of each.series.ts) {
      if (!isInstant(t)) assert.fail(`point ${each.point_id}: ${t} is not an instant in ms`)
      if (t <= lasts[point]!) staged.ascending = false
      lasts[point] = t
      if (t < staged.first) staged.first = t
      if (t > staged.last) staged.last = t
    }
    batch.push({ point, rows: each })
    size += each.series.ts.length
    if (size >= BATCH_ROWS) await send()
  }
  try {
    for await (const each of rows) await take(each)
    await send()
    await sending
  } finally {
    await sending.catch(() => undefined) // The folder is removed only when nothing writes to it.
  }
  return staged
}

function columnsOf(batch: { point: number; rows: PointRows }[], size: number) {
  const columns = { point: new Float64Array(size), ts: new Float64Array(size), values: new Float64Array(size) }
  let n = 0
  for (const { point, rows } of batch) {
    columns.point.fill(point, n, n + rows.series.ts.length)
    columns.ts.set(rows.series.ts, n)
    columns.values.set(rows.series.values, n)
    n += rows.series.ts.length
  }
  return columns
}
