/** The loop over all devices, on a clock that stands still between polls. */
import test, { type ExecutionContext } from 'ava'
import { noteReadings, openBoard, pollStatusOf } from '#shared/core/poll/poll-status.ts'
import type { ChangeListener, DevicePlan } from '#shared/core/poll/device.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { openPolling } from '#appliance/flow/poll.ts'
import { type Answer, bad, countOf, good, run, scripted, START } from './poll-harness.ts'
import { virtualClock } from '../../support/virtual-clock.ts'

test('a day of polls: every point at its own period, none late, none doubled', async t => {
  const { clock, readings, events, status, end } = run(t, [
    { id: 'a', secs: [60, 300] },
    { id: 'b', secs: [60] },
  ])
  await clock.runTo(START + DAY)
  await end()
  t.is(countOf(readings, 'a.0'), 1440)
  t.is(countOf(readings, 'a.1'), 288)
  // Its place on the grid is at half a minute: one more, right after the start.
  t.is(countOf(readings, 'b.0'), 1441)
  t.is(status().late_cycles, 0)
  t.deepEqual(events, [])
})

test('a device that dies for hours is one event when it goes and one when it returns, and delays nobody', async t => {
  const died = START + 2 * HOUR
  const isDead = (now: number) => now >= died && now < died + 6 * HOUR
  const { clock, readings, events, status, end } = run(t, [{ id: 'a' }, { id: 'dead', secs: [10, 900, 20], isDead }, { id: 'b' }])
  await clock.runTo(died + 3 * HOUR)
  t.is(status().devices[1]!.state, 'down')
  t.is(status().points_down, 3)
  t.is(status().points_ok, 2)
  await clock.runTo(START + DAY)
  await end()
  t.deepEqual(
    events.map(({ kind }) => kind),
    ['device_lost', 'device_back'],
  )
  t.like(events[0], { device_id: 'dead', reason: 'no answer' })
  t.true((events[1] as { away_ms: number }).away_ms <= 6 * HOUR + 2 * MINUTE)
  t.true(countOf(readings, 'a.0') >= 1440 && countOf(readings, 'b.0') >= 1440)
  const back = readings.find(({ id, t: at }) => id === 'dead.1' && at > died + 6 * HOUR)
  t.true(back!.t < died + 6 * HOUR + 3 * MINUTE, 'the slow group is read as soon as the device is back')
  t.is(status().late_cycles, 0)
  t.is(status().points_ok, 5)
})

test('a device slower than its period skips due times, and they are counted', async t => {
  const { clock, readings, status, end } = run(t, [{ id: 'slow', takesMs: 90 * SECOND }, { id: 'a' }])
  await clock.runTo(START + HOUR)
  await end()
  t.is(countOf(readings, 'slow.0') + status().late_cycles, 60)
  t.true(status().late_cycles >= 29)
  t.true(countOf(readings, 'a.0') >= 59)
})

test('a sink that fails for an hour is one event, gets everything afterwards, and the other sink misses nothing', async t => {
  let isBroken = false
  const kept: Reading[] = []
  const write = async (batch: Reading[]) => {
    if (isBroken) throw new Error('the disk is full')
    kept.push(...batch)
  }
  const { clock, readings, events, end } = run(t, [{ id: 'a' }], { write })
  await clock.runTo(START + HOUR)
  isBroken = true
  await clock.runTo(START + 2 * HOUR)
  t.is(readings.length, 120)
  isBroken = false
  await clock.runTo(START + 3 * HOUR)
  await end()
  t.deepEqual(events, [
    { kind: 'sink_failed', reason: 'the disk is full' },
    { kind: 'sink_back', lost: 0 },
  ])
  t.deepEqual(kept, readings)
})

test('a sink that is slow gets what came meanwhile in one batch, and holds up no poll', async t => {
  const sizes: number[] = []
  const free: (() => void)[] = []
  let isSlow = true
  const write = async (batch: Reading[]) => {
    sizes.push(batch.length)
    if (isSlow) await new Promise<void>(resolve => free.push(resolve))
  }
  const { clock, readings, end } = run(t, [{ id: 'a' }], { write })
  await clock.runTo(START + HOUR + 31 * SECOND)
  t.is(readings.length, 61)
  t.deepEqual(sizes, [1])
  free.shift()!()
  await clock.runTo(START + HOUR + 32 * SECOND)
  t.deepEqual(sizes, [1, readings.length - 1])
  free.shift()!()
  isSlow = false
  await end()
})

test('twenty devices a minute are two writes a minute, no reading waits for more than half its period, and a quick one not at all', async t => {
  const sizes: number[] = []
  const waits: { id: string; ms: number }[] = []
  const write = async (batch: Reading[]) => {
    sizes.push(batch.length)
    for (const { id, t: at } of batch) waits.push({ id, ms: clock.now() - at })
  }
  const slow = Array.from({ length: 20 }, (_, i) => ({ id: `d${i}`, secs: [60] }))
  const { clock, end } = run(t, slow, { write })
  await clock.runTo(START + 10 * MINUTE)
  const writes = sizes.length
  sizes.length = 0
  await clock.runTo(START + 70 * MINUTE)
  t.true(sizes.length >= 118 && sizes.length <= 122, `${sizes.length} writes in an hour, ${writes} before`)
  await end()
  t.deepEqual(
    waits.filter(({ ms }) => ms > 30 * SECOND),
    [],
  )

  t.is(await longestWait(t, 4), 0)
  const half = await longestWait(t, 30)
  t.true(half > 10 * SECOND && half <= 15 * SECOND, `${half} ms`)
})

