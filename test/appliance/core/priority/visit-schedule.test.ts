/** Which device is visited next, and when. */
import test from 'ava'
import {
  beginVisit,
  deviceAfter,
  EMPTY_MEMORY,
  endVisit,
  newVisit,
  nextDue,
  nextStep,
  rememberDevice,
  type Schedule,
} from '#appliance/core/priority/visit-schedule.ts'
import { NEW_CURSOR } from '#appliance/core/priority/visit-plan.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

test('devices take turns by id, also when devices come and go', t => {
  const devices = ['b', 'a', 'c'].map(device_id => ({ device_id, device_instance: 1, objects: [] }))
  const next = (last: string | null) => deviceAfter(devices, last)?.device_id
  t.deepEqual([null, 'a', 'b', 'c', 'aa', 'z'].map(next), ['a', 'b', 'c', 'a', 'b', 'a'])
  t.is(deviceAfter([], 'a'), undefined)
})

for (const [what, due, expected] of [
  ['at once when there never was one', null, 10_000],
  ['when it was planned', 10_300, 10_300],
  ['now, when that is now', 10_000, 10_000],
  ['at the next time by the plan, when one was missed', 9_900, 10_900],
  ['at the next time by the plan, when many were missed', 2_900, 10_900],
  ['at most an interval from now, when the clock was set back', 99_000, 11_000],
] as const) {
  test(`after a restart a visit is due ${what}`, t => {
    t.is(nextDue(due, 10_000, 1_000), expected)
  })
}

const device = (device_id: string) => ({ device_id, device_instance: 1, objects: [] })
const NEW: Schedule = { memory: EMPTY_MEMORY, visits: [] }

for (const [what, next_due_at, canVisit, expected] of [
  ['begins when no visit was ever made', null, true, { kind: 'visit' }],
  ['begins when it is due', 10 * HOUR, true, { kind: 'visit' }],
  ['is checked again after a minute at the latest', 11 * HOUR, true, { kind: 'wait', next_due_at: 11 * HOUR, ms: MINUTE }],
  ['is waited for to the millisecond', 10 * HOUR + 5, true, { kind: 'wait', next_due_at: 10 * HOUR + 5, ms: 5 }],
  [
    'is due within an interval after the clock was set back',
    99 * HOUR,
    true,
    { kind: 'wait', next_due_at: 11 * HOUR, ms: MINUTE },
  ],
  ['is skipped while visits are disabled', 9.5 * HOUR, false, { kind: 'wait', next_due_at: 10.5 * HOUR, ms: MINUTE }],
] as const) {
  test(`a visit ${what}`, t => {
    t.deepEqual(nextStep({ ...EMPTY_MEMORY, next_due_at }, 10 * HOUR, HOUR, canVisit), expected)
  })
}

test('a visit to the device whose turn it is takes the turn, and a visit to another device does not', t => {
  const visit = newVisit('v1', 'triggered', device('b'), 1000)
  t.is(beginVisit(NEW, visit, device('b')).memory.after_device, 'b')
  t.is(beginVisit(NEW, visit, device('a')).memory.after_device, null)
  t.like(beginVisit(NEW, visit, device('a')).memory, { last_started_at: 1000, last_device_id: 'b' })
})

test('the end of a visit replaces it and sets the next due time', t => {
  const begun = beginVisit(NEW, newVisit('v1', 'scheduled', device('a'), 1000), device('a'))
  const ended = endVisit(begun, { ...begun.visits[0]!, state: 'completed', completed_at: 2000 }, 2000 + HOUR)
  t.like(ended.memory, { last_completed_at: 2000, next_due_at: 2000 + HOUR })
  t.deepEqual(
    ended.visits.map(({ visit_id, state }) => [visit_id, state]),
    [['v1', 'completed']],
  )
})

test('devices that left the catalogue are dropped when another device is remembered', t => {
  const { memory } = rememberDevice(
    { memory: { ...EMPTY_MEMORY, devices: { gone: NEW_CURSOR, b: NEW_CURSOR } }, visits: [] },
    [device('a'), device('b')],
    'a',
    NEW_CURSOR,
  )
  t.deepEqual(Object.keys(memory.devices), ['b', 'a'])
})
