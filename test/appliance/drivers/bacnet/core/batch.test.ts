import test from 'ava'
import {
  afterAnswer,
  afterRefusal,
  afterSilence,
  afterTooLarge,
  type Batch,
  firstBatch,
  fitting,
  plainSize,
  resultBytes,
  sizeOf,
  startLearning,
  withoutMultiple,
} from '#appliance/drivers/bacnet/core/batch.ts'
import { createInvokeIds } from '#appliance/drivers/bacnet/core/invoke-ids.ts'
import { parseTarget, type Target } from '#shared/core/bacnet/object.ts'
import { formatRefusal } from '#appliance/drivers/bacnet/core/refusal.ts'
import type { RequestRefusal } from '#appliance/drivers/bacnet/core/reply.ts'
import { MINUTE } from '#shared/core/time.ts'

const target = (text: string) => parseTarget(text) as Target
const times = (count: number, text: string) => Array.from({ length: count }, () => target(text))

for (const [apdu, size] of [
  [1476, 92],
  [1024, 63],
  [480, 29],
  [206, 12],
  [128, 7],
  [50, 2],
] as const) {
  test(`an APDU of ${apdu} bytes holds ${size} present values`, t => {
    t.like(firstBatch(apdu), { size, multiple: true })
    t.is(fitting(firstBatch(apdu), times(200, 'analog-input,1')), size)
  })
}
for (const [apdu, count] of [
  [1476, 16],
  [480, 5],
  [206, 2],
  [128, 1],
  [50, 1],
] as const) {
  test(`an APDU of ${apdu} bytes holds ${count} priority arrays`, t => {
    t.is(fitting(firstBatch(apdu), times(20, 'analog-output,1/priority-array')), count)
  })
}
for (const [text, bytes] of [
  ['analog-input,1', 16],
  ['analog-output,1/priority-array', 91],
  ['analog-output,1/priority-array[16]', 18],
  ['analog-value,1/255', 16],
  ['analog-value,1/256', 17],
  ['analog-value,1/5000', 17],
  ['analog-value,1/65535', 17],
  ['analog-value,1/65536', 18],
  ['analog-value,1/4194303', 18],
  ['analog-value,1/1000[255]', 19],
  ['analog-value,1/1000[256]', 20],
  ['analog-value,1/1000[65535]', 20],
  ['device,1/70', 54],
  ['large-analog-value,1', 21],
  ['device,1/object-name', 54],
  ['characterstring-value,1', 54],
] as const) {
  test(`the result of ${text} is reckoned at ${bytes} bytes`, t => t.is(resultBytes(target(text)), bytes))
}

test('an entry may ask for smaller batches, and for single reads', t => {
  t.is(fitting(firstBatch(1476, 20), times(50, 'analog-input,1')), 20)
  t.like(firstBatch(1476, 1), { size: 1, multiple: false })
  t.is(fitting(firstBatch(1476, 1), times(50, 'analog-input,1')), 1)
  t.is(firstBatch(65_535).size, 92)
  t.is(firstBatch(0).size, 2)
})
test('values of different sizes share a batch as long as their bytes fit', t => {
  const mixed = [...times(3, 'analog-output,1/priority-array'), ...times(40, 'analog-input,1')]
  t.is(fitting(firstBatch(480), mixed), 3 + Math.floor((477 - 3 * 91) / 16))
})

const NOW = 1_000
const LATER = 10 * MINUTE
const whole = startLearning(firstBatch(1476))
const plain = (count: number) => sizeOf(times(count, 'analog-input,1'))
const like = (size: number, multiple = true): Partial<Batch> => ({ size, multiple })
for (const [refusal, asked, wanted] of [
  [{ by: 'abort', reason: 4 }, 92, like(46)],
  [{ by: 'abort', reason: 4 }, 3, like(1)],
  [{ by: 'abort', reason: 4 }, 1, undefined],
  [{ by: 'abort', reason: 1 }, 92, like(46)],
  [{ by: 'abort', reason: 11 }, 92, like(46)],
  [{ by: 'reject', reason: 1 }, 92, like(46)],
  [{ by: 'reject', reason: 7 }, 92, like(46)],
  [{ by: 'reject', reason: 9 }, 92, like(1, false)],
  [{ by: 'error', errorClass: 5, errorCode: 29 }, 92, like(1, false)],
  [{ by: 'error', errorClass: 5, errorCode: 45 }, 1, like(1, false)],
  [{ by: 'abort', reason: 9 }, 92, undefined],
  [{ by: 'reject', reason: 4 }, 92, undefined],
  [{ by: 'error', errorClass: 1, errorCode: 31 }, 92, undefined],
] as [RequestRefusal, number, Partial<Batch> | undefined][]) {
  test(`after ${formatRefusal(refusal)} to ${asked} points the batch is ${JSON.stringify(wanted)}`, t => {
    const learnt = afterRefusal(whole, plain(asked), refusal, NOW)
    if (wanted) t.like(learnt!.batch, wanted)
    else t.is(learnt, undefined)
  })
}
test('a small request that is declined does not shrink a batch that has worked', t => {
  const proven = afterAnswer(whole, plain(92), 'multiple', NOW)
  t.is(afterRefusal(proven, plain(5), { by: 'abort', reason: 4 }, NOW), undefined)
  t.is(afterRefusal(proven, plain(60), { by: 'abort', reason: 4 }, NOW)!.batch.size, 30)
})

