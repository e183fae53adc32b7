/** Partitions on the disk of a box. */
import { execFileSync } from 'node:child_process'

/** Numbers of partitions, as `image/build/disk.ts` lays them out. */
export const PARTITION = { esp: 1, kernelA: 2, kernelB: 3, rootA: 4, rootB: 5, data: 6 } as const
const SECTOR = 512

/** @returns where a partition begins on the disk, and how long it is, bytes */
export function partitionOf(disk: string, number: number): { start: number; bytes: number } {
  const report = execFileSync('sgdisk', [`--info=${number}`, disk], { encoding: 'utf8' })
  const [, first, last] = /First sector: (\d+)[^]*Last sector: (\d+)/.exec(report)!.map(Number)
  return { start: first! * SECTOR, bytes: (last! - first! + 1) * SECTOR }
}
