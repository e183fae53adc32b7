/** A sink that fails, is slow, or stays down: waiting readings are bounded, and lost ones are counted. */
import test from 'ava'
import fc from 'fast-check'
import { readingQueue } from '#appliance/core/poll/reading-queue.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { type SinkEvent, SinkWriter, WAITING_MAX } from '#appliance/flow/write-readings.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

const readings = (from: number, count: number): Reading[] =>
  Array.from({ length: count }, (_, i) => ({ id: 'a', t: from + i, v: 1, q: 'good' }))

function open(write: (batch: Reading[]) => Promise<void>) {
  const clock = virtualClock(0)
  const events: SinkEvent[] = []
  return { clock, events, writer: new SinkWriter({ write }, clock, event => events.push(event)) }
}

test('readings that a sink failed to take are written again, in order, until it takes them', async t => {
  let failures = 3
  const kept: Reading[] = []
  const { clock, events, writer } = open(async batch => {
    if (failures-- > 0) throw new Error('no space')
    kept.push(...batch)
  })
  writer.push(readings(0, 3))
  await clock.runTo(7 * SECOND)
  writer.push(readings(3, 2))
  t.deepEqual(kept, [])
  await clock.runTo(MINUTE)
  t.deepEqual(kept, readings(0, 5))
  t.deepEqual(events, [
    { kind: 'sink_failed', reason: 'no space' },
    { kind: 'sink_back', lost: 0 },
  ])
  writer.push(readings(5, 1))
  await writer.close()
  t.is(kept.length, 6)
})

test('readings that may wait are written together, once, when the first of them may not wait any longer', async t => {
  const sizes: number[] = []
  const { clock, writer } = open(async batch => void sizes.push(batch.length))
  writer.push(readings(0, 3), 30 * SECOND)
  await clock.runTo(20 * SECOND)
  writer.push(readings(3, 2), 30 * SECOND)
  await clock.runTo(29 * SECOND)
  t.deepEqual(sizes, [])
  t.is(writer.storing().waiting, 5)
  await clock.runTo(31 * SECOND)
  t.deepEqual(sizes, [5])
  writer.push(readings(5, 1), 30 * SECOND)
  await clock.runTo(51 * SECOND)
  t.deepEqual(sizes, [5], 'the time of one that was written with others ends nothing')
  writer.push(readings(6, 1), 5 * SECOND)
  await clock.runTo(57 * SECOND)
  t.deepEqual(sizes, [5, 2], 'one that may wait less takes the others along')
  writer.push(readings(7, 4), 30 * SECOND)
  writer.push(readings(11, 1))
  await clock.runTo(58 * SECOND)
  t.deepEqual(sizes, [5, 2, 5], 'so does one that may not wait')
  writer.push(readings(12, 4_999), 30 * SECOND)
  writer.push(readings(5_011, 1), 30 * SECOND)
  await clock.runTo(59 * SECOND)
  t.deepEqual(sizes, [5, 2, 5, 5_000], 'and as many as fit into one write')
  writer.push(readings(5_012, 7), 30 * SECOND)
  await writer.close()
  t.deepEqual(sizes, [5, 2, 5, 5_000, 7], 'nothing waits at the end')
})

test('readings that may wait past a whole half minute are written then', async t => {
  const written: [number, number][] = []
  const { clock, writer } = open(async batch => void written.push([clock.now() / SECOND, batch.length]))
  for (const [at, mayWait] of [
    [10, 30],
    [25, 30],
    [30, 30],
    [61, 15],
    [86, 15],
    [90, 30],
  ] as const) {
    await clock.runTo(at * SECOND)
    writer.push(readings(at, 1), mayWait * SECOND)
  }
  await clock.runTo(3 * MINUTE)
  t.deepEqual(written, [
    [30, 2],
    [60, 1],
    [76, 1],
    [90, 1],
    [120, 1],
  ])
  await writer.close()
})

test('the status gives the waiting readings, their bound, and since when nothing was stored', async t => {
  let isBroken = true
  const { clock, writer } = open(async () => {
    if (isBroken) throw Object.assign(new Error(`no space at ${clock.now()}`), { code: 'ENOSPC' })
  })
  t.deepEqual(writer.storing(), { waiting: 0, waiting_max: WAITING_MAX })
  await clock.runTo(2 * SECOND)
  writer.push(readings(0, 300))
  await clock.runTo(50 * SECOND)
  writer.push(readings(300, 20))
  await clock.runTo(70 * SECOND)
  const { trouble, ...rest } = writer.storing()
  t.deepEqual(rest, { waiting: 320, waiting_max: WAITING_MAX })
  t.is(trouble?.since, 2 * SECOND)
  t.regex(trouble!.reason, /^no space at [67]\d000$/, 'the newest reason')
  isBroken = false
  await clock.runTo(90 * SECOND)
  t.deepEqual(writer.storing(), { waiting: 0, waiting_max: WAITING_MAX })
})

