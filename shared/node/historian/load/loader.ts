import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import type { BulkLoader } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Database } from '../../sqlite.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import { openChangeMarks } from '../changes.ts'
import { type RemoveParts, stageFile } from '../folder.ts'
import { openKeyGiver } from '../keys.ts'
import { openChunks } from '../hot/chunks.ts'
import { openHotReader } from '../hot/hot-reader.ts'
import { openManifest } from '../manifest.ts'
import type { ManifestWriter } from '../manifest-writer.ts'
import type { Sealer } from '../sealer.ts'
import { stageRows } from './staging.ts'
import type { WriteHandlers } from '../write-worker.ts'

/** Loads packages. Callers run one operation at a time. */
export function openLoader(
  db: Database,
  { root, remove }: { root: string; remove: RemoveParts },
  manifest: ManifestWriter,
  writer: Worker<WriteHandlers>,
  sealer: Sealer,
): BulkLoader['load'] {
  const give = openKeyGiver(db)
  const mark = openChangeMarks(db)
  const firstStored = openFirstStored(db)
  const chunks = openChunks(db)
  const { find } = openManifest(db)

  return async (building_id, points, mode, rows, beside) => {
    const staging = stageFile(root, randomUUID())
    try {
      const staged = await stageRows(staging, points, rows)
      if (staged.rows === 0) throw new Problem('package_invalid', 'the package holds no rows: nothing was changed')
      // Hot samples are sealed first, so that they have a lower rank than the package.
      if (mode === 'merge') await sealer.seal({ building_id, from: staged.first, before: staged.last + 1 })
      const given = give(building_id, points)
      const keys = points.map(point_id => given.points.get(point_id)!)
      const query = { building: given.building, points: keys, from: staged.first, to: staged.last + 1 }
      const existing = mode === 'merge' ? find(query) : []
      const epoch = manifest.nextEpoch()
      const { runs, ascending } = staged
      const loaded = await writer.request('load', { building_id, staging, runs, points, ascending, existing, epoch })
      let unlisted = loaded.parts.map(({ file }) => file)
      try {
        unlisted = manifest.commit(list => {
          const changedFrom = mode === 'replace' ? Math.min(staged.first, firstStored(given.building, keys)) : loaded.addedFrom
          if (changedFrom < Infinity) mark(given.building, changedFrom)
          if (mode === 'replace') chunks.removePoints(given.building, keys)
          const files = mode === 'replace' ? list.dropPoints(given.building, keys) : []
          list.add(given.building, epoch, loaded.parts)
          beside?.()
          return files
        })
      } finally {
        await remove(unlisted)
      }
      return { added: loaded.added, duplicate: loaded.duplicate }
    } finally {
      rmSync(staging, { force: true })
    }
  }
}

/** @returns a function that returns the first stored instant of some points; Infinity when there is none */
function openFirstStored(db: Database): (building: number, points: number[]) => number {
  const sealed = db.prepare('SELECT min(first) FROM part_points WHERE point IN (SELECT value FROM json_each(?))').pluck()
  const hot = openHotReader(db)
  return (building, points) => {
    let first = (sealed.get(JSON.stringify(points)) as number | null) ?? Infinity
    hot.read({ building, from: -Infinity, to: first }, points, (_, ts) => (first = Math.min(first, ts)))
    return first
  }
}
