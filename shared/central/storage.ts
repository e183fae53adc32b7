/** How much each class of data takes on the disk, for the page System, the API, metrics and the file of diagnostics. */
import type { HistoryExtent } from '#shared/core/series/history-quota.ts'
import type { ClassUse, StorageClass } from '#shared/core/disk-use.ts'
import { folderSize } from '#shared/node/folder-size.ts'

/** Files and folders of a class. `max_bytes` is null where nothing but the disk bounds it. */
export type StoragePlace = { name: Exclude<StorageClass, 'history'>; paths: string[]; max_bytes: number | null }

/** JSON has no Infinity. */
export const boundOrNull = (max_bytes: number): number | null => (Number.isFinite(max_bytes) ? max_bytes : null)

/** Sizes are read one after the other: a slow disk has other work. History knows the size of its thousands of files itself. */
export async function readStorage(history: HistoryExtent, places: readonly StoragePlace[]): Promise<ClassUse[]> {
  const { bytes, max_bytes } = history
  const uses: ClassUse[] = [{ name: 'history', bytes, max_bytes: boundOrNull(max_bytes) }]
  for (const { name, paths, max_bytes } of places) {
    let bytes = 0
    for (const path of paths) bytes += await folderSize(path)
    uses.push({ name, bytes, max_bytes })
  }
  return uses
}
