import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { everything, folder, opened } from '../../support/journal-harness.ts'
import { KILLED, readings, strange } from '../../support/journal-written.ts'
import { dice } from '../../support/disk/lossy-disk.ts'
import { type Fsync, mountHere } from '../../support/disk/lossy-fs.ts'
import { testWhere, timesOf } from '../../support/optional.ts'
import { canMountFuse } from '../../support/disk/mounts.ts'

const CUTS = timesOf(60, 2000)
const MUTANT_CUTS = 100
const OPERATIONS_MAX = 60

type Disk = { dir: string; tell(told: { arm: number } | { crash: number }): Promise<void> }

/** A disk within this process: it needs nothing of the machine. */
function within(dir: string, fsync?: (name: string) => Fsync): Disk {
  const disk = mountHere(dir, fsync)
  return { dir, tell: async told => ('arm' in told ? disk.arm(told.arm) : disk.crash(told.crash)) }
}

/** A disk that the kernel has mounted. */
async function mounted(t: ExecutionContext): Promise<Disk> {
  const dir = folder(t)
  mkdirSync(dir)
  const child: ChildProcess = fork(new URL('../../support/disk/lossy-fuse.ts', import.meta.url), [dir])
  t.teardown(async () => {
    child.disconnect()
    await once(child, 'exit')
  })
  const [answer] = (await once(child, 'message')) as [string]
  if (answer !== 'mounted') throw new Error('a disk of ours cannot be mounted, and others can')
  return {
    dir,
    tell: async told => {
      child.send(told)
      await once(child, 'message')
    },
  }
}

/** Appends until the power goes, and again. @returns what was wrong after a cut, in words; undefined when nothing ever was */
async function violation(t: ExecutionContext, disk: Disk, cuts: number): Promise<string | undefined> {
  const random = dice(cuts)
  const options = { dir: disk.dir, ...KILLED, retryMs: 60_000, headMs: 1 }
  let reported = 0
  for (let cut = 1; cut <= cuts; cut++) {
    const journal = await opened(t, options)
    const { journal: state, reason, first, last } = journal.state()
    const after = `after cut ${cut - 1}: `
    if (state === 'disabled') return `${after}${reason}`
    if (last < reported) return `${after}${last} kept of ${reported} reported`
    const records = everything(journal)
    const [wrong] = strange(records)
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
  `of ${CUTS} power cuts on a disk ${what} that keeps only what was fsynced, none costs a reported record or history`

test.serial(says('in this process'), async t => t.is(await violation(t, within('/a-lossy-disk'), CUTS), undefined))

// The same once more through the kernel, where it lets us.
testWhere(canMountFuse())(says('that the kernel mounts'), async t => t.is(await violation(t, await mounted(t), CUTS), undefined))

const random = dice(7)
test.serial(
  'an fsync that fails is not taken for one that worked: on a disk where one in ten does, nothing reported is lost',
  async t => {
    // A journal that cannot even be opened says so and tries again; here it is to be in use when the fsyncs fail.
    let inUse = false
    const disk = within('/a-disk-that-fails', () => (inUse && random() < 0.1 ? 'fails' : 'done'))
    const tell: Disk['tell'] = async told => {
      inUse = 'arm' in told
      await disk.tell(told)
    }
    t.is(await violation(t, { ...disk, tell }, CUTS), undefined)
  },
)

for (const [what, skips] of [
  ['does not fsync', () => true],
  ['leaves out every fifth fsync', () => random() < 0.2],
  ['does not fsync its segments', (name: string) => name.endsWith('.jsonl')],
  ['does not fsync head.json before it takes its place', (name: string) => name.startsWith('head')],
  ['does not fsync the folder', (name: string) => name === ''],
] as const) {
  test.serial(`the same cuts find a journal that ${what}`, async t => {
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
