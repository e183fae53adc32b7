import test from 'ava'
import { createRequestThrottle } from '#hub/enrol/request-throttle.ts'

test('what one network asks beyond its share is refused and takes nothing from others, who are bounded together', t => {
  let now = 0
  const throttle = createRequestThrottle({ perNetwork: 3, all: 6 }, () => now)
  const answered = (address: string, times: number) =>
    Array.from({ length: times }, () => throttle(address)).filter(wait => wait === 0).length
  t.is(answered('192.0.2.1', 100), 3)
  t.is(answered('192.0.2.2', 2), 2)
  t.is(answered('192.0.2.3', 2), 1)
  t.is(throttle('192.0.2.4'), 60)
  now = 60_000
  t.is(answered('192.0.2.1', 100), 3)
})
