/** Visits store nothing of a device other than the listed one, and resume when the listed one answers. */
import test from 'ava'
import type { DeviceMake } from '#appliance/drivers/bacnet/core/identity-check.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { answerOf, failing, open, saysOf, type Setup, START } from './visit-harness.ts'

/** Visits device 1 once for each identity, which it gives before and after it is read. */
async function visitDevice1(answers: readonly (DeviceMake | 'other')[], setup: Setup = {}) {
  let asked = 0
  const said = answers.flatMap((one): (DeviceMake | 'other')[] => (one === 'other' ? [one] : [one, one]))
  const site = open({
    async identify({ device_instance }) {
      const one = said[asked++]!
      return one === 'other' ? otherSays(device_instance) : saysOf(device_instance, one)
    },
    ...setup,
  })
  const results: (string | number)[] = []
  for (const i of answers.keys()) {
    const before = site.stored.length
    const { visit_id } = site.visits.trigger(1)
    await site.runTo((i + 1) * MINUTE)
    const visit = site.visits.visit(visit_id)!
    results.push(visit.is_other_device ? `other: ${visit.error}` : site.stored.length - before)
  }
  return { ...site, results }
}
const otherSays = (instance: number) =>
  new Map([...saysOf(instance + 1)].map(([, result], i) => [[...saysOf(instance).keys()][i]!, result]))
const OTHER =
  'other: another device answers at this address: it reports that it is device 2; run a discovery to find out which it is'
const X = { vendor_id: 1, model: 'X' }
const Y = { vendor_id: 1, model: 'Y' }
const Z = { vendor_id: 1, model: 'Z' }
const changed = (is: string, was: string) =>
  `other: another device answers at this address: device 1 is "${is}" and was "${was}"; run a discovery to find out which it is`

test('a device of another instance is not read: the visit fails with the reason, and nothing is stored', async t => {
  const { results, asked, stored, visits, events } = await visitDevice1(['other'])
  t.deepEqual(results, [OTHER])
  t.deepEqual([asked, stored], [[], []])
  t.like(visits.visit('visit-1'), { state: 'failed', points_read: 0, points_failed: 3, is_other_device: true })
  t.like(visits.state(), { last_error: OTHER.slice(7), last_device_id: 'a' })
  t.deepEqual(visits.state().other_devices, [{ device_id: 'a', device_instance: 1, since: START, reason: OTHER.slice(7) }])
  t.is(events.filter(({ kind }) => kind === 'visit_over').length, 1)
})

test('visits continue at the same point when the listed device is back', async t => {
  const { results, visits, asked } = await visitDevice1([X, 'other', 'other', X], { most: 2 })
  t.deepEqual(results, [2, OTHER, OTHER, 2])
  t.deepEqual(
    asked.map(({ instances }) => instances),
    [
      [1, 2],
      [3, 1],
    ],
  )
  t.is(visits.state().other_devices, undefined)
})

test('the time since another device answers is the first visit that saw it', async t => {
  const { visits } = await visitDevice1([X, 'other', 'other'])
  t.deepEqual(
    visits.state().other_devices?.map(({ since }) => since),
    [START + MINUTE],
  )
})

test('a device that takes over the address during a visit leaves no record', async t => {
  let asked = 0
  const {
    results,
    stored,
    asked: read,
  } = await visitDevice1([X], {
    identify: async ({ device_instance }) => (asked++ === 0 ? saysOf(device_instance, X) : otherSays(device_instance)),
  })
  t.deepEqual(results, [OTHER])
  t.deepEqual([stored.length, read.length], [0, 1])
})

test('a controller of another make is another device at first, and the listed one after ten minutes', async t => {
  const waits = Array.from({ length: 10 }, () => Y)
  const { results, events, saved } = await visitDevice1([X, ...waits, Y, Y], {
    identify: identities([X, X, ...waits, Y, Y, Y, Y]),
  })
  t.deepEqual(results, [3, ...waits.map(() => changed('Y', 'X')), 3, 3])
  t.is(events.filter(({ kind }) => kind === 'replaced').length, 1)
  t.deepEqual(saved.at(-1)?.devices['a']?.occupant, { make: Y })
})

