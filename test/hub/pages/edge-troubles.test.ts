import test from 'ava'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { formatInstant, DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { pollFailures, readPollReport } from '#shared/core/telemetry/poll-report.ts'
import { edgeReturn, edgeTroubles } from '#hub/pages/edge-troubles.ts'
import { EDGES, NOW } from '../../support/page-fixture.ts'

const at = (ms: number) => formatInstant(ms)
const device = (device_id: string, state: string, since: number) => ({
  ...{ device_id, state, since: at(since), rtt_ms_p50: null, rtt_ms_p95: null, reads: 0, errors: 0 },
  ...{ last_ok_at: null, last_error: null, next_due_at: null, batch_size: null },
})
const COUNTS = { cycles: 1, late_cycles: 0, points_ok: 1, points_stale: 0, points_down: 0, points_fault: 0 }
/** What the hub stores of a report. */
const poll = (devices: object[], given: object = {}) => {
  const body = { enabled: true, running: true, ...COUNTS, devices_total: devices.length, devices, ...given }
  const read = readPollReport(body)
  return { poll_failures: read.ok ? pollFailures(read.value) : undefined }
}
const backlog = (waitsMs: number, drain_per_min = 0) => ({
  ...{ backlog: { rows: 900, oldest_at: at(NOW - waitsMs), drain_per_min }, sent_at: at(NOW), clock_offset_ms: 0 },
})
const certificate = (leftMs: number, due: object = { cert_renewal_due: true }) => ({ cert_not_after: at(NOW + leftMs), ...due })
const disk = (used: number) => ({ disk: { free_bytes: 100 - used, total_bytes: 100 } })

const CASES: [what: string, body: object, found: string | undefined, words?: RegExp][] = [
  [
    'with good figures',
    { ...backlog(MINUTE), ...certificate(60 * DAY, {}), ...disk(50), ...poll([device('a', 'ok', 0)]) },
    undefined,
  ],
  ['that says nothing', {}, undefined],
  [
    'with a device silent for 20 min',
    poll([device('a', 'down', NOW - 20 * MINUTE)]),
    'poll raised 2',
    /1 of 1 device cannot be read: a\. .*15 min/,
  ],
  [
    'with a device silent for 20 min by a clock that is 10 min ahead',
    { ...poll([device('a', 'down', NOW - 10 * MINUTE)]), clock_offset_ms: 10 * MINUTE },
    'poll raised 2,clock raised 2',
  ],
  [
    'with five silent devices',
    poll(['a', 'b', 'c', 'd', 'e', 'ok'].map(id => device(id, id === 'ok' ? 'ok' : 'down', NOW - HOUR))),
    'poll raised 2',
    /5 of 6 devices cannot be read: a, b, c and 2 more/,
  ],
  ['with a device silent for 5 min', poll([device('a', 'down', NOW - 5 * MINUTE)]), 'poll held 2'],
  ['whose polling has stopped', poll([], { running: false }), 'poll raised 2', /polling has stopped/],
  ['without polling', poll([], { enabled: false, running: false }), undefined],
  ['whose messages wait for 3 h', backlog(3 * HOUR), 'backlog raised 2', /900 messages wait to be sent, the oldest for 3 h/],
  ['whose messages wait for 3 h and become fewer', backlog(3 * HOUR, 60), 'backlog held 2'],
  ['whose messages wait for 30 min', backlog(30 * MINUTE), 'backlog held 2'],
  ['whose clock is 40 s ahead', { clock_offset_ms: 40_000 }, 'clock raised 2', /40 s ahead of that of the hub/],
  ['whose clock is 40 s behind', { clock_offset_ms: -40_000 }, 'clock raised 2', /behind that of the hub/],
  ['whose clock is 10 s ahead', { clock_offset_ms: 10_000 }, 'clock held 2'],
  ['whose certificate ends in 10 days and is due', certificate(10 * DAY), 'certificate raised 2', /ends in 10 d/],
  ['whose certificate ends in 2 days', certificate(2 * DAY, {}), 'certificate raised 1'],
  ['whose certificate has ended', certificate(-DAY, {}), 'certificate raised 1', /has ended/],
  ['of a short certificate that is not due', certificate(10 * DAY, {}), undefined],
  ['whose disk is 91 % full', disk(91), 'disk raised 2', /91 % of its disk/],
  ['whose disk is 97 % full', disk(97), 'disk raised 1'],
  ['whose disk is 86 % full', disk(86), 'disk held 2'],
  ['whose disk is 84 % full', disk(84), undefined],
]
for (const [what, status_body, found, words] of CASES) {
  test(`an edge ${what}: ${found ?? 'no trouble'}`, t => {
    const edge: EdgeRecord = { ...EDGES[0]!, online: true, status_body: status_body as Record<string, unknown> }
    const troubles = edgeTroubles(edge, NOW)
    t.deepEqual(
      troubles.map(one => `${one.kind} ${one.isRaised ? 'raised' : 'held'} ${one.priority}`),
      found?.split(',') ?? [],
    )
    if (words) t.regex(troubles[0]!.detail, words)
  })
}

for (const [what, body, words] of [
  ['that says nothing of what waits', {}, 'It was silent for 2 h and sends again.'],
  [
    'with nothing left to send',
    { backlog: { rows: 0, oldest_at: null } },
    'It was silent for 2 h and sends again. What it read meanwhile has come.',
  ],
  [
    'that sends only what is new',
    { backlog: { rows: 2, oldest_at: at(NOW - 10 * MINUTE) } },
    'It was silent for 2 h and sends again. What it read meanwhile has come.',
  ],
  [
    'whose clock is 1 h ahead, with half of it sent',
    { backlog: { rows: 900, oldest_at: at(NOW - 30 * MINUTE) }, clock_offset_ms: HOUR },
    'It was silent for 2 h and sends again. 50 % of that time has come; 900 messages wait to be sent.',
  ],
  [
    'that has sent nothing of it',
    { backlog: { rows: 1, oldest_at: at(NOW - 3 * HOUR) } },
    'It was silent for 2 h and sends again. 0 % of that time has come; 1 message waits to be sent.',
  ],
] as const) {
  test(`the return of an edge ${what} says how much of the silence has come`, t => {
    const edge = { ...EDGES[0]!, status_body: body }
    t.is(edgeReturn(edge, { from: NOW - 150 * MINUTE, to: NOW - 30 * MINUTE }, NOW), words)
  })
}
