import test from 'ava'
import { drainMeter } from '#appliance/core/outbox/drain-meter.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'

test('nothing is said of the first 20 s', t => {
  const meter = drainMeter(1000, 0)
  meter.changed(700, 10 * SECOND)
  t.is(meter.perMinute(700, 19 * SECOND), null)
  t.is(meter.perMinute(700, 20 * SECOND), 900)
})

test('the rate is that of the last three minutes, however often the backlog changes', t => {
  const meter = drainMeter(9000, 0)
  const rows = (at: number) => 9000 - at / SECOND // 60 a minute
  for (let at = 0; at <= 10 * MINUTE; at += SECOND / 2) meter.changed(rows(at), at)
  const rate = meter.perMinute(rows(10 * MINUTE), 10 * MINUTE)!
  t.true(Math.abs(rate - 60) <= 2, `${rate}`)
  t.true(meter.perMinute(rows(10 * MINUTE), 12 * MINUTE)! < 25, 'a minute was falling, two were not')
  t.is(meter.perMinute(rows(10 * MINUTE), 14 * MINUTE), 0)
})

test('a growing backlog has a negative rate', t => {
  const meter = drainMeter(0, 0)
  meter.changed(120, MINUTE)
  t.is(meter.perMinute(120, MINUTE), -120)
})

test('what came before a restart, or before a clock that was set back, does not count', t => {
  for (const restart of [
    (meter: ReturnType<typeof drainMeter>) => meter.restart(5000, 2 * MINUTE),
    (meter: ReturnType<typeof drainMeter>) => (meter.changed(8000, 9 * MINUTE), meter.changed(5000, 2 * MINUTE)),
  ]) {
    const meter = drainMeter(9000, 0)
    restart(meter)
    t.is(meter.perMinute(5000, 2 * MINUTE), null)
    t.is(meter.perMinute(4900, 3 * MINUTE), 100)
  }
})
