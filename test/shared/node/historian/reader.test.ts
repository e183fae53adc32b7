import { readFileSync } from 'node:fs'
import test from 'ava'
import { toBuckets } from '#shared/core/series/buckets.ts'
import { MINUTE } from '#shared/core/time.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { until } from '../../../support/folders.ts'
import { MEMORY_MB, temporaryHistorian } from '../../../support/sites/workspace.ts'
import { isDuckLoaded, libraries, rounded } from './reading.ts'

const T = Date.UTC(2026, 0, 31, 22)

test('what is still hot is read without DuckDB, and what is sealed with it', async t => {
  const { historian, dbPath, root } = await temporaryHistorian(t)
  const samples = Array.from({ length: 20 }, (_, i) => ({ id: i % 2 ? 'p' : 'q', t: T + i * MINUTE, v: i }))
  await historian.append('b', samples)
  const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
  t.teardown(reader.close)
  const query = { building_id: 'b', point_ids: ['q', 'nothing', 'p'], from: T, to: T + 20 * MINUTE }
  const hot = await reader.read(query)
  t.deepEqual(
    hot.map(({ values }) => [...values]),
    [[0, 2, 4, 6, 8, 10, 12, 14, 16, 18], [], [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]],
  )
  t.true(libraries().length > 0, 'this machine says which libraries are loaded')
  t.false(isDuckLoaded())

  await historian.seal({ before: T + 10 * MINUTE })
  t.deepEqual(await reader.read({ ...query, from: T + 10 * MINUTE }), [
    { ts: hot[0]!.ts.slice(5), values: hot[0]!.values.slice(5) },
    hot[1]!,
    { ts: hot[2]!.ts.slice(5), values: hot[2]!.values.slice(5) },
  ])
  t.false(isDuckLoaded(), 'a file that has nothing of the span is not opened')
  t.deepEqual(await reader.read(query), hot)
  t.true(isDuckLoaded())
})

test('the process that has drawn a plot of today is ready for one of sealed files, one that has only read is not', async t => {
  const { historian } = await temporaryHistorian(t)
  await historian.append('b', [{ id: 'p', t: T, v: 1 }])
  const query = { building_id: 'b', point_ids: ['p'], from: T, to: T + MINUTE }
  const maps = () => readFileSync(`/proc/${historian.readerPid()}/maps`, 'utf8')
  for (let i = 0; i < 3; i++) await historian.read(query)
  t.false(maps().includes('duckdb'))
  await historian.buckets({ ...query, maxBuckets: 1 })
  await t.notThrowsAsync(until(() => maps().includes('duckdb'), 'DuckDB is loaded'))
})

test('buckets are those of the samples, across files, beside hot samples, and where a file corrects another', async t => {
  const { historian } = await temporaryHistorian(t)
  const N = 240 // Two hours on each side of a month's end, and with it two files.
  const samples = Array.from({ length: 2 * N }, (_, i) => ({
    ...{ id: i % 2 ? 'p' : 'q', t: T + (i >> 1) * MINUTE },
    v: i % 9 === 0 ? Number.NaN : (i * 37) % 64,
  }))
  const query = {
    building_id: 'b',
    point_ids: ['q', 'nothing', 'p'],
    from: T + 5 * MINUTE + 1,
    to: T + 231 * MINUTE,
    maxBuckets: 17,
  }
  const compare = async (message: string) => {
    const [buckets, series] = [await historian.buckets(query), await historian.read(query)]
    const expected = series.map(one => toBuckets(one, query.from, query.to, query.maxBuckets))
    t.deepEqual(buckets.map(rounded), expected.map(rounded), message)
    t.true(expected[0]!.count.every(count => count > 0) && expected[1]!.count.every(count => count === 0))
    return expected
  }
  await historian.append('b', samples)
  await historian.seal({ before: T + 200 * MINUTE })
  const first = await compare('two files and hot samples after them')
  await historian.append('b', [{ id: 'q', t: T + 60 * MINUTE, v: 1000 }])
  t.notDeepEqual((await compare('a hot sample within a file'))[0], first[0])
  await historian.seal({ before: T + N * MINUTE })
  await compare('a file with a sample within another')
})
