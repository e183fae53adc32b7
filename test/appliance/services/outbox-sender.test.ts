/** When the messages of an outbox are sent, and again, on a virtual timer. */
import { mock } from 'node:test'
import test from 'ava'
import { clockOffsetMeter } from '#appliance/core/outbox/clock-offset.ts'
import { OutboxSender } from '#appliance/services/outbox-sender.ts'
import type { OutgoingMessage, OutboxReader } from '#appliance/sinks/outbox-reader.ts'
import { MINUTE } from '#shared/core/time.ts'
import { reading, silent } from '../../support/sites/transport-site.ts'

const STREAM = '00000000-0000-4000-8000-000000000001'

function open(waiting: number) {
  mock.timers.enable({ apis: ['setTimeout'] })
  const message = (seq: number): OutgoingMessage => ({
    ...{ stream: STREAM, seq },
    message: { at: seq, message_id: `m-${seq}`, protocol: 'bacnet', readings: [reading(seq)] },
  })
  const reader: OutboxReader = {
    next: (after, limit) => Array.from({ length: Math.min(limit, waiting - after) }, (_, i) => message(after + 1 + i)),
    span: () => ({ stream: STREAM, first: 1, last: waiting, acked: 0 }),
    settle: () => undefined,
    beginStream: async () => undefined,
    dropped: () => 0,
    thinned: () => 0,
    note: undefined,
    onWritten: () => undefined,
  }
  const sent: number[] = []
  const hold = { on: false }
  const time = { now: 0 }
  const clocks = clockOffsetMeter()
  const sender = new OutboxSender({
    reader,
    edge: { site_id: 'A', edge_id: 'e1' },
    building: () => 'b1',
    clock: { now: () => time.now, sleep: async () => undefined },
    publish: async (_topic, _body, { seq }) => void sent.push(seq),
    isHeldBack: () => hold.on,
    clocks: () => clocks.messages,
    log: silent,
  })
  return { sender, sent, hold, time, through: (through_seq: number) => sender.acknowledged({ stream: STREAM, through_seq }) }
}
test.afterEach.always(() => mock.timers.reset())

test.serial('a silent destination is tried with one message after 1.5 s, 3 s and 6 s', t => {
  const { sender, sent } = open(5)
  sender.connected()
  t.deepEqual(sent, [1])
  for (const [ms, times] of [
    [1499, 1],
    [1, 2],
    [2999, 2],
    [1, 3],
    [5999, 3],
    [1, 4],
  ] as const) {
    mock.timers.tick(ms)
    t.deepEqual(sent, Array(times).fill(1), `after ${ms} ms more`)
  }
})

test.serial('a destination that stores nothing more is tried with one message every five minutes', async t => {
  const { sender, sent, hold, through } = open(5)
  sender.connected()
  await through(1)
  t.deepEqual(sent, [1, 2, 3, 4, 5])
  hold.on = true
  sender.holdChanged()
  mock.timers.tick(5 * MINUTE - 1)
  t.is(sent.length, 5)
  mock.timers.tick(1)
  t.deepEqual(sent.slice(5), [2])
  mock.timers.tick(5 * MINUTE)
  t.deepEqual(sent.slice(5), [2, 2])
  hold.on = false
  sender.holdChanged()
  t.deepEqual(sent.slice(7), [2])
})

test.serial('nothing is sent after the connection has ended', t => {
  const { sender, sent } = open(5)
  sender.connected()
  sender.disconnected()
  mock.timers.tick(5 * MINUTE)
  t.deepEqual(sent, [1])
})

test.serial('how fast a backlog falls is told of one session, from 20 s after it began', async t => {
  const { sender, time, through } = open(5000)
  const rate = () => sender.state().drain_per_min
  time.now = 10 * MINUTE
  t.is(rate(), 0, 'nothing left while there was no session')
  sender.connected()
  t.is(rate(), null)
  await through(100)
  time.now += MINUTE / 2
  await through(500)
  t.is(rate(), 1000)
  sender.disconnected()
  t.is(rate(), null)
})
