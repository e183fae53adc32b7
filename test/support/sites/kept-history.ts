/**
 * History as the first site of a run of the suite has stored and sealed it, for its later sites: to append three days of minutes, and to
 * start the process that seals them, takes half of what a site takes. Each site has a copy of its own.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '#shared/core/findings/finding-id.ts'
import type { Point } from '#shared/core/model/model.ts'
import { openHistorian } from '#shared/node/historian/historian.ts'
import { parquetRootIn } from '#shared/node/historian/folder.ts'
import { openDatabase } from '#shared/node/sqlite.ts'
import { suiteFolder } from '../rules/parsed-rules.ts'

type Samples = { ts: Float64Array; values: Float64Array }
type History = { building_id: string; points: Point[]; samplesOf: (point: Point) => Samples; sealedBefore: number }

/** Puts the history of these points into a workspace that nothing has opened yet. */
export async function takeHistory(workspace: string, history: History): Promise<void> {
  const key = sha256(JSON.stringify([history.building_id, history.points.map(({ point_id, role }) => [point_id, role])]))
  const kept = suiteFolder && join(suiteFolder, `history-${key}`)
  if (kept === undefined) return fill(workspace, history)
  if (!existsSync(kept)) {
    const made = mkdtempSync(`${kept}-`)
    await fill(made, history)
    try {
      renameSync(made, kept)
    } catch {
      rmSync(made, { recursive: true }) // Another file of tests was first.
    }
  }
  cpSync(kept, workspace, { recursive: true })
}

async function fill(workspace: string, { building_id, points, samplesOf, sealedBefore }: History): Promise<void> {
  const root = parquetRootIn(workspace)
  mkdirSync(root, { recursive: true })
  const db = openDatabase(join(workspace, 'plenum.db'))
  const historian = await openHistorian({ db, root, memoryMb: 128, idleMs: 1000 })
  for (const point of points) {
    const { ts, values } = samplesOf(point)
    await historian.append(
      building_id,
      Array.from(ts, (t, i) => ({ id: point.point_id, t, v: values[i]! })),
    )
  }
  await historian.seal({ before: sealedBefore })
  await historian.stop()
  db.close()
}
