import test from 'ava'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { LiveValues } from '#shared/flow/ingest/live-values.ts'

const NOW = Date.UTC(2026, 2, 1, 12)
const readings = (count: number, v: number | string, from = 0): Reading[] =>
  Array.from({ length: count }, (_, i) => ({ id: `p${from + i}`, t: NOW, v, q: 'good' }))
const shown = (live: LiveValues, building: string, count: number, now = NOW) =>
  readings(count, 0).filter(({ id }) => live.of(building, id, now)).length

test('one building holds some 20,000 readings, and takes no room from others', t => {
  const live = new LiveValues()
  for (let from = 0; from < 300_000; from += 500) live.record('one', readings(500, 1, from), NOW)
  const held = shown(live, 'one', 300_000)
  t.true(held > 15_000 && held <= 20_000, String(held))
  live.record('other', readings(5000, 2), NOW)
  t.is(shown(live, 'other', 5000), 5000)
  live.record('one', readings(5000, 3), NOW)
  t.is(live.of('one', 'p4999', NOW)?.v, 3, 'newer readings of points that are held are shown')
})

test('long texts count by their length, and what is forgotten leaves its room', t => {
  const live = new LiveValues()
  for (let from = 0; from < 20_000; from += 200) live.record('one', readings(200, 'x'.repeat(1024), from), NOW)
  t.true(shown(live, 'one', 20_000) < 1000)
  const later = NOW + 121_000
  live.record('other', [], later)
  live.record('one', readings(10_000, 1), later)
  t.is(shown(live, 'one', 10_000, later), 10_000)
})
