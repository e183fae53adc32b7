import test from 'ava'
import { clockOffsetMeter } from '#appliance/core/outbox/clock-offset.ts'

test('the offset is measured in the middle between sending and the answer', t => {
  const meter = clockOffsetMeter()
  t.is(meter.offset(), null)
  meter.messages.sent(1, 100_000)
  meter.messages.answered(1, 9_900, 100_200)
  t.is(meter.offset(), 90_200)
})

test('the quickest answer of ten minutes is used, and a slower one after that', t => {
  const meter = clockOffsetMeter()
  const trip = (seq: number, at: number, ms: number, ahead: number) => {
    meter.messages.sent(seq, at)
    meter.messages.answered(seq, at + ms / 2 - ahead, at + ms)
    return meter.offset()
  }
  t.is(trip(1, 0, 100, 40), 40)
  t.is(trip(2, 1_000, 4_000, 70), 40)
  t.is(trip(3, 10_000, 50, 50), 50)
  t.is(trip(4, 700_000, 4_000, 60), 60)
})

test('an answer to a message sent twice, long ago, never, or before the clock was set back is not used', t => {
  const meter = clockOffsetMeter()
  meter.messages.sent(1, 1_000)
  meter.messages.sent(1, 2_000)
  meter.messages.answered(1, 0, 2_100)
  meter.messages.sent(2, 3_000)
  meter.messages.answered(2, 0, 14_000)
  meter.messages.answered(3, 0, 14_000)
  meter.messages.sent(4, 20_000)
  meter.messages.answered(4, 0, 19_000)
  t.is(meter.offset(), null)
})

test('a status is an exchange of its own: its answer leaves messages in flight, and the quicker of both is used', t => {
  const meter = clockOffsetMeter()
  meter.messages.sent(1, 1_000)
  meter.statuses.sent(1_100, 1_100)
  meter.statuses.answered(1_100, 1_050, 1_200)
  t.is(meter.offset(), 100)
  meter.messages.answered(1, 920, 1_240)
  t.is(meter.offset(), 100, 'it was slower')
  meter.messages.sent(2, 2_000)
  meter.statuses.sent(2_010, 2_010)
  meter.statuses.answered(2_010, 1_800, 2_200)
  meter.messages.answered(2, 1_800, 2_050)
  t.is(meter.offset(), 225)
})
