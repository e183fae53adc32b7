/** Bounds on guesses at passwords and secrets, by network and in total. */
import test from 'ava'
import { HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { openThrottle, rememberNetworks, type Throttle } from '#shared/node/auth/login-throttle.ts'

const START = Date.UTC(2026, 2, 1)

function open(known = rememberNetworks()) {
  const clock = { now: START }
  return { clock, known, throttle: openThrottle(() => clock.now, known) }
}

/** @returns how many of `tries` wrong guesses are let through */
function guess(throttle: Throttle, tries: number, one: (i: number) => { network: string; name: string }): number {
  let admitted = 0
  for (let i = 0; i < tries; i++) {
    if (throttle.waitSecs(one(i)) > 0) continue
    admitted++
    throttle.failed(one(i))
  }
  return admitted
}

test('invented names give no fresh guesses at a name that was guessed at before', t => {
  const { throttle } = open()
  const admin = { network: '10.0.0.1', name: 'admin' }
  t.is(
    guess(throttle, 20, () => admin),
    8,
  )
  guess(throttle, 10_050, i => ({ network: '10.0.0.1', name: `invented ${i}` }))
  t.is(
    guess(throttle, 20, () => admin),
    0,
  )
})

test('one network has 32 failures in a quarter of an hour, whatever names it uses', t => {
  const { throttle, clock } = open()
  const invented = (i: number) => ({ network: '10.0.0.1', name: `name ${i}` })
  t.is(guess(throttle, 1000, invented), 32)
  t.is(throttle.waitSecs({ network: '10.0.0.1', name: 'another' }), (15 * MINUTE) / SECOND)
  t.is(throttle.waitSecs({ network: '10.0.0.2', name: 'another' }), 0)
  clock.now += 15 * MINUTE
  t.is(guess(throttle, 1000, invented), 32)
})

test('a name that many networks guess at is left one guess an hour for each, and none beyond 500', t => {
  const { throttle, clock } = open()
  const spread = (i: number) => ({ network: `network ${i}`, name: 'admin' })
  t.is(guess(throttle, 100, spread), 100)
  const late = { network: 'late', name: 'admin' }
  t.is(throttle.waitSecs(late), 0, 'somebody with the right password still gets in')
  t.is(
    guess(throttle, 8, () => late),
    1,
  )
  t.is(
    guess(throttle, 10_000, i => spread(i + 1000)),
    399,
  )
  t.is(throttle.waitSecs({ network: 'later', name: 'admin' }), HOUR / SECOND)
  t.is(throttle.waitSecs({ network: 'later', name: 'viewer' }), 0)
  clock.now += HOUR
  t.is(
    guess(throttle, 8, () => late),
    8,
  )
})

test('all names together have 1000 failures an hour', t => {
  const { throttle } = open()
  t.is(
    guess(throttle, 20_000, i => ({ network: `network ${i}`, name: `name ${i % 7}` })),
    1000,
  )
})

test('who has signed in from a network before gets in whatever others do, and is bounded there all the same', t => {
  const { throttle, known } = open()
  const home = { network: 'home', name: 'admin' }
  throttle.succeeded(home)
  guess(throttle, 20_000, i => ({ network: `network ${i}`, name: `name ${i % 7}` }))
  guess(throttle, 20_000, i => ({ network: `network ${i}`, name: 'admin' }))
  t.true(throttle.waitSecs({ network: 'home', name: 'viewer' }) > 0)
  t.is(
    guess(throttle, 100, () => home),
    8,
  )
  const restarted = openThrottle(() => START, known)
  guess(restarted, 20_000, i => ({ network: `network ${i}`, name: 'admin' }))
  t.is(restarted.waitSecs(home), 0)
})

test('tries that are refused do not make the wait longer', t => {
  const { throttle, clock } = open()
  const admin = { network: '10.0.0.1', name: 'admin' }
  guess(throttle, 8, () => admin)
  for (let i = 0; i < 15; i++) {
    clock.now += MINUTE - 1
    guess(throttle, 100, () => admin)
  }
  clock.now += 15
  t.is(throttle.waitSecs(admin), 0)
})

test('a value that is repeated is one guess', t => {
  const { throttle } = open()
  const key = { network: '10.0.0.1', name: 'key' }
  for (let i = 0; i < 50; i++) throttle.failed(key, 'same')
  t.is(throttle.waitSecs(key), 0)
  for (let i = 0; i < 7; i++) throttle.failed(key, `other ${i}`)
  t.true(throttle.waitSecs(key) > 0)
})

test('a clock that is set back keeps nobody waiting longer than the window', t => {
  const { throttle, clock } = open()
  const admin = { network: '10.0.0.1', name: 'admin' }
  guess(throttle, 8, () => admin)
  clock.now -= 30 * 24 * HOUR
  t.is(throttle.waitSecs(admin), (15 * MINUTE) / SECOND)
  clock.now += 15 * MINUTE
  t.is(throttle.waitSecs(admin), 0)
})

test('64 networks are remembered for a name, the last ones used', t => {
  const known = rememberNetworks()
  for (let i = 0; i < 65; i++) known.add({ network: `${i}`, name: 'admin' })
  t.false(known.has({ network: '0', name: 'admin' }))
  t.true(known.has({ network: '1', name: 'admin' }))
  t.false(known.has({ network: '1', name: 'viewer' }))
})
