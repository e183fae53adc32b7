import test from 'ava'
import fc from 'fast-check'
import { acknowledge, openWindow, reconnect, room, stepBack, type Window, WINDOW_MAX } from '#appliance/core/outbox/window.ts'

const held = { first: 1, last: 1000 }
const probed = (through: number): Window => {
  const next = acknowledge(openWindow(0), through, held)
  if (next === 'parted') throw new Error('parted')
  return next
}

test('one message asks where the hub stands, then fifty may be on the way', t => {
  const window = openWindow(10)
  t.is(room(window), 1)
  t.is(room({ ...window, sent: 11 }), 0)
  t.is(room(probed(400)), WINDOW_MAX)
  t.deepEqual(probed(400), { acked: 400, sent: 400, probing: false, patienceMs: 1500 })
})

test('after each silence it waits longer, up to ten seconds, and an answer makes it patient again', t => {
  const waits = [openWindow(0)]
  for (let i = 0; i < 4; i++) waits.push(stepBack(waits.at(-1)!))
  t.deepEqual(
    waits.map(({ patienceMs }) => patienceMs),
    [1500, 3000, 6000, 10_000, 10_000],
  )
  const answered = acknowledge(waits.at(-1)!, 1, held)
  t.is(answered === 'parted' ? answered : answered.patienceMs, 1500)
})

test('a step back and a new connection go to the first message that is not acknowledged', t => {
  const busy = { ...probed(20), sent: 60 }
  t.like(stepBack(busy), { acked: 20, sent: 20, probing: true })
  t.like(reconnect(busy), { acked: 20, sent: 20, probing: true })
})

test('an acknowledgement that comes late changes nothing', t => {
  const busy = { ...probed(20), sent: 60 }
  t.is(acknowledge(busy, 7, held), busy)
  t.is(acknowledge(busy, 20, held), busy)
})

test('a hub that stands further back than it did is believed when it answers a probe', t => {
  t.deepEqual(acknowledge(reconnect(probed(500)), 480, held), { acked: 480, sent: 480, probing: false, patienceMs: 1500 })
})

test('the stream parts when the hub asks for what is gone, or has what was never written', t => {
  t.is(acknowledge(openWindow(99), 40, { first: 100, last: 200 }), 'parted')
  t.is(acknowledge({ ...openWindow(99), probing: false }, 99, { first: 120, last: 200 }), 'parted')
  t.is(acknowledge(openWindow(99), 201, { first: 100, last: 200 }), 'parted')
  t.not(acknowledge(openWindow(99), 99, { first: 100, last: 200 }), 'parted')
  t.not(acknowledge(openWindow(99), 200, { first: 100, last: 200 }), 'parted')
})

test('whatever comes in whatever order, no more than fifty are on the way and nothing is skipped', t => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('ack' as const), through: fc.integer({ min: 0, max: 300 }) }),
    fc.record({ kind: fc.constantFrom('send' as const, 'silence' as const, 'connect' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), steps => {
      let window = openWindow(0)
      for (const each of steps) {
        if (each.kind === 'send') window = { ...window, sent: window.sent + room(window) }
        if (each.kind === 'silence') window = stepBack(window)
        if (each.kind === 'connect') window = reconnect(window)
        if (each.kind === 'ack') {
          const next = acknowledge(window, each.through, held)
          if (next !== 'parted') window = next
        }
        t.true(window.sent >= window.acked && window.sent - window.acked <= WINDOW_MAX)
      }
    }),
  )
})
