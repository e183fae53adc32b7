/** The search for bad points, request by request: what it finds, what it costs and what it never blames. */
import test from 'ava'
import fc from 'fast-check'
import { APDU_MAX, firstBatch, plainSize } from '#appliance/drivers/bacnet/core/batch.ts'
import { ReadSequence } from '#appliance/drivers/bacnet/core/read-sequence.ts'
import { type DeviceMemory, createDeviceMemory } from '#appliance/drivers/bacnet/core/device-memory.ts'
import { PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import type { RequestRefusal } from '#appliance/drivers/bacnet/core/reply.ts'
import { FAILURES_MAX } from '#appliance/core/poll/isolate.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { seeded } from '../../../../support/wire.ts'

type Item = { address: { target: { type: number; instance: number; property: number } } }
const item = (instance: number): Item => ({ address: { target: { type: 0, instance, property: PRESENT_VALUE } } })
const range = (count: number) => Array.from({ length: count }, (_, i) => i)
const instanceOf = ({ address }: Item) => address.target.instance
const sorted = (list: number[]) => list.toSorted((a, b) => a - b)

type Says = 'results' | RequestRefusal | 'silent' | 'garbled'
type Device = (asked: number[], isAlone: boolean) => Says

/** One read. `sizes`: points in each request, 0 for a single read; `failures`: requests without an answer. */
function poll(known: DeviceMemory, points: number[], device: Device, now = 0, hasAnswered = false, witness?: Item) {
  const sequence = new ReadSequence(known, points.map(item), hasAnswered, now, witness)
  const seen = { good: [] as number[], bad: [] as number[], sizes: [] as number[], failures: 0, isThere: true }
  for (let request = sequence.next(); request; request = sequence.next()) {
    const asked = request.items.map(instanceOf)
    seen.sizes.push(request.isAlone ? 0 : asked.length)
    const says = device(asked, request.isAlone)
    if (says === 'silent' || says === 'garbled') {
      seen.failures++
      seen.isThere = sequence.unanswered(request, says, says)
      if (!seen.isThere) return seen
    } else if (says === 'results') {
      sequence.answered(
        request,
        asked.map(() => ({ values: [{ type: 'real', value: 1 }] })),
      )
      if (!request.isWitness) seen.good.push(...asked)
    } else seen.bad.push(...sequence.declined(request, says).map(instanceOf))
  }
  seen.bad.push(...sequence.unread().map(({ item: one }) => instanceOf(one)))
  return seen
}

type Kind = 'silent' | 'garbled' | 'large' | 'busy' | 'silent_in_company' | 'declined_in_company'
const KINDS: Kind[] = ['silent', 'garbled', 'large', 'busy', 'silent_in_company', 'declined_in_company']
const hasValueAlone = (kind: Kind | undefined) => kind === undefined || kind.endsWith('in_company')

/** The worst of what its bad points do to a request. `most`: points that it answers in one request. */
const deviceWith =
  (bad: ReadonlyMap<number, Kind>, most = 1000): Device =>
  (asked, isAlone) => {
    const kinds = new Set(asked.map(one => bad.get(one)))
    if (kinds.has('silent') || (!isAlone && kinds.has('silent_in_company'))) return 'silent'
    if (kinds.has('garbled')) return 'garbled'
    if (kinds.has('large') || asked.length > most) return { by: 'abort', reason: 4 }
    if (kinds.has('busy')) return { by: 'reject', reason: 0 }
    return !isAlone && kinds.has('declined_in_company') ? { by: 'error', errorClass: 2, errorCode: 32 } : 'results'
  }

const someBad = (count: number, most: number) =>
  fc
    .uniqueArray(fc.nat({ max: count - 1 }), { minLength: 1, maxLength: most })
    .chain(places => fc.tuple(...places.map(place => fc.tuple(fc.constant(place), fc.constantFrom(...KINDS)))))

test('up to five bad points of any kind anywhere among 505: in the second poll all others have a value', t => {
  const apdus = fc.constantFrom(1476, 1024, 480)
  fc.assert(
    fc.property(someBad(505, 5), apdus, fc.boolean(), (list, apdu, hasAnswered) => {
      const bad = new Map(list)
      const device = deviceWith(bad)
      const known = createDeviceMemory(firstBatch(apdu))
      const culprits = sorted([...bad].filter(([, kind]) => !hasValueAlone(kind)).map(([place]) => place))
      const first = poll(known, range(505), device, 0, hasAnswered)
      t.true(first.failures <= FAILURES_MAX)
      const second = poll(known, range(505), device, MINUTE)
      t.deepEqual(
        sorted(second.good),
        range(505).filter(one => !culprits.includes(one)),
      )
      t.deepEqual(sorted(second.bad), culprits)
      // Then whole batches, and each bad point alone or, when it rests, not at all.
      for (const minute of [2, 3]) t.deepEqual(sorted(poll(known, range(505), device, minute * MINUTE).bad), culprits)
      const settled = poll(known, range(505), device, 4 * MINUTE)
      t.deepEqual(sorted(settled.bad), culprits)
      t.is(settled.failures, 0)
      t.true(settled.sizes.length <= Math.ceil(505 / firstBatch(apdu).size) + 3 * bad.size, settled.sizes.join(' '))
      t.is(plainSize(known.learnt.batch), firstBatch(apdu).size)
    }),
    { numRuns: 300, seed: 12 },
  )
})

test('a device that answers few at once and holds bad points is read in the second poll too', t => {
  fc.assert(
    fc.property(someBad(200, 3), fc.integer({ min: 1, max: 60 }), (list, most) => {
      const bad = new Map(list)
      const culprits = sorted([...bad].filter(([, kind]) => !hasValueAlone(kind)).map(([place]) => place))
      const known = createDeviceMemory(firstBatch(APDU_MAX))
      poll(known, range(200), deviceWith(bad, most), 0, true)
      t.deepEqual(sorted(poll(known, range(200), deviceWith(bad, most), MINUTE).bad), culprits)
    }),
    { numRuns: 200, seed: 12 },
  )
})

test('more bad points than one poll can find are found by the next ones, and nothing that is good starves', t => {
  for (const apdu of [206, 1476]) {
    const bad = new Map(range(80).map(i => [5 * i, 'silent' as Kind]))
    const known = createDeviceMemory(firstBatch(apdu))
    const hadValue = new Set<number>()
    const next = (minute: number) => poll(known, range(400), deviceWith(bad), minute * MINUTE, false, item(1000))
    let last = next(0)
    for (let minute = 1; minute <= 20 && last.bad.length > 80; minute++) {
      t.true(last.failures <= FAILURES_MAX)
      for (const one of last.good) hadValue.add(one)
      last = next(minute)
    }
    t.is(last.bad.length, 80)
    for (const one of last.good) hadValue.add(one)
    t.is(hadValue.size, 320)
  }
})

test('a read that is cut short is taken up where it was left', t => {
  const known = createDeviceMemory(firstBatch(APDU_MAX))
  let requests = 0
  const first = poll(known, range(500), () => (++requests > 2 ? 'silent' : 'results'))
  t.deepEqual(sorted(first.good), range(184))
  const asked: number[] = []
  poll(known, range(500), some => {
    asked.push(...some)
    return 'results'
  })
  t.deepEqual(asked, [...range(500).slice(184), ...range(184)])
})

test('a device that is gone costs one further request, in the midst of a read two, and nothing is blamed or learnt', t => {
  for (const answers of [0, 1, 3, 5]) {
    const known = createDeviceMemory(firstBatch(APDU_MAX))
    poll(known, range(500), () => 'results')
    const before = known.learnt
    let requests = 0
    const { failures, isThere } = poll(known, range(500), () => (++requests > answers ? 'silent' : 'results'), MINUTE)
    t.deepEqual([failures, isThere], answers === 0 ? [2, false] : [3, true])
    t.is(known.learnt, before)
    t.is(known.culprits.size + known.loners.size, 0)
  }
})

test('a culprit is tried again ever more seldom, an hour apart at most, and is free once it answers', t => {
  const bad = new Map<number, Kind>([[20, 'silent']])
  const known = createDeviceMemory(firstBatch(APDU_MAX))
  const tries: number[] = []
  for (let minute = 0; minute < 300; minute++) {
    const { sizes, good } = poll(known, range(40), deviceWith(bad), minute * MINUTE)
    t.is(good.length, 39)
    if (sizes.includes(0)) tries.push(minute)
  }
  t.deepEqual(tries, [0, 1, 6, 16, 36, 76, 136, 196, 256])
  bad.clear()
  t.deepEqual(poll(known, range(40), deviceWith(bad), 300 * MINUTE + HOUR).sizes, [39, 0])
  t.deepEqual(poll(known, range(40), deviceWith(bad), 301 * MINUTE + HOUR).sizes, [40])
})

test('a single point that is silent is told from a device that is gone', t => {
  const known = createDeviceMemory(firstBatch(APDU_MAX))
  const witness = item(8)
  const sequence = new ReadSequence(known, [item(1)], false, 0, witness)
  const request = sequence.next()!
  t.true(sequence.unanswered(request, 'silent', 'no answer'))
  const called = sequence.next()!
  t.deepEqual([called.items, called.isAlone, called.isWitness], [[witness], true, true])
  sequence.answered(called, [{ values: [] }])
  const alone = sequence.next()!
  t.deepEqual([alone.items.map(instanceOf), alone.isAlone], [[1], true])
  t.true(sequence.unanswered(alone, 'silent', 'no answer'))
  sequence.answered(sequence.next()!, [{ values: [] }])
  t.is(sequence.next(), undefined)
  t.deepEqual(sequence.unread(), [{ item: item(1), reason: 'no answer' }])
  t.deepEqual([...known.culprits.keys()], ['0:1:85:-1'])
})

test('with a loss now and then no good point is without a value for long, and whole batches come back', t => {
  const random = seeded(3)
  const bad = new Map<number, Kind>([
    [7, 'silent'],
    [300, 'garbled'],
  ])
  const device = deviceWith(bad)
  const known = createDeviceMemory(firstBatch(APDU_MAX))
  const lossy: Device = (asked, isAlone) => (random() < 0.05 ? 'silent' : device(asked, isAlone))
  let good = 0
  for (let minute = 0; minute < 100; minute++) good += poll(known, range(500), lossy, minute * MINUTE).good.length
  t.true(good > 0.97 * 498 * 100, `${good}`)
  for (let minute = 100; minute < 260; minute++) poll(known, range(500), device, minute * MINUTE)
  const { sizes } = poll(known, range(500), device, DAY)
  t.deepEqual(
    sizes.filter(size => size > 0),
    [92, 92, 92, 92, 92, 38],
  )
})

for (const [name, forged] of [
  ['Abort for want of segmentation', { by: 'abort', reason: 4 }],
  ['Reject of the service', { by: 'reject', reason: 9 }],
  ['Reject for no reason', { by: 'reject', reason: 0 }],
  ['Error that denies the service', { by: 'error', errorClass: 5, errorCode: 29 }],
] as [string, RequestRefusal][]) {
  test(`a forged ${name} teaches nothing once the device has answered as much, and a hail of them little for long`, t => {
    const known = createDeviceMemory(firstBatch(APDU_MAX))
    const well = deviceWith(new Map())
    poll(known, range(500), well)
    let isForged = true
    const once: Device = (asked, isAlone) => {
      const says = isForged ? forged : well(asked, isAlone)
      isForged = false
      return says
    }
    t.is(poll(known, range(500), once, MINUTE).good.length, 500)
    t.deepEqual(poll(known, range(500), well, 2 * MINUTE).sizes, [92, 92, 92, 92, 92, 40])
    for (let minute = 3; minute < 30; minute++) poll(known, range(500), () => forged, minute * MINUTE)
    for (let minute = 30; minute < 45; minute++) t.is(poll(known, range(500), well, minute * MINUTE).good.length, 500)
    t.deepEqual(poll(known, range(500), well, 45 * MINUTE).sizes, [92, 92, 92, 92, 92, 40])
  })
}
