/** Finds out by trying whether this machine allows tests to mount disks. Tests without a mount run everywhere. */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function canMountTmpfs(): boolean {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-mount-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4096', 'probe', dir], { stdio: 'ignore' })
    execFileSync('umount', ['-l', dir], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    rmdirSync(dir)
  }
}

export function canMountFuse(): boolean {
  try {
    closeSync(openSync('/dev/fuse', 'r+'))
  } catch {
    return false
  }
  return canMountTmpfs()
}
