import type { TestFn } from 'ava'
import type { SegmentedLog } from '#shared/core/ports.ts'

/** Takes a log up, also again after `release`, which gives it back. Segments hold about a kilobyte. */
type LogBench = {
  take(): Promise<SegmentedLog<Entry>>
  release(log: SegmentedLog<Entry>): Promise<void>
}
export type Entry = { text: string; n: number }

const entry = (n: number): Entry => ({ text: `entry ${n} "ü" \u2028\n {"n":1`, n })
const entries = (from: number, to: number): Entry[] => Array.from({ length: to - from + 1 }, (_, i) => entry(from + i))

/** What every segmented log does. Each adapter's test calls this once; `bench` makes a place of its own per call. */
export function logConformance(test: TestFn, name: string, bench: () => LogBench): void {
  test(`${name}: an empty log begins at 1 and holds nothing`, async t => {
    const log = await bench().take()
    t.deepEqual({ ...log.state(), bytes: 0 }, { first: 1, last: 0, bytes: 0 })
    t.deepEqual(log.read(1, 10), [])
    t.is(await log.append([]), 0)
  })

  test(`${name}: what was appended is read back in order, from any sequence, up to the limit`, async t => {
    const log = await bench().take()
    t.is(await log.append(entries(1, 3)), 3)
    t.is(await log.append(entries(4, 40)), 40)
    const all = entries(1, 40).map((record, i) => ({ seq: i + 1, record }))
    t.deepEqual(log.read(1, 100), all)
    t.deepEqual(log.read(0, 100), all)
    t.deepEqual(log.read(17, 9), all.slice(16, 25))
    t.deepEqual(log.read(40, 9), all.slice(39))
    t.deepEqual(log.read(41, 9), [])
  })

  test(`${name}: everything is there after it is taken up again, and sequences go on`, async t => {
    const place = bench()
    const log = await place.take()
    await log.append(entries(1, 30))
    await place.release(log)
    const again = await place.take()
    t.is(again.state().last, 30)
    t.is(await again.append([entry(31)]), 31)
    t.deepEqual(
      again.read(29, 10).map(({ seq, record }) => [seq, record.n]),
      [29, 30, 31].map(n => [n, n]),
    )
  })

  test(`${name}: appends that wait for each other keep their order and their own last sequence`, async t => {
    const log = await bench().take()
    const lasts = await Promise.all([
      log.append(entries(1, 2)),
      log.append([entry(3)]),
      log.append(entries(4, 9)),
      log.append([]),
    ])
    t.deepEqual(lasts.slice(0, 3), [2, 3, 9])
    t.deepEqual(
      log.read(1, 20).map(({ record }) => record.n),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  })

  test(`${name}: dropping takes whole segments from the front and never a record above the mark`, async t => {
    const place = bench()
    const log = await place.take()
    for (let n = 1; n <= 60; n++) await log.append([entry(n)])
    const before = log.state()
    log.dropThrough(30)
    const after = log.state()
    t.true(after.first > 1 && after.first <= 31 && after.bytes < before.bytes, JSON.stringify(after))
    t.is(log.read(31, 1)[0]?.record.n, 31)
    t.is(log.read(1, 1)[0]?.seq, after.first)
    await place.release(log)
    t.deepEqual((await place.take()).state(), after)
  })

  test(`${name}: sequences go on after everything has been dropped`, async t => {
    const place = bench()
    const log = await place.take()
    for (let n = 1; n <= 30; n++) await log.append([entry(n)])
    log.dropThrough(30)
    await place.release(log)
    const again = await place.take()
    t.is(await again.append([entry(31)]), 31)
    t.is(again.read(31, 5)[0]?.record.n, 31)
  })

  test(`${name}: what JSON cannot hold and what is too large is refused, and the log goes on`, async t => {
    const log = await bench().take()
    await t.throwsAsync(log.append([undefined as unknown as Entry]), { instanceOf: TypeError })
    await t.throwsAsync(log.append([{ text: 'x'.repeat(1024 * 1024), n: 0 }]), { instanceOf: RangeError })
    t.is(await log.append([entry(1)]), 1)
  })
}
