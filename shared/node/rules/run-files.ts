/** What each run found, as files that other programs read: JSON lines, one file for each run, in a folder for each building. */
import { readdir, rm, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '#shared/node/files.ts'

/** Files and bytes that are kept of each building: two months at a run every three hours, of a building of thousands of points. */
const FILES_MAX = 500
const BYTES_MAX = 256 * 1024 * 1024

/** Other programs read these, whoever runs them; all else that a process keeps is its own. */
export const PUBLIC_FOLDER = 0o755
const PUBLIC_FILE = 0o644

type RunFile = { building_id: string; run_id: string; finished_at: number }
type RunFiles = {
  /** Writes a run's file, whole or not at all, and removes the oldest ones; one that is there stays as it is. */
  keep(run: RunFile, lines: () => Iterable<object>): Promise<void>
}

/**
 * @param dir made when it is not there
 * @param bounds for tests
 */
export function openRunFiles(dir: string, { files = FILES_MAX, bytes = BYTES_MAX } = {}): RunFiles {
  return {
    async keep(run, lines) {
      const folder = join(dir, `building_id=${encodeURIComponent(run.building_id)}`)
      const path = join(folder, nameOf(run))
      if (existsSync(path)) return
      await makeFolder(folder, PUBLIC_FOLDER)
      const text = Array.from(lines(), line => `${JSON.stringify(line)}\n`).join('')
      await prune(folder, files - 1, bytes - Buffer.byteLength(text))
      await replaceFile(path, text, PUBLIC_FILE)
    },
  }
}

/** Names sort as the runs ended. */
const nameOf = ({ run_id, finished_at }: RunFile) =>
  `${new Date(finished_at).toISOString().replace(/[-:.]/g, '')}-${encodeURIComponent(run_id)}.jsonl`

/** Leaves the newest files within the bounds, so that the next one has its place also on a disk that is nearly full. */
async function prune(folder: string, files: number, bytes: number): Promise<void> {
  const names = (await readdir(folder)).toSorted().toReversed()
  let [kept, held] = [0, 0]
  for (const name of names) {
    const path = join(folder, name)
    if (!name.endsWith('.jsonl')) {
      if (name.endsWith('.jsonl.tmp')) await rm(path, { force: true }) // left by a crash
      continue
    }
    held += (await stat(path)).size
    if (++kept > files || held > bytes) await rm(path, { force: true })
  }
}
