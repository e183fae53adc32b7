import test from 'ava'
import type { AlertCondition } from '#shared/core/alerts/alert.ts'
import { type AlertRoute, deliverableAt, digestDueAt, nextOpening, routeTakes } from '#shared/core/alerts/alert-route.ts'

const BERLIN = 'Europe/Berlin'
const at = (text: string): number => Date.parse(text)
const CONDITION: AlertCondition = {
  key: 'finding/b1/ahu-1/AHU-SAT',
  kind: 'sensor',
  building_id: 'b1',
  building_name: 'Library',
  timezone: BERLIN,
  priority: 2,
  title: 'Supply air too warm (ahu-1)',
  detail: 'It was 4 °C above its set point.',
  since: 0,
  path: '/faults/f1',
}
const ROUTE: AlertRoute = {
  route_id: 'r1',
  name: 'Plant team',
  enabled: true,
  webhook_url: 'https://example.org/',
  priority_max: 2,
  urgent_at_once: true,
}
const WORKING = { days: [1, 2, 3, 4, 5], from: '07:00', to: '17:00' }

for (const [title, route, takes] of [
  ['the priority', {}, true],
  ['a more urgent limit', { priority_max: 1 }, false],
  ['its building', { building_ids: ['b0', 'b1'] }, true],
  ['another building', { building_ids: ['b2'] }, false],
  ['its kind', { kinds: ['sensor'] }, true],
  ['another kind', { kinds: ['edge'] }, false],
  ['a route that is off', { enabled: false }, false],
] as [string, Partial<AlertRoute>, boolean][]) {
  test(`a route takes an alert by ${title}: ${takes}`, t => {
    t.is(routeTakes({ ...ROUTE, ...route }, CONDITION), takes)
  })
}

for (const [title, now, opens] of [
  ['within the hours: now', '2026-03-02T09:00:00+01:00', '2026-03-02T09:00:00+01:00'],
  ['at the beginning: now', '2026-03-02T07:00:00+01:00', '2026-03-02T07:00:00+01:00'],
  ['at the end: the next day', '2026-03-02T17:00:00+01:00', '2026-03-03T07:00:00+01:00'],
  ['before the hours: the same day', '2026-03-02T03:00:00+01:00', '2026-03-02T07:00:00+01:00'],
  ['on Friday evening before the clocks go forward: Monday', '2026-03-27T18:00:00+01:00', '2026-03-30T07:00:00+02:00'],
  ['on Friday evening before the clocks go back: Monday', '2026-10-23T18:00:00+02:00', '2026-10-26T07:00:00+01:00'],
] as const) {
  test(`hours of work open ${title}`, t => {
    t.is(new Date(nextOpening(WORKING, BERLIN, at(now))).toISOString(), new Date(at(opens)).toISOString())
  })
}

test('hours that begin in the hour that spring skips begin after it', t => {
  const nights = { days: [7], from: '02:30', to: '24:00' }
  t.is(nextOpening(nights, BERLIN, at('2026-03-29T01:00:00+01:00')), at('2026-03-29T03:30:00+02:00'))
})

test('high priority does not wait for the hours unless the route says so', t => {
  const night = at('2026-03-02T03:00:00+01:00')
  const route = { ...ROUTE, hours: WORKING }
  t.is(deliverableAt(route, { ...CONDITION, priority: 1 }, night), night)
  t.is(deliverableAt({ ...route, urgent_at_once: false }, { ...CONDITION, priority: 1 }, night), at('2026-03-02T07:00:00+01:00'))
  t.is(deliverableAt(route, CONDITION, night), at('2026-03-02T07:00:00+01:00'))
})

test('a digest is due at 07:00 of its weekday', t => {
  const monday = { ...ROUTE, digest_day: 1 }
  t.is(digestDueAt(monday, BERLIN, at('2026-03-04T12:00:00+01:00')), at('2026-03-02T07:00:00+01:00'))
  t.is(digestDueAt(monday, BERLIN, at('2026-03-02T06:59:59+01:00')), at('2026-02-23T07:00:00+01:00'))
  t.is(digestDueAt(monday, BERLIN, at('2026-03-30T07:00:00+02:00')), at('2026-03-30T07:00:00+02:00'))
  t.is(digestDueAt(ROUTE, BERLIN, at('2026-03-04T12:00:00+01:00')), undefined)
})
