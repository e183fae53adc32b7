import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import type { WritableFile } from '#shared/node/segmented-log-write.ts'
import { everything, folder, opened } from './journal-harness.ts'
import { KILLED, readings, strange } from './journal-written.ts'
import { dice } from './lossy-disk.ts'

/** `PRIORITY_POWER_CUTS=2000 ava --timeout=30m test/priority/journal-lossy.test.ts` is the long run. */
const CUTS = Number(process.env['PRIORITY_POWER_CUTS'] ?? 60)
const MUTANT_CUTS = 60
const OPERATIONS_MAX = 60

type Disk = { dir: string; tell(told: { arm: number } | { crash: number }): Promise<void> }

/** @returns undefined where FUSE cannot be mounted: it needs root and /dev/fuse */
async function mounted(t: ExecutionContext): Promise<Disk | undefined> {
  if (process.getuid?.() !== 0 || !existsSync('/dev/fuse')) return undefined
  const dir = folder(t)
  mkdirSync(dir)
  const child: ChildProcess = fork(new URL('lossy-fuse.ts', import.meta.url), [dir])
  t.teardown(async () => {
    child.disconnect()
    await once(child, 'exit')
  })
  const [answer] = (await once(child, 'message')) as [string]
  if (answer !== 'mounted') return undefined
  return {
    dir,
    tell: async told => {
      child.send(told)
      await once(child, 'message')
    },
  }
}

/** Appends until the power goes, and again. @returns what was wrong after a cut, in words; undefined when nothing ever was, null when nothing was mounted */
async function violation(t: ExecutionContext, cuts: number, datasync?: () => Promise<void>): Promise<string | undefined | null> {
  const disk = await mounted(t)
  if (!disk) return null
  const openFile = async (path: string): Promise<WritableFile> => {
    const file = await open(path, existsSync(path) ? 'r+' : 'w+')
    return {
      write: file.write.bind(file) as WritableFile['write'],
      datasync: datasync ?? (() => file.datasync()),
      truncate: length => file.truncate(length),
      close: () => file.close(),
    }
  }
  const random = dice(cuts)
  const options = { dir: disk.dir, ...KILLED, openFile, retryMs: 60_000 }
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
    for (;;) {
      const size = 1 + Math.floor(random() * 9)
      const kept = await journal.append(readings(reported + 1, reported + size)).catch(() => undefined)
      if (!kept) break
      reported += size
    }
    await journal.close()
    await disk.tell({ crash: cut })
  }
  return undefined
}

test(`of ${CUTS} power cuts on a disk that keeps only what was fsynced, none costs a reported record or history`, async t => {
  const found = await violation(t, CUTS)
  if (found === null) t.log('FUSE cannot be mounted here, so no power was cut')
  t.falsy(found)
})

test('the same cuts find a journal that does not fsync', async t => {
  const found = await violation(t, MUTANT_CUTS, async () => undefined)
  t.true(found === null || typeof found === 'string')
})
