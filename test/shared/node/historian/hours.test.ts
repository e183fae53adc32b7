import test from 'ava'
import { inWholeHours, toBuckets, toHours } from '#shared/core/series/buckets.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { packHours, unpackHours } from '#shared/node/historian/hours.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { MEMORY_MB, temporaryHistorian } from '../../../support/sites/workspace.ts'
import { isDuckLoaded, rounded } from './reading.ts'

const T = Date.UTC(2026, 0, 31, 22)
const NAN = Number.NaN

test('a plot of months is of what is kept of each hour, and reads a file only where that does not say all', async t => {
  const { historian, db, dbPath, root } = await temporaryHistorian(t)
  const valueAt = (i: number) => (i % 50 === 0 ? NAN : ((i * 37) % 64) / 3)
  // Some hours hold two samples, some of a later file.
  const samples = Array.from({ length: 400 }, (_, i) => ({
    id: 'p',
    t: T - 20 * DAY + i * 3 * HOUR - (i % 3) * 80 * MINUTE,
    v: valueAt(i),
  }))
  await historian.append('b', samples)
  await historian.seal({ before: T - 5 * DAY + 100 * MINUTE })
  await historian.seal({ before: T + 20 * DAY })
  t.true(samples.at(-1)!.t > T + 20 * DAY, 'some samples are not sealed')
  const query = { building_id: 'b', point_ids: ['p', 'nothing'], from: T - 30 * DAY + 7, to: T + 40 * DAY + 11, maxBuckets: 300 }
  const { isHourly, ...hours } = inWholeHours(query)
  t.true(isHourly)
  t.deepEqual([hours.from % HOUR, query.from - hours.from < HOUR, hours.to >= query.to], [0, true, true])

  const reader = await openHistoryReader({ dbPath, root, memoryMb: MEMORY_MB })
  t.teardown(reader.close)
  const plot = async () => (await reader.buckets(query)).map(rounded)
  const expected = async () => {
    const series = await reader.read({ ...query, from: hours.from, to: hours.to })
    return series.map(one => rounded(toBuckets(one, hours.from, hours.to, hours.maxBuckets)))
  }
  const first = await plot()
  t.false(isDuckLoaded())
  t.deepEqual(first, await expected(), 'sealed and hot samples')
  t.true(isDuckLoaded())
  await historian.append('b', [{ id: 'p', t: samples[70]!.t, v: 1000 }])
  t.deepEqual(await plot(), await expected(), 'a hot sample within a file')
  t.notDeepEqual(await plot(), first)
  await historian.seal({ before: T + 20 * DAY })
  const corrected = await plot()
  t.deepEqual(corrected, await expected(), 'a file with a sample within another')
  t.notDeepEqual(corrected, first)
  t.is(db.prepare('DELETE FROM part_hours WHERE part = 3').run().changes, 1)
  t.deepEqual(await plot(), corrected, 'a file of an earlier version, without hours')
})

test('a span of days is cut as it was asked for, and so is one of many buckets', t => {
  const days = { from: T + 7, to: T + 29 * DAY, maxBuckets: 4 }
  t.deepEqual(inWholeHours(days), { ...days, isHourly: false })
  const fine = { from: T, to: T + 40 * DAY, maxBuckets: 1000 }
  t.deepEqual(inWholeHours(fine), { ...fine, isHourly: false })
})

test('hours come back as they were packed, an hour without a value too', t => {
  const hours = toHours({ ts: Float64Array.of(T + 1, T + MINUTE, T + 2 * HOUR), values: Float64Array.of(1e300, NAN, -0.1) })
  t.deepEqual([hours.from, [...hours.count], [...hours.last]], [T, [1, 0, 1], [1e300, NAN, -0.1]])
  t.deepEqual(unpackHours(packHours(hours)), hours)
})
