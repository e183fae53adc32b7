import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test from 'ava'
import { type FileLog, type LogOptions, openSegmentedLog } from '#appliance/store/log/segmented-log.ts'
import { folder } from '../../../support/folders.ts'
import { type Entry, logConformance } from '../../../conformance/log.ts'

const made: string[] = []
const logs: FileLog<never>[] = []
test.after.always(async () => {
  for (const log of logs) await log.close()
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

async function opened<T>(dir: string, options: LogOptions = {}): Promise<FileLog<T>> {
  const opening = await openSegmentedLog<T>(dir, options)
  if (opening.state === 'corrupt') throw new Error(opening.reason)
  logs.push(opening.log as FileLog<never>)
  return opening.log
}

/** Twelve records in four segments. @returns the segments' names, oldest first */
async function fill(dir: string): Promise<string[]> {
  const log = await opened<string>(dir, { segmentBytes: 220 })
  for (let n = 1; n <= 12; n++) await log.append([`record ${n}`])
  await log.close()
  return readdirSync(dir).toSorted()
}
const refuse = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))

logConformance(test, 'segmented files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'plenum-log-'))
  made.push(dir)
  return {
    take: () => opened<Entry>(dir, { segmentBytes: 1024 }),
    release: log => (log as FileLog<Entry>).close(),
  }
})

test('a torn end is cut once, copied to a file and reported, and the sequence continues before it', async t => {
  const dir = folder(t)
  const log = await opened<string>(dir)
  await log.append(['one', 'two'])
  await log.close()
  const [name] = readdirSync(dir)
  const whole = readFileSync(join(dir, name!))
  writeFileSync(join(dir, name!), Buffer.concat([whole, Buffer.from('{"n":3,"g":2')]))

  const opening = await openSegmentedLog<string>(dir)
  if (opening.state !== 'open') return t.fail(opening.reason)
  const aside = `${name}.${whole.length}.cut`
  t.deepEqual(opening.cut, { file: name!, offset: whole.length, bytes: 12, reason: 'the last line ends early', aside })
  t.is(readFileSync(join(dir, aside), 'utf8'), '{"n":3,"g":2')
  t.is(await opening.log.append(['three']), 3)
  await opening.log.close()

  const again = await openSegmentedLog<string>(dir)
  if (again.state !== 'open') return t.fail(again.reason)
  t.is(again.cut, undefined)
  await again.log.close()
})

test('at most twenty cut ends are kept in files', async t => {
  const dir = folder(t)
  for (let n = 1; n <= 25; n++) {
    const log = await opened<number>(dir)
    await log.append([n])
    await log.close()
    const name = readdirSync(dir).find(file => file.endsWith('.jsonl'))!
    writeFileSync(join(dir, name), '{"n', { flag: 'a' })
  }
  t.is((await opened<number>(dir)).state().last, 25)
  t.is(readdirSync(dir).filter(file => file.endsWith('.cut')).length, 20)
})

test('a missing or renamed segment and damage in a closed one are corruption, and nothing is changed', async t => {
  const missing = folder(t)
  const names = await fill(missing)
  t.is(names.length, 4)
  rmSync(join(missing, names[1]!))
  const renamed = folder(t)
  await fill(renamed)
  writeFileSync(join(renamed, names[2]!), readFileSync(join(renamed, names[1]!)))
  const damaged = folder(t)
  await fill(damaged)
  const bytes = readFileSync(join(damaged, names[1]!))
  writeFileSync(join(damaged, names[1]!), bytes.subarray(0, -4))

  for (const [dir, file, reason] of [
    [missing, names[2], /missing/],
    [renamed, names[2], /stands where/],
    [damaged, names[1], /others follow/],
  ] as const) {
    const before = readdirSync(dir).map(name => readFileSync(join(dir, name), 'latin1'))
    const opening = await openSegmentedLog(dir)
    if (opening.state !== 'corrupt') return t.fail(`${reason} was not detected`)
    t.is(opening.file, file!)
    t.regex(opening.reason, reason)
    t.deepEqual(
      readdirSync(dir).map(name => readFileSync(join(dir, name), 'latin1')),
      before,
    )
  }
})

test('damage that occurs while the log is open is detected when the record is read', async t => {
  const dir = folder(t)
  const log = await opened<string>(dir)
  await log.append(['abc', 'def'])
  const path = join(dir, readdirSync(dir)[0]!)
  writeFileSync(path, readFileSync(path, 'utf8').replace('def', 'dif'))
  t.deepEqual(log.read(1, 1), [{ seq: 1, record: 'abc' }])
  t.throws(() => log.read(1, 2), { message: /record 2 .* does not verify any more/ })
})

for (const [what, fails] of [
  ['a write', { write: 'ENOSPC' }],
  ['a write that the disk takes in part', { short: true }],
  ['an fsync', { datasync: 'EIO' }],
] as const) {
  test(`${what} that fails refuses the append, and the log verifies itself before it goes on`, async t => {
    const dir = folder(t)
    let failing = false
    const openFile: LogOptions['openFile'] = async path => {
      const file = await open(path, 'a').then(async touched => (await touched.close(), open(path, 'r+')))
      return {
        write: (async (bytes: Buffer, offset: number, length: number, at: number) => {
          if (failing && 'write' in fails) return refuse(fails.write)
          return file.write(bytes, offset, failing && 'short' in fails ? length - 5 : length, at)
        }) as typeof file.write,
        datasync: () => (failing && 'datasync' in fails ? refuse(fails.datasync) : file.datasync()),
        truncate: length => file.truncate(length),
        close: () => file.close(),
      }
    }
    const log = await opened<string>(dir, { segmentBytes: 300, openFile })
    for (let n = 1; n <= 5; n++) await log.append([`record ${n}`])
    failing = true
    await t.throwsAsync(log.append(['refused 1', 'refused 2']))
    await t.throwsAsync(log.append(['refused 3']))
    t.is(log.state().last, 5)
    failing = false
    t.is(await log.append(['record 6']), 6)
    await log.close()
    const again = await opened<string>(dir)
    t.deepEqual(
      again.read(1, 10).map(({ record }) => record),
      [1, 2, 3, 4, 5, 6].map(n => `record ${n}`),
    )
  })
}

test('no acknowledged record is lost by SIGKILL at any moment', async t => {
  const dir = folder(t)
  let reported = 0
  for (let round = 0; round < 6; round++) {
    const child = spawn(process.execPath, [new URL('log-writer.ts', import.meta.url).pathname, dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const wanted = reported + 40 + round * 37
    for await (const line of createInterface({ input: child.stdout })) {
      reported = Number(line)
      if (reported >= wanted) child.kill('SIGKILL')
    }
    const log = await opened<{ n: number }>(dir, { segmentBytes: 4096 })
    const { first, last } = log.state()
    t.true(last >= reported, `${last} stored of ${reported} acknowledged`)
    t.deepEqual(
      log.read(first, 1e6).map(({ record }) => record.n),
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    )
    t.true(first <= Math.max(1, last - 100), 'only dropped records are gone')
    await log.close()
    reported = last
  }
})