/** @returns how long a reading of a point of this period waited to be written at most, beside twenty that are read each minute, ms */
async function longestWait(t: ExecutionContext, secs: number): Promise<number> {
  const slow = Array.from({ length: 20 }, (_, i) => ({ id: `d${i}`, secs: [60] }))
  const waits: number[] = []
  const { clock, end } = run(t, [...slow, { id: 'own', secs: [secs] }], {
    write: async batch => {
      for (const { id, t: at } of batch) if (id === 'own.0') waits.push(clock.now() - at)
    },
  })
  await clock.runTo(START + 10 * MINUTE)
  await end()
  t.true(waits.length >= (10 * 60) / secs)
  return Math.max(...waits)
}

const halfBad: Answer = (id, t) => (id === 'half.0' ? bad(id, t) : good(id, t))

test('the status tells bad points, stale devices and disabled ones', async t => {
  const { clock, status } = run(t, [
    { id: 'half', secs: [60, 60], answer: halfBad },
    { id: 'none', answer: bad },
  ])
  t.is(status().devices[0]!.state, 'unknown')
  await clock.runTo(START + 5 * MINUTE)
  t.like(status(), { points_ok: 1, points_fault: 2, points_stale: 0, points_down: 0 })
  t.deepEqual(
    status().devices.map(({ state }) => state),
    ['ok', 'fault'],
  )
  t.like(status().devices[0], { rtt_ms_p50: 20, rtt_ms_p95: 20, batch_size: 10, last_ok_at: '2026-03-01T00:04:00.020Z' })
  t.is(status().devices[0]!.reads, 5)
})

const plan = (device_id: string, enabled: boolean): DevicePlan => ({
  device_id,
  enabled,
  points: [{ point_id: `${device_id}.0`, poll_secs: 60 }],
})

test('what is not read any more grows stale, and a disabled device stays what it is', t => {
  const board = openBoard([plan('x', true), plan('off', false)], START)
  noteReadings(board, 'x', [good('x.0', START)], { rtts: [], batch_size: null, point_error: null }, START)
  const at = (now: number) => pollStatusOf(board, { running: false, now })
  t.like(at(START + 3 * MINUTE), { enabled: true, running: false, points_ok: 1, points_stale: 0 })
  t.like(at(START + 4 * MINUTE), { points_ok: 0, points_stale: 1 })
  t.deepEqual(
    at(START + 4 * MINUTE).devices.map(({ state, since }) => [state, since]),
    [
      ['stale', '2026-03-01T00:04:00Z'],
      ['disabled', '2026-03-01T00:00:00Z'],
    ],
  )
})

test('reads and errors of the last hour are counted apart, also after the clock was set back', t => {
  const board = openBoard([plan('x', true)], START)
  const report = { rtts: [], batch_size: null, point_error: 'no value' }
  const read = (at: number, isGood: boolean) =>
    noteReadings(board, 'x', isGood ? [good('x.0', at)] : [{ ...good('x.0', at), q: 'bad' }], report, at)
  const counts = (now: number) => {
    const { reads, errors, reads_1h, errors_1h } = pollStatusOf(board, { running: true, now }).devices[0]!
    return [reads, errors, reads_1h, errors_1h]
  }
  for (let minute = 0; minute < 90; minute++) read(START + minute * MINUTE, minute >= 80)
  t.deepEqual(counts(START + 89 * MINUTE), [90, 80, 60, 50])
  t.deepEqual(counts(START + 140 * MINUTE), [90, 80, 9, 0])
  t.deepEqual(counts(START + 200 * MINUTE), [90, 80, 0, 0])
  read(START, true)
  t.deepEqual(counts(START), [91, 80, 1, 0], 'what lies ahead is forgotten')
})

test('an error of the program ends the poll instead of being taken for a dead device', async t => {
  const clock = virtualClock(START)
  const device = scripted(clock, { id: 'a' })
  device.driver.read = async () => {
    throw new TypeError('of the program')
  }
  const board = openBoard([device.plan], START)
  const { follow, failure } = openPolling({ sinks: [], clock, board, notify: () => undefined })
  await follow([device])
  await t.throwsAsync(failure, { instanceOf: TypeError })
})

test('changes that a device tells reach the status at once and the sinks soon, and it is polled all the same', async t => {
  let listener: ChangeListener | undefined
  let watched: string[] = []
  let hasEnded = false
  const { clock, readings, events, status, end } = run(t, [
    {
      id: 'a',
      secs: [60, 60],
      cov: true,
      answer: bad,
      async watch(points, hear, signal) {
        watched = points.map(({ point_id }) => point_id)
        listener = hear
        await new Promise(resolve => signal.addEventListener('abort', resolve))
        hasEnded = true
      },
    },
    { id: 'deaf', cov: true },
  ])
  await clock.runTo(START + 90 * SECOND)
  t.deepEqual(watched, ['a.0', 'a.1'])
  t.like(status(), { points_ok: 1, points_fault: 2 })
  listener!.changed([good('a.0', START + 90 * SECOND)])
  listener!.declined(1, 'error cov-subscription-failed (class 5)')
  t.is(status().devices[0]!.last_ok_at, '2026-03-01T00:01:30Z')
  await clock.runTo(START + 2 * MINUTE)
  t.deepEqual(
    readings.filter(({ q, id }) => q === 'good' && id === 'a.0').map(({ t: at }) => at),
    [START + 90 * SECOND],
  )
  t.deepEqual(events, [
    { kind: 'changes_declined', device_id: 'a', points: 1, reason: 'error cov-subscription-failed (class 5)' },
  ])
  await clock.runTo(START + 5 * MINUTE)
  t.true(countOf(readings, 'a.0') >= 6)
  await end()
  t.true(hasEnded)
})
