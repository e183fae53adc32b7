import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { SMALL_JOURNAL, readings, deviations } from '../../support/journal-written.ts'
import { dice } from '../../support/disk/lossy-disk.ts'
import { type Fsync, mountHere } from '../../support/disk/lossy-fs.ts'
import { testWhere, timesOf } from '../../support/optional.ts'
import { canMountFuse } from '../../support/disk/mounts.ts'

const CUTS = timesOf(60, 2000)
const MUTANT_CUTS = 100
const OPERATIONS_MAX = 60

type Disk = { dir: string; tell(told: { arm: number } | { crash: number }): Promise<void> }

/** A disk simulated within this process. It needs no privilege. */
function within(dir: string, fsync?: (name: string) => Fsync): Disk {
  const disk = mountHere(dir, fsync)
  return { dir, tell: async told => ('arm' in told ? disk.arm(told.arm) : disk.crash(told.crash)) }
}

/** A disk that the kernel has mounted. */
async function mounted(t: ExecutionContext): Promise<Disk> {
  const dir = journalFolder(t)
  mkdirSync(dir)
  const child: ChildProcess = fork(new URL('../../support/disk/lossy-fuse.ts', import.meta.url), [dir])
  t.teardown(async () => {
    child.disconnect()
    await once(child, 'exit')
  })
  const [answer] = (await once(child, 'message')) as [string]
  if (answer !== 'mounted') throw new Error('the lossy disk cannot be mounted')
  return {
    dir,
    tell: async told => {
      child.send(told)
      await once(child, 'message')
    },
  }
}

/** Appends until the power is cut, repeatedly. @returns what was wrong after a cut; undefined when nothing was */
async function violation(t: ExecutionContext, disk: Disk, cuts: number): Promise<string | undefined> {
  const random = dice(cuts)
  const options = { dir: disk.dir, ...SMALL_JOURNAL, retryMs: 60_000, headMs: 1 }
  let reported = 0
  for (let cut = 1; cut <= cuts; cut++) {
    const journal = await openJournal(t, options)
    const { journal: state, reason, first, last } = journal.state()
    const after = `after cut ${cut - 1}: `
    if (state === 'disabled') return `${after}${reason}`
    if (last < reported) return `${after}${last} stored of ${reported} acknowledged`
    const records = allRecords(journal)
    const [wrong] = deviations(records)
    if (wrong !== undefined || records.length !== last - first + 1) return `${after}${wrong ?? 'records are missing'}`
    await disk.tell({ arm: 1 + Math.floor(random() * OPERATIONS_MAX) })
    reported = last
    for (let refused = 0; refused < 3; ) {
      const size = 1 + Math.floor(random() * 9)
      const kept = await journal.append(readings(reported + 1, reported + size)).catch(() => undefined)
      if (kept) reported += size
      else refused++
    }
    await journal.close()
    await disk.tell({ crash: cut })
  }
  return undefined
}

const says = (what: string) =>
  `no acknowledged record is lost by ${CUTS} power cuts on a disk ${what} that keeps only fsynced bytes`

test.serial(says('in this process'), async t => t.is(await violation(t, within('/a-lossy-disk'), CUTS), undefined))

// The same through the kernel, where it allows the mount.
testWhere(canMountFuse())(says('that the kernel mounts'), async t => t.is(await violation(t, await mounted(t), CUTS), undefined))

const random = dice(7)
test.serial('no acknowledged record is lost by power cuts on a disk where one fsync in ten fails', async t => {
  // The fsyncs fail only while the journal is in use, because one that cannot be opened is disabled.
  let inUse = false
  const disk = within('/a-disk-that-fails', () => (inUse && random() < 0.1 ? 'fails' : 'done'))
  const tell: Disk['tell'] = async told => {
    inUse = 'arm' in told
    await disk.tell(told)
  }
  t.is(await violation(t, { ...disk, tell }, CUTS), undefined)
})

for (const [what, skips] of [
  ['does not fsync', () => true],
  ['skips every fifth fsync', () => random() < 0.2],
  ['does not fsync its segments', (name: string) => name.endsWith('.jsonl')],
  ['does not fsync head.json before it takes its place', (name: string) => name.startsWith('head')],
  ['does not fsync the folder', (name: string) => name === ''],
] as const) {
  test.serial(`the same power cuts detect a journal that ${what}`, async t => {
    t.is(
      typeof (await violation(
        t,
        within(`/a lossy disk that ${what}`.replaceAll(' ', '-'), name => (skips(name) ? 'skipped' : 'done')),
        MUTANT_CUTS,
      )),
      'string',
    )
  })
}
