/** Assembly of segmented answers, and the acknowledgements that the device receives. */
import test from 'ava'
import { readApdu } from '#appliance/drivers/bacnet/core/frame.ts'
import { type Assembly, type Segment, type SegmentAck, takeSegment } from '#appliance/drivers/bacnet/core/segments.ts'
import { range } from '../harness.ts'
import { hex } from '../../../../support/wire.ts'

const part = (sequence: number, { isLast = false, window = 4, bytes = 1 } = {}): Segment => ({
  invokeId: 1,
  service: 12,
  sequence,
  window,
  isLast,
  payload: Buffer.alloc(bytes, sequence),
})

/** Feeds parts and returns what is sent back, as `+2` or `-2` for an acknowledgement of part 2, and how it ended. */
function feed(segments: Segment[]): { acks: string[]; end: string; bytes: number[] } {
  let assembly: Assembly | undefined
  const acks: string[] = []
  const write = ({ isNegative, sequence }: SegmentAck) => `${isNegative ? '-' : '+'}${sequence}`
  for (const segment of segments) {
    const progress = takeSegment(assembly, segment)
    if ('ack' in progress && progress.ack) acks.push(write(progress.ack))
    if (progress.state === 'more') assembly = progress.assembly
    else if (progress.state !== 'foreign') {
      return { acks, end: progress.state, bytes: progress.state === 'whole' ? [...progress.payload] : [] }
    }
  }
  return { acks, end: assembly ? 'more' : 'nothing', bytes: [] }
}

for (const [what, sequences, acks, end] of [
  ['in order, acknowledged after the first and after each window', [0, 1, 2, 3, 4, 5, 6], ['+0', '+4', '+6'], 'whole'],
  ['of two parts', [0, 6], ['+0', '-0'], 'more'],
  ['with a part lost, which is asked for once', [0, 1, 3, 4, 2, 3, 4, 5, 6], ['+0', '-1', '+5', '+6'], 'whole'],
  ['with parts doubled on the way', [0, 1, 1, 2, 2, 3, 4, 5, 6], ['+0', '+4', '+6'], 'whole'],
  ['with an acknowledgement lost, which is repeated', [0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6], ['+0', '+4', '+4', '+6'], 'whole'],
  [
    'with a report of a gap lost, whose window ends before ours',
    [0, 1, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6],
    ['+0', '-1', '+1', '+4', '+6'],
    'whole',
  ],
  ['that does not begin at the beginning', [1, 2, 3], [], 'nothing'],
] as const) {
  test(`an answer ${what}`, t => {
    const fed = feed(sequences.map(sequence => part(sequence, { isLast: sequence === 6 })))
    t.deepEqual([fed.acks, fed.end], [[...acks], end])
    if (end === 'whole') t.deepEqual(fed.bytes, [0, 1, 2, 3, 4, 5, 6])
  })
}

test('at most eight parts are on their way, and at most 127 may be offered', t => {
  t.deepEqual(feed(range(10).map(i => part(i, { window: 127 }))).acks, ['+0', '+8'])
  t.is(readApdu(hex('3c 01 00 80 0c')), undefined)
  t.is(readApdu(hex('3c 01 00 00 0c')), undefined)
  t.like(readApdu(hex('3c 01 00 7f 0c 01')), { window: 127, isLast: false, sequence: 0 })
})

test('an answer ends at 64 kB and at 256 parts', t => {
  const last = (count: number, bytes: number) => range(count).map(i => part(i & 0xff, { bytes, isLast: i === count - 1 }))
  t.is(feed(last(256, 256)).end, 'whole')
  t.is(feed(last(256, 256)).bytes.length, 65_536)
  t.is(feed(last(257, 1)).end, 'too_large')
  t.is(feed(last(46, 1450)).end, 'too_large')
})

test('a part to another service changes nothing', t => {
  const begun = takeSegment(undefined, part(0))
  t.is(begun.state, 'more')
  if (begun.state === 'more') t.is(takeSegment(begun.assembly, { ...part(1), service: 14 }).state, 'foreign')
})
