import test from 'ava'
import { buildingExtents, extentOf, type HistoryMonth, nextQuotaStep } from '#shared/core/series/history-quota.ts'

const month = (building_id: string, name: string, bytes: number, isThinned = false, hasThinned = isThinned): HistoryMonth => ({
  ...{ building_id, month: name, bytes, isThinned, hasThinned },
})
const stepOf = (months: HistoryMonth[], newest: string, max_bytes: number, building_max_bytes = Infinity) =>
  nextQuotaStep(months, newest, { max_bytes, building_max_bytes })

test('history that fits stays as it is', t => {
  t.is(stepOf([month('a', '2020-01', 50), month('b', '2026-11', 50)], '2026-11', 100), undefined)
  t.is(stepOf([], '2026-11', 0), undefined)
})

test('the oldest month is thinned first, of several the largest, and dropped only when no month can be thinned any more', t => {
  const months = [
    month('a', '2025-12', 10),
    month('b', '2025-12', 20),
    month('a', '2026-02', 10),
    month('a', '2025-11', 3, true),
    month('a', '2026-10', 40),
    month('a', '2026-11', 40),
  ]
  const done: string[] = []
  for (;;) {
    const step = stepOf(months, '2026-11', 30)
    if (!step) break
    done.push(`${step.what} ${step.building_id} ${step.month}`)
    const at = months.findIndex(one => one.building_id === step.building_id && one.month === step.month)
    if (step.what === 'drop') months.splice(at, 1)
    else months[at] = { ...months[at]!, bytes: months[at]!.bytes / 4, isThinned: true }
  }
  t.deepEqual(done, [
    'thin b 2025-12',
    'thin a 2025-12',
    'thin a 2026-02',
    'drop a 2025-11',
    'drop a 2025-12',
    'drop a 2026-02',
    'drop b 2025-12',
  ])
  t.deepEqual(
    months.map(({ month: name }) => name),
    ['2026-10', '2026-11'],
    'the month before and the present one stay, whatever they take',
  )
})

test('a building above its share gives up its own months first, and nothing is dropped before all old months are thinned', t => {
  const months = [
    month('small', '2020-01', 10),
    month('large', '2025-01', 60),
    month('large', '2025-02', 15, true),
    month('large', '2026-11', 45),
  ]
  t.deepEqual(stepOf(months, '2026-11', 120), { what: 'thin', building_id: 'large', month: '2025-01' })
  const thinned = months.map(one => (one.month === '2025-01' ? { ...one, isThinned: true } : one))
  t.deepEqual(stepOf(thinned, '2026-11', 120), { what: 'thin', building_id: 'small', month: '2020-01' })
  const all = thinned.map(one => (one.building_id === 'small' ? { ...one, isThinned: true } : one))
  t.deepEqual(stepOf(all, '2026-11', 120), { what: 'drop', building_id: 'large', month: '2025-01' })
  const newest = [month('small', '2020-01', 10, true), month('large', '2026-11', 145)]
  t.deepEqual(stepOf(newest, '2026-11', 120), { what: 'drop', building_id: 'small', month: '2020-01' })
})

test('a building above its own bound gives up its own months, also where all of history has room, and no other building does', t => {
  const months = [
    month('large', '2026-06', 30),
    month('large', '2026-11', 40),
    month('old', '2020-01', 20, true),
    month('old', '2020-02', 20),
    month('young', '2026-11', 90),
  ]
  const next = (list: HistoryMonth[]) => stepOf(list, '2026-11', 1000, 45)
  t.deepEqual(next(months), { what: 'thin', building_id: 'large', month: '2026-06' })
  const thinned = months.with(0, month('large', '2026-06', 8, true))
  t.deepEqual(next(thinned), { what: 'drop', building_id: 'large', month: '2026-06' })
  t.is(next(thinned.slice(1)), undefined, 'the newest months stay, whatever they take')
  t.deepEqual(stepOf(thinned.slice(1), '2026-11', 100, 45), { what: 'thin', building_id: 'old', month: '2020-02' })
})

test('months are counted across the end of a year, and a month ahead stays', t => {
  const months = [month('a', '2026-12', 9), month('a', '2026-11', 9), month('a', '2027-03', 9)]
  t.deepEqual(stepOf(months, '2027-01', 1), { what: 'thin', building_id: 'a', month: '2026-11' })
})

test('the extent says what is kept since when', t => {
  const months = [
    month('a', '2025-11', 3, true),
    month('a', '2025-12', 3, true),
    month('a', '2026-01', 5),
    month('b', '2026-02', 5),
  ]
  t.deepEqual(extentOf(months, 99), { bytes: 16, max_bytes: 99, whole_from: '2026-01', thinned_from: '2025-11' })
  t.deepEqual(buildingExtents(months, 9), [
    { building_id: 'a', bytes: 11, max_bytes: 9, whole_from: '2026-01', thinned_from: '2025-11' },
    { building_id: 'b', bytes: 5, max_bytes: 9, whole_from: '2026-02', thinned_from: null },
  ])
  t.deepEqual(extentOf([], 99), { bytes: 0, max_bytes: 99, whole_from: null, thinned_from: null })
})

test('no month counts as whole that another one behind it, or a part of it, contradicts', t => {
  const late = [month('a', '2025-11', 3, false, true), month('a', '2025-12', 3, true), month('a', '2026-01', 5)]
  t.like(extentOf(late, 99), { whole_from: '2026-01', thinned_from: '2025-11' })
  const two = [month('a', '2024-01', 3), month('b', '2025-12', 3, true), month('b', '2026-01', 5)]
  t.like(extentOf(two, 99), { whole_from: '2026-01', thinned_from: '2024-01' }, 'of both buildings')
  t.like(extentOf([month('a', '2025-12', 3, true)], 99), { whole_from: null, thinned_from: '2025-12' })
})
