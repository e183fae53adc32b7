/** The data of a box that is switched off, or of a copy of its disk, for whoever looks at it or fills it from outside. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PARTITION, partitionOf } from './partitions.ts'

/**
 * Mounts the data, which brings the file system into order as a start does, and unmounts it.
 *
 * @param folder in which it is mounted
 * @param work gets the folder, which on the box is `/var`
 */
export async function withData<T>(disk: string, folder: string, work: (data: string) => T | Promise<T>): Promise<T> {
  const { start, bytes } = partitionOf(disk, PARTITION.data)
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  execFileSync('mount', ['-o', `loop,offset=${start},sizelimit=${bytes}`, disk, data])
  try {
    return await work(data)
  } finally {
    execFileSync('umount', [data])
  }
}
