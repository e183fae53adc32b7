/** A disk of its own, and what another program writes on it. Where `canMountTmpfs()`. */
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

const MB = 2 ** 20
/** A page of memory, which is what such a disk gives away at a time. */
const PAGE = 4096

/** Mounts an empty disk of `size` bytes at `dir` until the test has ended. */
export function smallDisk(t: ExecutionContext, dir: string, size: number) {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'small', dir], { stdio: 'ignore' })
  t.teardown(() => execFileSync('umount', ['-l', dir]))
  const other = join(dir, 'of-another-program')
  const freeBytes = () => statfsSync(dir).bavail * statfsSync(dir).bsize
  return {
    dir,
    freeBytes,
    /** Takes every byte that is left. */
    fill() {
      const file = openSync(other, 'a')
      for (const bytes of [MB, PAGE]) while (writesWhole(file, bytes));
      closeSync(file)
    },
    free: () => rmSync(other),
  }
}

function writesWhole(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) === bytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