test('a batch that was halved is doubled again after ten minutes, until it is whole', t => {
  let learnt = afterRefusal(whole, plain(92), { by: 'abort', reason: 4 }, NOW)!
  learnt = afterRefusal(learnt, plain(46), { by: 'abort', reason: 4 }, NOW)!
  t.is(plainSize(learnt.batch), 23)
  t.is(plainSize(afterAnswer(learnt, plain(23), 'multiple', NOW + LATER - 1).batch), 23)
  learnt = afterAnswer(learnt, plain(23), 'multiple', NOW + LATER)
  t.is(plainSize(learnt.batch), 46)
  const again = afterRefusal(learnt, plain(46), { by: 'abort', reason: 4 }, NOW + LATER)!
  t.is(plainSize(afterAnswer(again, plain(23), 'multiple', NOW + LATER + 1).batch), 23)
  learnt = afterAnswer(learnt, plain(46), 'multiple', NOW + LATER)
  t.is(plainSize(learnt.batch), 92)
  learnt = afterAnswer(learnt, plain(92), 'multiple', NOW + LATER)
  t.deepEqual([learnt.batch, learnt.growAt], [firstBatch(1476), null])
})
test('a device without ReadPropertyMultiple is asked for two at once after ten minutes', t => {
  const single = withoutMultiple(whole, NOW)
  t.is(plainSize(single.batch), 1)
  t.like(afterAnswer(single, plain(1), 'single', NOW + LATER).batch, like(2))
})

test('what falls silent beyond what has worked is tried at a quarter, but not below what has worked, then alone', t => {
  const answered = afterAnswer(whole, plain(10), 'multiple', NOW)
  t.is(afterSilence(answered, plain(10), NOW), answered)
  const quarter = afterSilence(answered, plain(80), NOW)
  t.is(plainSize(quarter.batch), 20)
  const proven = afterSilence(quarter, plain(20), NOW)
  t.is(plainSize(proven.batch), 10)
  t.is(plainSize(afterAnswer(proven, plain(10), 'multiple', NOW + LATER).batch), 20)
  const alone = afterSilence(afterSilence(whole, plain(3), NOW), plain(1), NOW)
  t.like(alone.batch, like(1, false))
})

test("invoke ids go round from 1 to 255 and are each address's own", t => {
  const ids = createInvokeIds<number>()
  t.deepEqual(
    Array.from({ length: 255 }, (_, i) => ids.open('a', i, 0)),
    Array.from({ length: 255 }, (_, i) => i + 1),
  )
  t.is(ids.open('a', 999, 0), undefined)
  t.is(ids.open('b', 999, 0), 1)
  t.deepEqual([ids.find('a', 1), ids.find('b', 1), ids.find('c', 1)], [0, 999, undefined])
  t.is(ids.all().length, 256)
})

test("an id that was closed is nobody's, and rests until its time", t => {
  const ids = createInvokeIds<string>()
  const open = Array.from({ length: 255 }, () => ids.open('a', 'x', 0)!)
  for (const id of open) ids.close('a', id, id === 7 ? 100 : 500)
  t.is(ids.find('a', 7), undefined)
  t.is(ids.open('a', 'y', 99), undefined)
  t.is(ids.open('a', 'y', 100), 7)
  t.is(ids.open('a', 'z', 499), undefined)
  t.is(ids.open('a', 'z', 500), 8)
})

test('what fails although its parts are answered makes a batch of what was answered, at the third time where it has worked', t => {
  const bytes = (count: number) => 16 * count
  const unproven = afterAnswer(whole, plain(10), 'multiple', NOW)
  t.deepEqual(afterTooLarge(unproven, bytes(80), bytes(20), NOW).batch, { size: 20, bytes: bytes(20), multiple: true })
  t.is(afterTooLarge(unproven, bytes(80), bytes(5), NOW).batch.size, 10, 'as much as has worked')
  const proven = afterAnswer(whole, plain(80), 'multiple', NOW)
  const first = afterTooLarge(proven, bytes(80), bytes(20), NOW)
  const second = afterTooLarge(first, bytes(80), bytes(20), NOW)
  t.deepEqual([first.batch, second.batch], [whole.batch, whole.batch], 'it may have been chance')
  t.is(afterTooLarge(second, bytes(80), bytes(20), NOW).batch.size, 20)
  const trusted = afterAnswer(second, plain(80), 'multiple', NOW)
  t.deepEqual(afterTooLarge(trusted, bytes(80), bytes(20), NOW).batch, whole.batch, 'a good answer takes the doubts away')
})
