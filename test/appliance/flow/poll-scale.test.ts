/** Many devices, many of them dead or slow: healthy ones are read when they are due. */
import test from 'ava'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { type DeviceScript, run, START } from './poll-harness.ts'

const TEN_POINTS = Array.from({ length: 10 }, () => 60)
const site = (count: number, kindOf: (i: number) => Partial<DeviceScript>): DeviceScript[] =>
  Array.from({ length: count }, (_, i) => ({ id: `d${i}`, secs: TEN_POINTS, ...kindOf(i) }))

const byPoint = (readings: Reading[]) => Map.groupBy(readings, ({ id }) => id)

/** How far, ms, the readings of a point stray from its place in the minute, from `from` on; the worst of all points. */
function worstDelay(points: Reading[][], from: number): number {
  const strays = points.map(list => {
    const places = list.filter(({ t: at }) => at >= from).map(({ t: at }) => at % MINUTE)
    return Math.max(...places) - Math.min(...places)
  })
  return Math.max(...strays)
}

test('1,000 devices of 10 points, 100 dead and 50 slow: no late cycle, and each minute every healthy point', async t => {
  const { clock, readings, status, events, end } = run(
    t,
    site(1000, i => (i % 10 === 3 ? { isDead: () => true } : i % 20 === 5 ? { takesMs: 2500 } : {})),
  )
  await clock.runTo(START + 4 * MINUTE)
  await end()
  t.is(status().late_cycles, 0)
  t.is(events.filter(({ kind }) => kind === 'device_lost').length, 100)
  t.like(status(), { points_down: 1000, points_ok: 9000, points_stale: 0, points_fault: 0 })
  const healthy = [...byPoint(readings).values()]
  t.is(healthy.length, 9000)
  t.true(healthy.every(list => list.length >= 4))
  t.is(worstDelay(healthy, START + MINUTE), 0)
})

test('800 of 1,000 devices die at once: the others are read on their second, and all are tried again in time', async t => {
  const died = START + MINUTE
  const returned = died + 3 * MINUTE
  const isDead = (now: number) => now >= died && now < returned
  const { clock, readings, status, end } = run(
    t,
    site(1000, i => (i % 5 === 0 ? {} : { isDead, secs: [10] })),
  )
  await clock.runTo(returned)
  t.is(status().points_down, 800)
  await clock.runTo(returned + 90 * SECOND)
  t.is(status().points_down, 0)
  await end()
  t.is(status().late_cycles, 0)
  const points = byPoint(readings)
  const healthy = Array.from({ length: 200 }, (_, i) => points.get(`d${5 * i}.0`)!)
  t.true(worstDelay(healthy, START + MINUTE) <= SECOND)
})
