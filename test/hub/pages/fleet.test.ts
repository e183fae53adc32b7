import { FRESH_MS } from '#shared/core/telemetry/fresh-data.ts'
import test from 'ava'
import fc from 'fast-check'
import { DAY, HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import { edgeBacklogCourse, healthOf, reportedBy } from '#hub/pages/fleet-status.ts'
import { reportAge, stateAge } from '#hub/pages/edge-words.ts'
import { GERMAN } from '#shared/central/ui/language/german.ts'
import { inLanguage } from '#shared/node/http/language.ts'
import { EDGES, NOW } from '../../support/page-fixture.ts'

/** The last of each: for how long it has been so. */
for (const [online, age, status, reason, lasted] of [
  [true, 20 * SECOND, 'operational', 'session open, data fresh', 6 * HOUR],
  [true, FRESH_MS, 'operational', 'session open, data fresh', 6 * HOUR],
  [true, FRESH_MS + 1, 'reduced', 'session open, data old', 1],
  [true, null, 'reduced', 'session open, no data yet', 3 * DAY],
  [false, 20 * SECOND, 'reduced', 'data fresh, session closed', 3 * DAY],
  [false, FRESH_MS + 1, 'disconnected', 'session closed, data old', 1],
  [false, null, 'disconnected', 'session closed, no data yet', 3 * DAY],
] as const) {
  test(`an edge with its session ${online ? 'open' : 'closed'} and data of age ${age} is ${status}`, t => {
    const edge = { ...EDGES[0]!, online, last_data_at: age === null ? null : NOW - age }
    t.deepEqual(healthOf(edge, NOW), { status, reason, since: NOW - lasted })
  })
}

test('of an edge that was operational before that was noted nobody knows since when', t =>
  t.false('since' in healthOf({ ...EDGES[0]!, fresh_since: null }, NOW)))

test('an edge is operational since both of its signals are good', t =>
  t.is(healthOf({ ...EDGES[0]!, session_changed_at: NOW - HOUR }, NOW).since, NOW - HOUR))

test('an edge that never connected is pending', t =>
  t.is(healthOf({ ...EDGES[0]!, online: false, session_changed_at: null, last_data_at: null }, NOW).status, 'pending'))

test('an edge id that two processes use is reduced until ten minutes pass without a second process', t => {
  const shared = { boot_ids: ['a', 'b'], since: NOW - 60 * SECOND, last_at: NOW - 20 * SECOND }
  const edge = { ...EDGES[0]!, online: true, last_data_at: NOW, status_body: { shared } }
  const expected = {
    status: 'reduced',
    reason: '2 processes use this edge id, so nothing of them is stored: give each appliance its own',
    since: NOW - 60 * SECOND,
  } as const
  t.deepEqual(healthOf(edge, NOW), expected)
  t.deepEqual(healthOf({ ...edge, online: false }, NOW), expected)
  t.is(healthOf({ ...edge, status_body: { shared: { ...shared, last_at: NOW - 601 * SECOND } } }, NOW).status, 'operational')
})

test('a status message may write instants as text or as milliseconds', t => {
  const body = {
    clock_offset_ms: -90_000,
    sent_at: '2026-11-20T20:00:00Z',
    backlog: { rows: 7, oldest_at: '2026-11-20T17:02:10Z', drain_per_min: -4.5 },
    cert_not_after: NOW,
    dropped: 5,
    thinned: 9,
    disk: { free_bytes: 90, total_bytes: 1000 },
  }
  t.deepEqual(reportedBy(body), {
    backlog_rows: 7,
    backlog_oldest_at: NOW - 3 * 3_600_000,
    backlog_drain_per_min: -4.5,
    sent_at: Date.parse('2026-11-20T20:01:30Z'),
    clock_offset_ms: -90_000,
    cert_not_after: NOW,
    dropped: 5,
    thinned: 9,
    disk_used_percent: 91,
    shared: null,
    last_check_at: null,
    poll_failures: null,
  })
})

test('a backlog is foretold from when the edge said it, and not while its session is closed', t => {
  const body = (sent_at: string, drain_per_min: number) => ({ sent_at, backlog: { rows: 600, oldest_at: null, drain_per_min } })
  const course = (sent_at: number, isOnline: boolean) =>
    edgeBacklogCourse(reportedBy(body(new Date(sent_at).toISOString(), 60)), isOnline, NOW)
  t.deepEqual(course(NOW - MINUTE, true), { state: 'falling', per_minute: 60, empty_at: NOW + 9 * MINUTE })
  t.deepEqual(course(NOW - MINUTE, false), { state: 'unknown' })
  // A clock that is far off foretells nothing from its own time.
  t.deepEqual(course(NOW + 30 * DAY, true), { state: 'falling', per_minute: 60, empty_at: NOW + 10 * MINUTE })
})

test('values of a status message that are not finite numbers are read as null', t => {
  const body = fc.dictionary(
    fc.constantFrom('backlog', 'disk', 'clock_offset_ms', 'cert_not_after', 'dropped', 'x'),
    fc.anything(),
  )
  const property = fc.property(body, fields => {
    for (const value of Object.values(reportedBy(fields))) if (value !== null) return Number.isFinite(value)
    return true
  })
  t.notThrows(() => fc.assert(property))
})

test('the words say for how long an edge is in its state, and how old the figures of a silent one are', t => {
  const here = { now: NOW, timezone: 'UTC' }
  const health = { status: 'reduced', reason: '', since: NOW - 2 * MINUTE } as const
  t.is(stateAge(health, here), ' (for 2 min)')
  t.is(
    inLanguage(GERMAN, () => stateAge(health, here)),
    ' (seit 2 min)',
  )
  t.is(stateAge({ status: 'operational', reason: '' }, here), '')
  const said = (online: boolean, sent_at: number | null) => String(reportAge({ online }, { ...reportedBy({}), sent_at }, here))
  t.regex(said(false, NOW - 2 * DAY), />Its figures are 2 d old</)
  for (const [online, sent_at] of [
    [true, NOW - 2 * DAY],
    [false, NOW - FRESH_MS],
    [false, null],
  ] as const)
    t.is(said(online, sent_at), 'false')
})