test('makes that alternate at an address are never a replacement', async t => {
  const turns = Array.from({ length: 14 }, (_, i) => (i % 2 === 0 ? Y : Z))
  const { results, events } = await visitDevice1([X, ...turns], { identify: identities([X, X, ...turns]) })
  t.deepEqual(results, [3, ...turns.map(({ model }) => changed(model, 'X'))])
  t.is(events.filter(({ kind }) => kind === 'replaced').length, 0)
})

test('the old make is read again at once when it is back', async t => {
  const { results, visits } = await visitDevice1([X, Y, X], { identify: identities([X, X, Y, X, X]) })
  t.deepEqual(results, [3, changed('Y', 'X'), 3])
  t.is(visits.state().other_devices, undefined)
})

/** The identities in the order of the requests. */
const identities = (makes: DeviceMake[]): NonNullable<Setup['identify']> => {
  let asked = 0
  return async ({ device_instance }) => saysOf(device_instance, makes[asked++])
}

test('a device without identity properties is read', async t => {
  const { results } = await visitDevice1([X, X], { identify: async () => new Map() })
  t.deepEqual(results, [3, 3])
})

test('the answers of a device that stops answering before the second identification are stored', async t => {
  let asked = 0
  const { results, visits } = await visitDevice1([X], {
    async identify({ device_instance }) {
      if (asked++ > 0) throw new Error('no answer')
      return saysOf(device_instance)
    },
  })
  t.deepEqual(results, [3])
  t.like(visits.visit('visit-1'), { state: 'completed', error: 'no answer' })
})

test('a device that does not answer at all is not another device', async t => {
  const { visits, runTo } = open({
    read: failing('never asked'),
    async identify() {
      throw new Error('no answer from 10.0.0.1')
    },
  })
  const { visit_id } = visits.trigger(1)
  await runTo(MINUTE)
  t.like(visits.visit(visit_id), { state: 'failed', error: 'no answer from 10.0.0.1' })
  t.is(visits.visit(visit_id)!.is_other_device, undefined)
})

test('who answered is remembered also where the journal refuses what was read', async t => {
  const { saved } = await visitDevice1([X], {
    async append() {
      throw new Error('the disk is full')
    },
  })
  t.deepEqual(saved.at(-1)?.devices['a']?.occupant, { make: X })
})

test('who answers counts towards the time of a visit', async t => {
  const { visits, runTo, clock } = open({
    async identify(_, signal) {
      await clock.sleep(10 * HOUR, signal)
      throw new Error('cancelled')
    },
    async *read(_, objects) {
      yield answerOf(objects[0]!, START)
    },
  })
  const { visit_id } = visits.trigger(1)
  await runTo(HOUR)
  t.like(visits.visit(visit_id), { state: 'failed', error: 'it took longer than 3600 s' })
})

test('of two devices of one instance a trigger names one by its id', async t => {
  const twins = ['a', 'b'].map(device_id => ({ device_id, device_instance: 1, objects: open().state.devices[0]!.objects }))
  const { visits, runTo, asked } = open({ devices: twins })
  t.throws(() => visits.trigger(1), { code: 'bad_request', message: /is that of a and of b: name one by device_id/ })
  t.throws(() => visits.trigger(1, 'c'), { code: 'unknown_device' })
  t.throws(() => visits.trigger(2, 'b'), { code: 'unknown_device' })
  t.like(visits.trigger(1, 'b'), { device_id: 'b', device_instance: 1 })
  await runTo(MINUTE)
  t.like(visits.trigger(undefined, 'a'), { device_id: 'a' })
  await runTo(2 * MINUTE)
  t.deepEqual(
    asked.map(({ device_id }) => device_id),
    ['b', 'a'],
  )
})
