/** The data of a box that is switched off, or of a copy of its disk, for whoever looks at it or fills it from outside. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const DATA = 6
const SECTOR = 512

/**
 * Mounts the data, which brings the file system into order as a start does, and unmounts it.
 *
 * @param folder in which it is mounted
 * @param work gets the folder, which on the box is `/var`
 */
export async function withData<T>(disk: string, folder: string, work: (data: string) => T | Promise<T>): Promise<T> {
  const report = execFileSync('sgdisk', [`--info=${DATA}`, disk], { encoding: 'utf8' })
  const [, first, last] = /First sector: (\d+)[^]*Last sector: (\d+)/.exec(report)!.map(Number)
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  const place = `loop,offset=${first! * SECTOR},sizelimit=${(last! - first! + 1) * SECTOR}`
  execFileSync('mount', ['-o', place, disk, data])
  try {
    return await work(data)
  } finally {
    execFileSync('umount', [data])
  }
}
