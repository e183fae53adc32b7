import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { everything, folder, opened } from '../../support/journal-harness.ts'
import { readings, strange } from '../../support/journal-written.ts'
import { mountHere } from '../../support/disk/lossy-fs.ts'
import { testWhere } from '../../support/optional.ts'
import { canMountTmpfs } from '../../support/disk/mounts.ts'

const SIZE = 256 * 1024
const VISIT = 5

/** A small disk. `take` leaves it a quarter less, `squeeze` takes a little more, and `free` gives all of it back. */
type SmallDisk = { dir: string; take(): void; squeeze(): void; free(): void }

/** A disk within this process: it needs nothing of the machine. */
function within(): SmallDisk {
  const dir = '/a-small-disk'
  const disk = mountHere(dir)
  let size = SIZE
  const be = (bytes: number) => disk.limit((size = bytes))
  be(SIZE)
  return { dir, take: () => be(SIZE * 0.75), squeeze: () => be(size - 4096), free: () => be(SIZE) }
}

function mounted(t: ExecutionContext): SmallDisk {
  const disk = folder(t)
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
        // A disk that has no room for it is full, which is what is wanted.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    free: () => rmSync(ballast),
  }
}

async function fillsAndFrees(t: ExecutionContext, disk: SmallDisk) {
  const options = { dir: disk.dir, segmentBytes: 40_000, retryMs: 20 }
  const journal = await opened(t, options)
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
    t.is(everything(journal).length, Math.min(last, 1000))
    disk.free()
    while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
  }
  t.true(last > 100)
  await journal.close()
  const again = await opened(t, options)
  t.deepEqual(again.state(), { journal: 'ok', first: Math.max(1, last - 999), last })
  t.deepEqual(strange(everything(again)), [])
}

const says = (what: string) =>
  `on a small disk ${what} that is full, history pauses and goes on when there is room; nothing that was reported is lost`

test(says('in this process'), t => fillsAndFrees(t, within()))

// The same once more through the kernel, where it lets us.
testWhere(canMountTmpfs())(says('that the kernel mounts'), t => fillsAndFrees(t, mounted(t)))

test('while there is less room than a visit takes, history stays paused, however often the disk is looked at', async t => {
  const dir = '/a-full-disk'
  const disk = mountHere(dir)
  let looks = 0
  const { room } = disk
  disk.room = () => (looks++, room())
  const journal = await opened(t, { dir, retryMs: 5 })
  await journal.append(readings(1, VISIT))
  disk.limit(SIZE)
  const used = SIZE - room()
  disk.limit(used + 500)
  await t.throwsAsync(journal.append(readings(VISIT + 1, 2 * VISIT)))
  while (looks < 5) {
    t.is(journal.state().journal, 'disabled')
    await new Promise(resolve => setTimeout(resolve, 2))
  }
  disk.limit(SIZE)
  while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 2))
  t.is((await journal.append(readings(VISIT + 1, 2 * VISIT))).length, VISIT)
})
