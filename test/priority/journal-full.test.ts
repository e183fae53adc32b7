import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { everything, folder, opened } from './journal-harness.ts'
import { readings, strange } from './journal-written.ts'

const SIZE = 512 * 1024
const VISIT = 5

/** A disk that has no room for it is full, which is what is wanted. */
function grow(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(4096), { flag: 'a' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

test('on a small disk that is full, history pauses and goes on when there is room; nothing that was reported is lost', async t => {
  const disk = folder(t)
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'small', disk], { stdio: 'ignore' })
  } catch {
    t.log('nothing can be mounted here; the journal is tried on a disk that says ENOSPC')
    t.pass()
    return
  }
  t.teardown(() => execFileSync('umount', ['-l', disk]))
  const ballast = join(disk, 'ballast')
  const options = { dir: join(disk, 'journal'), segmentBytes: 40_000, retryMs: 20 }
  const journal = await opened(t, options)
  let last = 0
  for (let round = 1; round <= 10; round++) {
    writeFileSync(ballast, Buffer.alloc(SIZE / 4))
    for (;;) {
      const kept = await journal.append(readings(last + 1, last + VISIT)).catch((error: NodeJS.ErrnoException) => error)
      if (Array.isArray(kept)) last += VISIT
      else break
      if (round > 1) grow(ballast)
    }
    t.like(journal.state(), { journal: 'disabled', last })
    t.regex(journal.state().reason!, /ENOSPC|bytes could be written/)
    t.is(everything(journal).length, Math.min(last, 1000))
    rmSync(ballast)
    while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
  }
  await journal.close()
  const again = await opened(t, options)
  t.deepEqual(again.state(), { journal: 'ok', first: Math.max(1, last - 999), last })
  t.deepEqual(strange(everything(again)), [])
})