test('beyond the bound the oldest readings are dropped, notified once and counted', async t => {
  let isBroken = true
  const kept: Reading[] = []
  const { clock, events, writer } = open(async batch => {
    if (isBroken) throw new Error('no space')
    kept.push(...batch)
  })
  for (let i = 0; i < WAITING_MAX + 5_000; i += 1000) {
    writer.push(readings(i, 1000))
    await clock.runTo(i)
  }
  isBroken = false
  await clock.runTo(100 * MINUTE)
  t.deepEqual(events, [
    { kind: 'sink_failed', reason: 'no space' },
    { kind: 'sink_full', waiting: WAITING_MAX },
    { kind: 'sink_back', lost: 5_000 },
  ])
  t.is(kept.length, WAITING_MAX)
  t.deepEqual([kept[0]!.t, kept.at(-1)!.t], [5_000, WAITING_MAX + 4_999])
})

test('a sink that hangs delays nothing, and the readings that wait for it are bounded', async t => {
  const hung = Promise.withResolvers<void>()
  let written = 0
  const { clock, events, writer } = open(async batch => {
    await hung.promise
    written += batch.length
  })
  for (let i = 0; i < 2 * WAITING_MAX; i += 5_000) writer.push(readings(i, 5_000))
  t.deepEqual(events, [{ kind: 'sink_full', waiting: WAITING_MAX }])
  hung.resolve()
  await clock.runTo(MINUTE)
  // The batch that was being written when it hung, and all readings that may wait.
  t.is(written, 5_000 + WAITING_MAX)
  t.deepEqual(events.at(-1), { kind: 'sink_back', lost: WAITING_MAX - 5_000 })
})

test('a reading that a sink refuses is found and given up, and the others are stored', async t => {
  const kept: number[] = []
  const poison = new Set([3, 700, 701, 2999])
  const { clock, events, writer } = open(async batch => {
    if (batch.some(({ t: at }) => poison.has(at))) throw new Error('no such point')
    kept.push(...batch.map(({ t: at }) => at))
  })
  writer.push(readings(0, 3000))
  await clock.runTo(5 * MINUTE)
  // The last of all is refused when another has come behind it.
  writer.push(readings(3000, 1))
  await clock.runTo(10 * MINUTE)
  await writer.close()
  t.deepEqual(
    kept.toSorted((a, b) => a - b),
    readings(0, 3001)
      .map(({ t: at }) => at)
      .filter(at => !poison.has(at)),
  )
  const refused = { kind: 'reading_refused', point_id: 'a', reason: 'no such point' } as const
  const failed = { kind: 'sink_failed', reason: 'no such point' } as const
  t.deepEqual(events, [failed, refused, { kind: 'sink_back', lost: 4 }])
})

test('a disk that is almost full loses no reading, and no reading is taken for the cause', async t => {
  let room = 1
  const kept: number[] = []
  const { clock, events, writer } = open(async batch => {
    if (batch.length > room) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    room -= batch.length
    kept.push(...batch.map(({ t: at }) => at))
  })
  writer.push(readings(0, 5))
  await clock.runTo(7 * SECOND)
  writer.push(readings(5, 1))
  await clock.runTo(MINUTE)
  t.deepEqual(kept, [])
  room = 100
  await clock.runTo(2 * MINUTE)
  t.deepEqual(
    kept,
    readings(0, 6).map(({ t: at }) => at),
  )
  t.deepEqual(events, [
    { kind: 'sink_failed', reason: 'no space' },
    { kind: 'sink_back', lost: 0 },
  ])
})

test('a disk that fills up during last attempts gives up no reading', async t => {
  let isFull = false
  const kept: number[] = []
  const { clock, events, writer } = open(async batch => {
    if (isFull) throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' })
    if (batch.some(({ t: at }) => at === 0)) throw new Error('no such point')
    kept.push(...batch.map(({ t: at }) => at))
    isFull = kept.length === 1
  })
  writer.push(readings(0, 2))
  await clock.runTo(MINUTE)
  isFull = false
  writer.push(readings(2, 3))
  await clock.runTo(5 * MINUTE)
  t.deepEqual(kept.toSorted(), [1, 2, 3, 4])
  t.deepEqual(events.at(-1), { kind: 'sink_back', lost: 1 })
})

test('a sink that is still down at the stop gets one last attempt', async t => {
  let attempts = 0
  const { clock, events, writer } = open(async () => {
    attempts++
    throw new Error('no space')
  })
  writer.push(readings(0, 10))
  await clock.runTo(2 * SECOND)
  t.is(attempts, 1)
  await writer.close()
  t.is(attempts, 2)
  t.deepEqual(events.at(-1), { kind: 'sink_left', lost: 10 })
})

test('a queue keeps the newest readings in order, whatever is taken and put back', t => {
  const step = fc.oneof(
    fc.record({ push: fc.integer({ min: 0, max: 12 }) }),
    fc.record({ take: fc.integer({ min: 1, max: 12 }), back: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const queue = readingQueue(10)
      let model: Reading[] = []
      let next = 0
      const bounded = (list: Reading[]) => list.slice(Math.max(0, list.length - 10))
      for (const one of steps) {
        if ('push' in one) {
          const given = readings(next, one.push)
          next += one.push
          t.is(queue.push(given), Math.max(0, model.length + one.push - 10))
          model = bounded([...model, ...given])
        } else {
          const taken = queue.take(one.take)
          t.deepEqual(taken, model.slice(0, one.take))
          if (one.back) queue.putBack(taken)
          else model = model.slice(taken.length)
        }
        t.is(queue.size(), model.length)
      }
      t.deepEqual(queue.take(100), model)
    }),
  )
})
