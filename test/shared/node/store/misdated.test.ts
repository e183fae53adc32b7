import test, { type ExecutionContext } from 'ava'
import type { Clock } from '#shared/core/ports.ts'
import type { MisdatedReading } from '#shared/core/stores.ts'
import { MINUTE } from '#shared/core/time.ts'
import { misdatedStore } from '#shared/node/store/misdated.ts'
import { historianSink } from '#appliance/sinks/historian-sink.ts'
import { temporaryDatabase, temporaryHistorian } from '../../../support/sites/workspace.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const row = (n: number, change: Partial<MisdatedReading> = {}): MisdatedReading => ({
  building_id: 'b',
  point_id: 'p',
  edge_id: 'e1',
  observed_at: n,
  arrived_at: NOON + n,
  value: n,
  quality: 'good',
  ...change,
})

test('a misdated reading is kept once, also one without a value, and listed newest first', t => {
  const store = misdatedStore(temporaryDatabase(t))
  t.is(store.keep([row(1), row(2, { value: null, quality: 'bad' }), row(3, { point_id: 'q', edge_id: null })]), 3)
  t.is(store.keep([row(1, { arrived_at: NOON + 99 }), row(2, { value: null, quality: 'bad' }), row(1, { value: 7 })]), 1)
  const values = (query: object) =>
    store
      .list({ building_id: 'b', limit: 10, ...query })
      .map(({ point_id, observed_at, value }) => [point_id, observed_at, value])
  t.deepEqual(values({}), [
    ['p', 1, 7],
    ['q', 3, 3],
    ['p', 2, null],
    ['p', 1, 1],
  ])
  const [newest] = store.list({ building_id: 'b', limit: 1 })
  t.deepEqual(values({ before: newest!.entry, limit: 2 }), [
    ['q', 3, 3],
    ['p', 2, null],
  ])
  t.deepEqual(values({ point_id: 'q' }), [['q', 3, 3]])
  t.deepEqual(store.list({ building_id: 'other', limit: 10 }), [])
  t.deepEqual(store.summary(), { count: 4, newest_at: NOON + 1, dropped: 0 })
})

test('beyond the bound the oldest of the building that has most go, and nothing of the others', t => {
  const store = misdatedStore(temporaryDatabase(t), 5000)
  store.keep(Array.from({ length: 10 }, (_, n) => row(n, { building_id: 'quiet' })))
  for (let n = 0; n < 20; n++) store.keep(Array.from({ length: 500 }, (_, i) => row(n * 500 + i)))
  const { count, dropped } = store.summary()
  t.true(count <= 5000, `${count} rows`)
  t.is(count + dropped, 10_010)
  t.is(store.list({ building_id: 'quiet', limit: 100 }).length, 10)
  t.is(store.list({ building_id: 'b', limit: 1 })[0]!.observed_at, 9999)
})

const WITHOUT_CLOCK = { 'without an instant': 30_000, 'ten years behind its version': Date.UTC(2016, 5, 1) }
for (const [clockIs, begun] of Object.entries(WITHOUT_CLOCK))
  test(
    `what a box reads with a clock ${clockIs} is kept apart, and what it read before the power cut is history`,
    readsBehind,
    begun,
  )

async function readsBehind(t: ExecutionContext, begun: number) {
  const { db, historian } = await temporaryHistorian(t)
  const misdated = misdatedStore(db)
  const at = { now: begun }
  const clock: Clock = { now: () => at.now, sleep: () => Promise.resolve() }
  const sink = historianSink({
    historian,
    misdated,
    building_id: 'b',
    statesOf: () => undefined,
    clock,
    notBefore: () => NOON - MINUTE,
    needRoom: () => undefined,
  })
  const reading = (t: number, v: number) => ({ id: 'p', t, v, q: 'good' as const })
  // The outbox still held one reading of before the cut.
  await sink.write([reading(NOON, 1), reading(begun - 2000, 2), reading(begun - 1000, 3)])
  at.now = NOON + 10 * MINUTE
  await sink.write([reading(NOON + 9 * MINUTE, 4), reading(NOON + 20 * MINUTE, 5)])
  const [series] = await historian.read({ building_id: 'b', point_ids: ['p'], from: 0, to: Date.UTC(2100, 0, 1) })
  t.deepEqual([...series!.values], [1, 4])
  t.deepEqual(
    misdated.list({ building_id: 'b', limit: 10 }).map(({ value, edge_id, arrived_at }) => [value, edge_id, arrived_at]),
    [
      [5, null, NOON + 10 * MINUTE],
      [3, null, begun],
      [2, null, begun],
    ],
  )
}
