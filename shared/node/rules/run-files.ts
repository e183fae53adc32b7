/** Results of runs as files for other programs: JSON lines, one file for each run, in a folder for each building. */
import { readdir, rm, stat } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '#shared/node/files.ts'

/**
 * Maximum number and total size of the files of each building: two months at a run every three hours, for a building with
 * thousands of points.
 */
const FILES_MAX = 500
const BYTES_MAX = 256 * 1024 * 1024

/** Permissions for other programs, under any user; all other files of a process are private. */
export const PUBLIC_FOLDER = 0o755
const PUBLIC_FILE = 0o644

type RunFile = { building_id: string; run_id: string; finished_at: number }
type RunFiles = {
  /** Writes the file of a run atomically and removes the oldest files. An existing file stays as it is. */
  keep(run: RunFile, lines: () => Iterable<object>): Promise<void>
}

/**
 * @param dir created if it is missing
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

/** Names sort in the order in which the runs ended. */
const nameOf = ({ run_id, finished_at }: RunFile) =>
  `${new Date(finished_at).toISOString().replace(/[-:.]/g, '')}-${encodeURIComponent(run_id)}.jsonl`

/** Removes the oldest files beyond the bounds, with space for the next one, also on a disk that is nearly full. */
async function prune(folder: string, files: number, bytes: number): Promise<void> {
  const names = (await readdir(folder)).toSorted().toReversed()
  let [kept, held] = [0, 0]
  for (const name of names) {
    const path = join(folder, name)
    if (!name.endsWith('.jsonl')) {
      if (name.endsWith('.jsonl.tmp')) await rm(path, { force: true }) // A crash has left it.
      continue
    }
    held += (await stat(path)).size
    if (++kept > files || held > bytes) await rm(path, { force: true })
  }
}
