/** When devices are visited. */
import test from 'ava'
import { NEW_CURSOR } from '#appliance/core/priority/visit-plan.ts'
import { HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { EMPTY_MEMORY, type ScheduleMemory } from '#appliance/core/priority/visit-schedule.ts'
import { open, SITE, START } from './visit-harness.ts'

test('one device is visited at a time, and an interval passes after each visit', async t => {
  const { visits, runTo, visited, stored, stop } = open()
  const running = visits.run()
  await runTo(3 * HOUR)
  t.deepEqual(visited(), [
    [0, 'a'],
    [HOUR + SECOND, 'b'],
    [2 * HOUR + 2 * SECOND, 'a'],
  ])
  t.is(stored.length, 9)
  t.like(stored[0], { source: 'scheduled', label: 'Output 1', active_level: null, observed_at: START + SECOND })
  stop()
  await running
})

test('the state shows the last and the next visit', async t => {
  const { visits, runTo } = open()
  t.like(visits.state(), { enabled: true, state: 'idle', last_started_at: null, next_due_at: START, last_error: null })
  const running = visits.run()
  await runTo(500)
  t.like(visits.state(), { state: 'visiting', last_started_at: START, last_completed_at: null, next_due_at: null })
  await runTo(MINUTE)
  t.like(visits.state(), {
    state: 'idle',
    interval_secs: 3600,
    max_points_per_device: 100,
    last_started_at: START,
    last_completed_at: START + SECOND,
    next_due_at: START + SECOND + HOUR,
    last_device_instance: 1,
    last_error: null,
  })
  t.truthy(running)
})

test('nothing is visited until the catalogue has a point to visit', async t => {
  const { visits, runTo, state, visited } = open({ devices: [] })
  void visits.run()
  await runTo(30 * MINUTE)
  t.like(visits.state(), { state: 'disabled', reason: 'no BACnet device of the list has a point to visit' })
  t.throws(() => visits.trigger(), { code: 'scanner_disabled' })
  state.devices = SITE
  t.is(visits.state().state, 'idle')
  await runTo(2 * HOUR)
  // The visit due at the start was missed and is not made up for.
  t.deepEqual(visited(), [[HOUR, 'a']])
})

test('nothing is visited while the history is damaged, and the schedule goes on after that', async t => {
  const { visits, runTo, state, visited } = open({ journal: { journal: 'disabled', reason: '1.log, byte 7: a bad CRC' } })
  void visits.run()
  await runTo(90 * MINUTE)
  t.like(visits.state(), { state: 'disabled', reason: 'history is disabled: 1.log, byte 7: a bad CRC', next_due_at: null })
  t.throws(() => visits.trigger(), { code: 'scanner_disabled', message: /a bad CRC/ })
  t.deepEqual(visited(), [])
  state.journal = { journal: 'ok' }
  await runTo(2 * HOUR + MINUTE)
  t.deepEqual(visited(), [[2 * HOUR, 'a']])
})

test('a restart continues the schedule: no visit is early, and none is made up for', async t => {
  const first = open({ most: 2 })
  void first.visits.run()
  await first.runTo(MINUTE)
  const memory = first.saved.at(-1)!
  t.is(memory.next_due_at, START + SECOND + HOUR)

  const soon = open({ most: 2, memory: { ...memory, next_due_at: START + 40 * MINUTE } })
  void soon.visits.run()
  await soon.runTo(HOUR)
  t.deepEqual(soon.visited(), [[40 * MINUTE, 'b']])

  const late = open({ most: 2, memory: { ...memory, next_due_at: START - 10 * HOUR + 20 * MINUTE } })
  void late.visits.run()
  await late.runTo(90 * MINUTE)
  t.deepEqual(late.visited(), [
    [20 * MINUTE, 'b'],
    [80 * MINUTE + SECOND, 'a'],
  ])
  t.deepEqual(late.asked[1]?.instances, [3, 1])
})

test('a device that left the catalogue is dropped from the state', async t => {
  const memory: ScheduleMemory = { ...EMPTY_MEMORY, devices: { gone: { ...NEW_CURSOR, again: ['1,1'] }, b: NEW_CURSOR } }
  const { visits, runTo, saved } = open({ memory })
  visits.trigger(1)
  await runTo(MINUTE)
  t.deepEqual(Object.keys(saved[0]!.devices).toSorted(), ['a', 'b'])
})

test('a clock that is set back a day delays a visit by no more than an interval', async t => {
  const { visits, runTo, skew, clock, asked } = open()
  void visits.run()
  await runTo(MINUTE)
  skew(-24 * HOUR)
  await runTo(2 * MINUTE)
  t.true(visits.state().next_due_at! <= clock.now() - 24 * HOUR + HOUR)
  await runTo(65 * MINUTE)
  t.is(asked.length, 2)
})

test('a clock that is set forward a day causes one visit, not many', async t => {
  const { visits, runTo, skew, asked } = open()
  void visits.run()
  await runTo(MINUTE)
  skew(24 * HOUR)
  await runTo(50 * MINUTE)
  t.is(asked.length, 2)
})
