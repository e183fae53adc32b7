import test from 'ava'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needWritable, whyEphemeral } from '#shared/node/durable-folder.ts'
import { openRunFiles, PUBLIC_FOLDER } from '#shared/node/rules/run-files.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const T = Date.UTC(2026, 2, 1)
const run = (n: number, building_id = 'b/1') => ({ building_id, run_id: `run-${n}`, finished_at: T + n * 1000 })
const folderOf = (dir: string) => join(dir, 'building_id=b%2F1')

test('each run has a file of lines in the folder of its building, in the order in which they ended', async t => {
  const dir = join(temporaryFolder(t), 'deep', 'results')
  const files = openRunFiles(dir)
  for (const n of [2, 1]) await files.keep(run(n), () => [{ type: 'run', n }, { type: 'result' }])
  await files.keep(run(3, 'c'), () => [])
  t.deepEqual(readdirSync(dir).toSorted(), ['building_id=b%2F1', 'building_id=c'])
  const names = readdirSync(folderOf(dir)).toSorted()
  t.deepEqual(names, ['20260301T000001000Z-run-1.jsonl', '20260301T000002000Z-run-2.jsonl'])
  t.is(readFileSync(join(folderOf(dir), names[0]!), 'utf8'), '{"type":"run","n":1}\n{"type":"result"}\n')
})

test('a file that is there stays as it is, and what a crash left of one goes', async t => {
  const dir = temporaryFolder(t)
  const files = openRunFiles(dir)
  await files.keep(run(1), () => [{ n: 1 }])
  writeFileSync(join(folderOf(dir), 'half.jsonl.tmp'), '{"n')
  writeFileSync(join(folderOf(dir), 'note.txt'), 'not ours')
  await files.keep(run(1), () => t.fail() as never)
  await files.keep(run(2), () => [{ n: 2 }])
  t.deepEqual(readdirSync(folderOf(dir)).length, 3)
  t.true(existsSync(join(folderOf(dir), 'note.txt')))
  t.false(existsSync(join(folderOf(dir), 'half.jsonl.tmp')))
})

test('the newest files are kept, within a number and a size', async t => {
  const dir = temporaryFolder(t)
  const few = openRunFiles(dir, { files: 3 })
  for (let n = 1; n <= 5; n++) await few.keep(run(n), () => [{ n }])
  const numbers = () =>
    readdirSync(folderOf(dir))
      .toSorted()
      .map(name => Number(/run-(\d+)/.exec(name)![1]))
  t.deepEqual(numbers(), [3, 4, 5])
  const small = openRunFiles(dir, { bytes: 25 })
  await small.keep(run(6), () => [{ n: 6 }])
  t.deepEqual(numbers(), [4, 5, 6], 'each has 8 bytes')
  await small.keep(run(7), () => [{ text: 'longer than all that is allowed' }])
  t.deepEqual(numbers(), [7], 'the newest is kept however long it is')
})

test('what is in a cache may be dropped, whatever way leads to it', async t => {
  const folder = temporaryFolder(t)
  const cache = join(folder, 'parquet')
  mkdirSync(cache)
  symlinkSync(cache, join(folder, 'link'))
  for (const [path, why] of [
    [cache, /^\S+ is in the cache \S+parquet$/],
    [join(cache, 'deep', 'results'), /is in the cache/],
    [join(folder, 'link', 'results'), /is in the cache/],
    [join(folder, 'parquet', '..', 'parquet', 'x'), /is in the cache/],
    [join(folder, '.cache', 'results'), /is in a cache \(\.cache\)/],
  ] as const) {
    t.regex((await whyEphemeral(path, [cache])) ?? '', why, path)
  }
  for (const path of [folder, join(folder, 'parquet2'), join(folder, '..parquet')]) {
    t.notRegex((await whyEphemeral(path, [cache])) ?? '', /cache/, 'the temporary folder of a machine may lie in memory')
  }
})

test('what is in memory is gone after a restart, also where the folder is still to be made', async t => {
  const shm = mkdtempSync('/dev/shm/plenum-')
  t.teardown(() => rmSync(shm, { recursive: true }))
  for (const path of [shm, join(shm, 'not', 'yet')]) {
    t.is(await whyEphemeral(path, []), `${path} is in memory (tmpfs), which a restart empties`)
  }
  const link = join(temporaryFolder(t), 'link')
  symlinkSync(shm, link)
  t.regex((await whyEphemeral(join(link, 'results'), [])) ?? '', /is in memory/)
  const folder = temporaryFolder(t)
  symlinkSync(join(shm, 'later'), join(folder, 'to'))
  symlinkSync('to', join(folder, 'over'))
  for (const path of [join(folder, 'over'), join(folder, 'over', 'results')]) {
    t.regex((await whyEphemeral(path, [])) ?? '', /is in memory/, 'a link to what is not there yet')
  }
  symlinkSync('ring', join(folder, 'ring'))
  t.notRegex((await whyEphemeral(join(folder, 'ring', 'results'), [])) ?? '', /cache/, 'a ring comes to an end')
})

test('a folder that cannot be written is named before anything is kept in it', async t => {
  const folder = temporaryFolder(t)
  await needWritable(join(folder, 'deep', 'results'), PUBLIC_FOLDER)
  t.true(existsSync(join(folder, 'deep', 'results')))
  writeFileSync(join(folder, 'file'), '')
  await t.throwsAsync(needWritable(join(folder, 'file'), PUBLIC_FOLDER), { message: `${join(folder, 'file')} is not a folder` })
})
