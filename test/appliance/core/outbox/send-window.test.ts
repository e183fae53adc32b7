import test from 'ava'
import fc from 'fast-check'
import {
  applyAck,
  newWindow,
  reconnect,
  windowRoom,
  stepBack,
  type SendWindow,
  WINDOW_MAX,
} from '#appliance/core/outbox/send-window.ts'

const held = { first: 1, last: 1000 }
const probed = (through: number): SendWindow => {
  const next = applyAck(newWindow(0), through, held)
  if (next === 'diverged') throw new Error('diverged')
  return next
}

test('one message probes the position of the hub, then fifty may be in flight', t => {
  const window = newWindow(10)
  t.is(windowRoom(window), 1)
  t.is(windowRoom({ ...window, sent: 11 }), 0)
  t.is(windowRoom(probed(400)), WINDOW_MAX)
  t.deepEqual(probed(400), { acked: 400, sent: 400, probing: false, patienceMs: 1500 })
})

test('each silence doubles the wait up to ten seconds, and an answer resets it', t => {
  const waits = [newWindow(0)]
  for (let i = 0; i < 4; i++) waits.push(stepBack(waits.at(-1)!))
  t.deepEqual(
    waits.map(({ patienceMs }) => patienceMs),
    [1500, 3000, 6000, 10_000, 10_000],
  )
  const answered = applyAck(waits.at(-1)!, 1, held)
  t.is(answered === 'diverged' ? answered : answered.patienceMs, 1500)
})

test('a silence and a new connection reset to the first unacknowledged message', t => {
  const busy = { ...probed(20), sent: 60 }
  t.like(stepBack(busy), { acked: 20, sent: 20, probing: true })
  t.like(reconnect(busy), { acked: 20, sent: 20, probing: true })
})

test('a late acknowledgement changes nothing', t => {
  const busy = { ...probed(20), sent: 60 }
  t.is(applyAck(busy, 7, held), busy)
  t.is(applyAck(busy, 20, held), busy)
})

test('a hub that is behind its earlier position is believed in answer to a probe', t => {
  t.deepEqual(applyAck(reconnect(probed(500)), 480, held), { acked: 480, sent: 480, probing: false, patienceMs: 1500 })
})

test('the stream diverges when the hub needs dropped messages, or has some that were never written', t => {
  t.is(applyAck(newWindow(99), 40, { first: 100, last: 200 }), 'diverged')
  t.is(applyAck({ ...newWindow(99), probing: false }, 99, { first: 120, last: 200 }), 'diverged')
  t.is(applyAck(newWindow(99), 201, { first: 100, last: 200 }), 'diverged')
  t.not(applyAck(newWindow(99), 99, { first: 100, last: 200 }), 'diverged')
  t.not(applyAck(newWindow(99), 200, { first: 100, last: 200 }), 'diverged')
})

test('no sequence of events puts more than fifty messages in flight or skips one', t => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('ack' as const), through: fc.integer({ min: 0, max: 300 }) }),
    fc.record({ kind: fc.constantFrom('send' as const, 'silence' as const, 'connect' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), steps => {
      let window = newWindow(0)
      for (const each of steps) {
        if (each.kind === 'send') window = { ...window, sent: window.sent + windowRoom(window) }
        if (each.kind === 'silence') window = stepBack(window)
        if (each.kind === 'connect') window = reconnect(window)
        if (each.kind === 'ack') {
          const next = applyAck(window, each.through, held)
          if (next !== 'diverged') window = next
        }
        t.true(window.sent >= window.acked && window.sent - window.acked <= WINDOW_MAX)
      }
    }),
  )
})
