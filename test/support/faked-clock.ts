/** The clock of a machine as its processes see it, OpenSSL among them, by Debian's libfaketime; other processes keep theirs. */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY, SECOND } from '#shared/core/time.ts'

const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')

/** @param file holds by how much the clock is wrong; it is created */
export function openClock(file: string) {
  const set = (offsetMs: number) =>
    writeFileSync(file, `${offsetMs < 0 ? '-' : '+'}${Math.abs(Math.round(offsetMs / SECOND))}s\n`)
  set(0)
  return {
    /** Environment of the processes of this machine. Each looks at its clock's file again after a second. */
    env: {
      LD_PRELOAD: LIBRARY!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
      NO_FAKE_STAT: '1',
    },
    set,
  }
}

/** Finds out by trying whether processes can be given another clock. */
export function canFakeClock(): boolean {
  if (LIBRARY === undefined) return false
  const dir = mkdtempSync(join(tmpdir(), 'plenum-clock-'))
  try {
    const clock = openClock(join(dir, 'clock'))
    clock.set(-100 * DAY)
    const seen = Number(execFileSync(process.execPath, ['-p', 'Date.now()'], { env: clock.env, encoding: 'utf8' }))
    return Math.abs(Date.now() - 100 * DAY - seen) < DAY
  } catch {
    return false
  } finally {
    rmSync(dir, { recursive: true })
  }
}
