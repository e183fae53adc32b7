import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { readings, deviations } from '../../support/journal-written.ts'
import { mountHere } from '../../support/disk/lossy-fs.ts'
import { testWhere } from '../../support/optional.ts'
import { canMountTmpfs } from '../../support/disk/mounts.ts'

const SIZE = 256 * 1024
const VISIT = 5

/** A small disk. `take` removes a quarter of it, `squeeze` a little more, and `free` restores it. */
type SmallDisk = { dir: string; take(): void; squeeze(): void; free(): void }

/** A disk simulated within this process. It needs no privilege. */
function within(): SmallDisk {
  const dir = '/a-small-disk'
  const disk = mountHere(dir)
  let size = SIZE
  const be = (bytes: number) => disk.limit((size = bytes))
  be(SIZE)
  return { dir, take: () => be(SIZE * 0.75), squeeze: () => be(size - 4096), free: () => be(SIZE) }
}

function mounted(t: ExecutionContext): SmallDisk {
  const disk = journalFolder(t)
  mkdirSync(disk)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'small', disk], { stdio: 'ignore' })
  t.teardown(() => execFileSync('umount', ['-l', disk]))
  const ballast = join(disk, 'ballast')
  return {
    dir: join(disk, 'journal'),
    take: () => writeFileSync(ballast, Buffer.alloc(SIZE / 4)),
    squeeze() {
      try {
        writeFileSync(ballast, Buffer.alloc(4096), { flag: 'a' })
      } catch (error) {
        // The disk is full already.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    free: () => rmSync(ballast),
  }
}

async function fillsAndFrees(t: ExecutionContext, disk: SmallDisk) {
  const options = { dir: disk.dir, segmentBytes: 40_000, retryMs: 20 }
  const journal = await openJournal(t, options)
  let last = 0
  for (let round = 1; round <= 10; round++) {
    disk.take()
    for (;;) {
      const kept = await journal.append(readings(last + 1, last + VISIT)).catch((error: NodeJS.ErrnoException) => error)
      if (Array.isArray(kept)) last += VISIT
      else break
      if (round > 1) disk.squeeze()
    }
    t.like(journal.state(), { journal: 'disabled', last })
    t.regex(journal.state().reason!, /ENOSPC|bytes could be written/)
    t.is(allRecords(journal).length, Math.min(last, 1000))
    disk.free()
    while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
  }
  t.true(last > 100)
  await journal.close()
  const again = await openJournal(t, options)
  t.deepEqual(again.state(), { journal: 'ok', first: Math.max(1, last - 999), last })
  t.deepEqual(deviations(allRecords(again)), [])
}

const says = (what: string) => `on a full disk ${what} the history pauses until there is room, and no acknowledged record is lost`

test(says('in this process'), t => fillsAndFrees(t, within()))

// The same once more through the kernel, where it lets us.
testWhere(canMountTmpfs())(says('that the kernel mounts'), t => fillsAndFrees(t, mounted(t)))

test('the history stays paused while there is less room than a visit takes', async t => {
  const dir = '/a-full-disk'
  const disk = mountHere(dir)
  let checks = 0
  const { room } = disk
  disk.room = () => (checks++, room())
  const journal = await openJournal(t, { dir, retryMs: 5 })
  await journal.append(readings(1, VISIT))
  disk.limit(SIZE)
  const used = SIZE - room()
  disk.limit(used + 500)
  await t.throwsAsync(journal.append(readings(VISIT + 1, 2 * VISIT)))
  while (checks < 5) {
    t.is(journal.state().journal, 'disabled')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  disk.limit(SIZE)
  while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 2))
  t.is((await journal.append(readings(VISIT + 1, 2 * VISIT))).length, VISIT)
})
