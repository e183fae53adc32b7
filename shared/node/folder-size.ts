import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './files.ts'

/**
 * The size of a file, or of all files below a folder, bytes. Links are not followed.
 *
 * @returns 0 for what is not there, also when it goes away meanwhile
 */
export async function folderSize(path: string): Promise<number> {
  const stat = await unlessMissing(lstat(path))
  if (!stat?.isDirectory()) return stat?.isFile() ? stat.size : 0
  const names = (await unlessMissing(readdir(path))) ?? []
  let bytes = 0
  for (const name of names) bytes += await folderSize(join(path, name))
  return bytes
}
