import test from 'ava'
import { afterRefusal, firstBatch } from '#shared/core/bacnet/batch.ts'
import { invokeIds } from '#shared/core/bacnet/invoke-ids.ts'
import { formatRefusal } from '#shared/core/bacnet/refusal.ts'
import type { Refusal } from '#shared/core/bacnet/reply.ts'

for (const [apdu, size] of [
  [1476, 92],
  [1024, 63],
  [480, 29],
  [206, 12],
  [128, 7],
  [50, 2],
] as const) {
  test(`an APDU of ${apdu} bytes holds ${size} present values`, t => t.deepEqual(firstBatch(apdu), { size, multiple: true }))
}
test('an entry may ask for smaller batches, and for single reads', t => {
  t.deepEqual(firstBatch(1476, 20), { size: 20, multiple: true })
  t.deepEqual(firstBatch(1476, 1), { size: 1, multiple: false })
  t.deepEqual(firstBatch(65_535), { size: 92, multiple: true })
})

const single = { size: 1, multiple: false }
for (const [refusal, asked, wanted] of [
  [{ by: 'abort', reason: 4 }, 92, { size: 46, multiple: true }],
  [{ by: 'abort', reason: 4 }, 3, { size: 1, multiple: true }],
  [{ by: 'abort', reason: 4 }, 1, single],
  [{ by: 'reject', reason: 9 }, 92, single],
  [{ by: 'abort', reason: 9 }, 92, undefined],
  [{ by: 'reject', reason: 4 }, 92, undefined],
  [{ by: 'error', errorClass: 1, errorCode: 31 }, 92, undefined],
] as [Refusal, number, unknown][]) {
  test(`after ${formatRefusal(refusal)} to ${asked} points the batch is ${JSON.stringify(wanted)}`, t => {
    t.deepEqual(afterRefusal({ size: 92, multiple: true }, asked, refusal), wanted)
  })
}
test('a refusal of a single read changes nothing', t => {
  t.is(afterRefusal(single, 1, { by: 'abort', reason: 4 }), undefined)
})

test("invoke ids go round from 1 to 255 and are each address's own", t => {
  const ids = invokeIds<number>()
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
  const ids = invokeIds<string>()
  const open = Array.from({ length: 255 }, () => ids.open('a', 'x', 0)!)
  for (const id of open) ids.close('a', id, id === 7 ? 100 : 500)
  t.is(ids.find('a', 7), undefined)
  t.is(ids.open('a', 'y', 99), undefined)
  t.is(ids.open('a', 'y', 100), 7)
  t.is(ids.open('a', 'z', 499), undefined)
  t.is(ids.open('a', 'z', 500), 8)
})
