/** Triggered visits, one visit at a time, and the result of a visit. */
import test from 'ava'
import type { ArrayAnswer } from '#appliance/core/priority/array-answer.ts'
import { visitedObjects } from '#appliance/core/priority/visit-objects.ts'
import { HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { answerOf, failing, open, type Setup, SITE, START } from './visit-harness.ts'

test('while visits are switched off, nothing is visited and a trigger is refused', t => {
  const { visits, asked } = open({ enabled: false })
  t.like(visits.state(), { enabled: false, state: 'disabled', reason: 'SERVICE_PRIORITY_SCAN_ENABLED=1 switches it on' })
  t.throws(() => visits.trigger(), { code: 'scanner_disabled' })
  t.deepEqual(asked, [])
})

test('a trigger visits at once, and the next visit is an interval later', async t => {
  const { visits, runTo, visited, stored } = open()
  void visits.run()
  await runTo(30 * MINUTE)
  const { visit_id, device_instance } = visits.trigger(2)
  t.is(device_instance, 2)
  t.like(visits.visit(visit_id), { state: 'visiting', source: 'triggered', points_read: 0 })
  await runTo(2 * HOUR)
  t.like(visits.visit(visit_id), { state: 'completed', points_read: 3, points_failed: 0, error: null })
  t.is(stored[3]?.source, 'triggered')
  // The trigger took the turn of device 2.
  t.deepEqual(visited(), [
    [0, 'a'],
    [30 * MINUTE, 'b'],
    [90 * MINUTE + SECOND, 'a'],
  ])
})

test('a trigger without a device visits the next one in turn', async t => {
  const { visits, runTo } = open()
  const turns: number[] = []
  for (const i of [1, 2, 3]) {
    turns.push(visits.trigger().device_instance)
    await runTo(i * MINUTE)
  }
  t.deepEqual(turns, [1, 2, 1])
})

test('a visit out of turn leaves the turns as they are', async t => {
  const { visits, runTo } = open()
  visits.trigger(2)
  await runTo(MINUTE)
  t.is(visits.trigger().device_instance, 1)
})

test('a trigger during a visit is refused, triggered or scheduled', async t => {
  const { visits, runTo } = open()
  void visits.run()
  await runTo(0)
  t.throws(() => visits.trigger(2), { code: 'visit_in_progress', message: /Visit visit-1 to device 1/ })
  await runTo(MINUTE)
  visits.trigger(2)
  t.throws(() => visits.trigger(1), { code: 'visit_in_progress' })
  t.throws(() => visits.trigger(), { code: 'visit_in_progress' })
})

test('the schedule waits for a triggered visit', async t => {
  let width = 0
  let widest = 0
  const { visits, runTo, clock, asked } = open({
    async *read(_, objects, signal) {
      widest = Math.max(widest, ++width)
      await clock.sleep(30 * MINUTE, signal)
      width--
      for (const object of objects) yield answerOf(object, clock.now())
    },
  })
  void visits.run()
  await runTo(89 * MINUTE)
  visits.trigger(2)
  await runTo(10 * HOUR)
  t.is(widest, 1)
  t.true(asked.length > 5)
})

test('a trigger for a device that is not in the list is refused', t => {
  const { visits } = open()
  t.throws(() => visits.trigger(99), { code: 'unknown_device' })
})

const broken: Record<string, Setup> = {
  'a device that is silent': { read: failing('no answer') },
  'an internal error': {
    read: () => {
      throw new TypeError('no such thing')
    },
  },
  'a journal that refuses': {
    append: async () => {
      throw new Error('the disk is full')
    },
  },
  'a schedule file that cannot be written': {
    save: async () => {
      throw new Error('the disk is full')
    },
  },
}

for (const [what, setup] of Object.entries(broken)) {
  test(`a new visit can begin after ${what}`, async t => {
    const { visits, runTo } = open(setup)
    const { visit_id } = visits.trigger(1)
    await runTo(MINUTE)
    t.not(visits.state().state, 'visiting')
    t.not(visits.visit(visit_id)?.state, 'visiting')
    t.notThrows(() => visits.trigger(1))
  })
}

test('a failed visit gives its reason, stores no record, and takes its turn', async t => {
  const { visits, runTo, stored, events, asked } = open({ read: failing('no answer from 10.0.0.1:47808') })
  void visits.run()
  await runTo(90 * MINUTE)
  t.deepEqual(stored, [])
  t.is(visits.state().last_error, 'no answer from 10.0.0.1:47808')
  t.like(visits.visit('visit-1'), { state: 'failed', points_read: 0, points_failed: 3, error: 'no answer from 10.0.0.1:47808' })
  t.is(events.filter(({ kind }) => kind === 'visit_over').length, 2)
  t.deepEqual(
    asked.map(({ device_id }) => device_id),
    ['a', 'b'],
  )
})

test('a silent device of one point fails its visit, and one without points is not visited', async t => {
  const [a, b] = [SITE[0]!, SITE[1]!]
  const devices = [
    { ...a, objects: a.objects.slice(0, 1) },
    { ...b, objects: [] },
  ]
  const { visits, runTo, asked } = open({ devices, read: failing('no answer') })
  const { visit_id } = visits.trigger(1)
  await runTo(MINUTE)
  t.like(visits.visit(visit_id), { state: 'failed', points_read: 0, points_failed: 1, error: 'no answer' })
  t.throws(() => visits.trigger(2), { code: 'unknown_device' })
  void visits.run()
  await runTo(5 * HOUR)
  t.deepEqual([...new Set(asked.map(({ device_id }) => device_id))], ['a'])
})

test('points that the journal refused are read again', async t => {
  let isFull = true
  const { visits, runTo, asked } = open({
    most: 2,
    async append() {
      if (isFull) throw new Error('the disk is full')
    },
  })
  visits.trigger(1)
  await runTo(MINUTE)
  t.like(visits.visit('visit-1'), { state: 'failed', points_read: 0, points_failed: 2, error: 'the disk is full' })
  isFull = false
  visits.trigger(1)
  await runTo(2 * MINUTE)
  visits.trigger(1)
  await runTo(3 * MINUTE)
  t.deepEqual(
    asked.map(({ instances }) => instances),
    [
      [1, 2],
      [1, 2],
      [3, 1],
    ],
  )
})

test('points read before a device stopped answering are stored, and the others are first in the next visit', async t => {
  let isBroken = true
  const { visits, runTo, stored, asked } = open({
    async *read(_, objects) {
      yield answerOf(objects[0]!, START)
      if (isBroken) throw new Error('broke off')
      for (const object of objects.slice(1)) yield answerOf(object, START)
    },
  })
  const { visit_id } = visits.trigger(1)
  await runTo(MINUTE)
  t.like(visits.visit(visit_id), { state: 'completed', points_read: 1, points_failed: 2, error: 'broke off' })
  t.is(stored.length, 1)
  isBroken = false
  visits.trigger(1)
  await runTo(2 * MINUTE)
  t.deepEqual(asked[1]?.instances, [2, 3, 1])
})

test('a visit that takes as long as the interval is ended, and the points read are stored', async t => {
  const { visits, runTo, stored, clock } = open({
    async *read(_, objects, signal) {
      yield answerOf(objects[0]!, START)
      await clock.sleep(10 * HOUR, signal)
      if (signal.aborted) throw new Error('cancelled')
    },
  })
  const { visit_id } = visits.trigger(1)
  await runTo(HOUR)
  t.like(visits.visit(visit_id), { state: 'completed', points_read: 1, points_failed: 2, error: 'it took longer than 3600 s' })
  t.is(stored.length, 1)
  t.is(visits.state().state, 'idle')
})

test('an input is stored while it is out of service, and once when it is back', async t => {
  const objects = visitedObjects(
    { device_id: 'a', device_instance: 1 },
    [1, 2].map(n => ({ address: `analog-input,${n}`, name: `Input ${n}` })),
  )
  const isOut = [false, true, true, false, false]
  let count = 0
  const { visits, stored, runTo } = open({
    devices: [{ device_id: 'a', device_instance: 1, objects }],
    async *read(_, due) {
      const out = isOut[count++]!
      for (const object of due) yield { ...answerOf(object, START), out_of_service: out && object.instance === 2 } as ArrayAnswer
    },
  })
  for (const i of isOut.keys()) {
    const { visit_id } = visits.trigger(1)
    await runTo((i + 1) * MINUTE)
    t.like(visits.visit(visit_id), { state: 'completed', points_read: 2, points_failed: 0 })
  }
  t.deepEqual(
    stored.map(({ target, out_of_service }) => [target.object_instance, out_of_service]),
    [
      [2, true],
      [2, true],
      [2, false],
    ],
  )
})

test('points without a priority array are reported once and not stored', async t => {
  const { visits, runTo, events, asked } = open({
    async *read(_, objects) {
      for (const object of objects) {
        if (object.instance === 2) yield { object, state: 'not_commandable' }
        else yield answerOf(object, START)
      }
    },
  })
  for (const i of [1, 2, 3]) {
    visits.trigger(1)
    await runTo(i * MINUTE)
  }
  t.deepEqual(
    asked.map(({ instances }) => instances.toSorted()),
    [
      [1, 2, 3],
      [1, 3],
      [1, 3],
    ],
  )
  const reported = events.filter(event => event.kind === 'not_commandable')
  t.deepEqual(
    reported.map(({ objects }) => objects.map(({ instance }) => instance)),
    [[2]],
  )
  t.like(visits.visit('visit-1'), { state: 'completed', points_read: 2, points_failed: 0, error: null })
})

test('a stop during a visit ends it and stores the points read', async t => {
  const { visits, runTo, stored, stop, clock } = open({
    async *read(_, objects, signal) {
      yield answerOf(objects[0]!, START)
      await clock.sleep(MINUTE, signal)
      throw new Error('cancelled')
    },
  })
  const running = visits.run()
  await runTo(SECOND)
  stop()
  await running
  t.is(stored.length, 1)
  t.is(visits.visit('visit-1')?.error, 'it was ended, as this process stops')
  t.throws(() => visits.trigger(), { code: 'scanner_disabled' })
})

test('the newest hundred visits can be asked for', async t => {
  const { visits, runTo } = open()
  for (let i = 1; i <= 101; i++) {
    visits.trigger(1)
    await runTo(i * MINUTE)
  }
  t.is(visits.visit('visit-1'), undefined)
  t.truthy(visits.visit('visit-2'))
  t.truthy(visits.visit('visit-101'))
})
