import { deflateRawSync } from 'node:zlib'
import test from 'ava'
import { isId } from '#shared/core/model/model.ts'
import fc from 'fast-check'
import { MESSAGE_MAX, packBody, unpackBody } from '#shared/core/telemetry/body.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import { readFindings, writeFindings } from '#shared/core/telemetry/findings.ts'
import { receiveBody } from '#shared/core/telemetry/message.ts'
import { readMetadata, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { readPollReport, REPORT_DEVICES_MAX, writePollReport } from '#shared/core/telemetry/poll-report.ts'
import {
  checkedAt,
  isStatusAnswer,
  readAck,
  readStatus,
  readStatusAnswer,
  writeStatus,
  writeStatusAnswer,
} from '#shared/core/telemetry/status.ts'
import { readTelemetry, writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { envelope, finding, MESSAGE_ID, NOON, STREAM } from '../../../support/messages.ts'
import { edgeModel, pollStatus } from '../../../support/sites/transport-site.ts'

/** Through bytes and back, as on the wire. */
function wire(body: object): Record<string, unknown> {
  const unpacked = unpackBody(packBody(body), 4 * 1024 * 1024)
  if (!unpacked.ok) throw new Error(unpacked.reason)
  return unpacked.value
}

test('telemetry comes back as it was sent, whatever the values', t => {
  const reading = fc.record({
    id: fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/).filter(isId),
    t: fc.integer({ min: 0, max: 4e12 }),
    v: fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.string({ maxLength: 30 }),
      fc.constant(null),
    ),
    q: fc.constantFrom('good', 'uncertain', 'bad', 'stale'),
  })
  fc.assert(
    fc.property(fc.array(reading, { minLength: 1, maxLength: 60 }), readings => {
      const sent = { ...envelope(), building_id: 'school', protocol: 'modbus' as const, time_synced: null, readings }
      const back = readTelemetry(wire(writeTelemetry(sent)))
      // JSON has one zero.
      const zero = readings.map(each => (Object.is(each.v, -0) ? { ...each, v: 0 } : each))
      t.deepEqual(back, { ok: true, value: { ...sent, readings: zero, refused: [] } })
    }),
    { numRuns: 60 },
  )
})

/** A rule over every role that compares with the past, whose weights add up, under a hand. */
const RICH: Finding = {
  ...finding,
  finding_id: 'f-3',
  role: 'clg_valve',
  relabelled_by: 'f-1',
  cause: [{ component: 'override', weight: 1.6 }],
  evidence: {
    ...finding.evidence,
    baselines: [
      {
        name: 'usual',
        value: 0.4,
        spread: null,
        days_used: 1,
        dates: ['2026-02-27'],
        left_out: [{ date: '2026-02-28', why: 'OVR-HELD' }],
        cold: true,
      },
    ],
  },
}

const IMPACT: NonNullable<Finding['impact']> = {
  kind: 'simultaneous',
  low: 1,
  mid: 2,
  high: 3.5,
  unit: 'EUR',
  basis: ['electricity at 0.25 EUR per kWh'],
  energy: [{ carrier: 'electricity', low: 4, mid: 8, high: 14 }],
}
const GAPS: NonNullable<Finding['not_priced']> = [
  { what: 'quantity', name: 'ratedCOP', equipment_id: 'AHU-1', why: 'not entered' },
  { what: 'price', name: 'fuel' },
  { what: 'point', name: 'zone_flow', equipment_id: 'VAV-1' },
]

test('what a fault costs goes with it, and what was measured for that stays behind', t => {
  const priced: Finding = { ...finding, impact: IMPACT, not_priced: GAPS }
  const sums = { up: 1, up_sure: 1, up_gauge: 1, down: 0, down_sure: 0, down_gauge: 0 }
  const waste = { kind: 'simultaneous', measure: 'kelvin', gauge: 'sa_flow', hours: 1, ...sums } as const
  const read = readFindings(wire(writeFindings({ ...envelope(8), findings: [{ ...priced, waste }] })))
  t.deepEqual(read, { ok: true, value: { ...envelope(8), findings: [priced] } })
})

test('findings, metadata, status and acknowledgements come back as they were sent', t => {
  const findings = {
    ...envelope(7),
    findings: [finding, { ...finding, finding_id: 'f-2', to: NOON + 1, state: 'cleared' as const }, RICH],
  }
  t.deepEqual(readFindings(wire(writeFindings(findings))), { ok: true, value: findings })

  const plain = edgeModel('A')
  const scaled = plain.points.map(point => ({ ...point, source: { ...point.source, scaling: { scale: 0.1, offset: -40 } } }))
  const model = { ...plain, points: scaled }
  const metadata = readMetadata(wire(writeMetadata('A', 'e1', model)))
  if (!metadata.ok) return t.fail(metadata.reason)
  const { revision, ...rest } = metadata.value
  t.deepEqual(rest, { site_id: 'A', edge_id: 'e1', ...model })
  t.is(revision, writeMetadata('A', 'e1', structuredClone(model)).revision)
  t.not(revision, writeMetadata('A', 'e1', { ...model, name: 'Other' }).revision)

  const status = {
    ...{
      online: true,
      sent_at: NOON + 1,
      version: '1',
      boot_id: 'b',
      clock_offset_ms: 40,
      dropped: 0,
      thinned: 0,
      disk: { total_bytes: 4e9, free_bytes: 1 },
      cert_not_after: NOON,
    },
    ...{ runs_rules: false, poll: writePollReport(pollStatus) },
  }
  const read = readStatus(wire(writeStatus({ ...status, backlog: { rows: 3, oldest_at: NOON, drain_per_min: -2 } })))
  t.like(read, {
    ok: true,
    value: {
      online: true,
      sent_at: NOON + 1,
      body: { backlog: { rows: 3, oldest_at: '2026-03-01T12:00:00Z', drain_per_min: -2 } },
    },
  })

  const checked = wire(
    writeStatus({ ...status, backlog: { rows: 0, oldest_at: null, drain_per_min: null }, last_check_at: NOON }),
  )
  t.is(checkedAt(checked), NOON - 40, "by the hub's clock")
  t.is(
    checkedAt(wire(writeStatus({ ...status, backlog: { rows: 0, oldest_at: null, drain_per_min: null }, last_check_at: null }))),
    null,
  )
  for (const said of [
    {},
    { last_check_at: NOON },
    { last_check_at: 'x' },
    { last_check_at: '2026-03-01T12:00:00Z', clock_offset_ms: 1e300 },
  ])
    t.is(checkedAt(said), null, JSON.stringify(said))

  const answer = wire(writeStatusAnswer({ sent_at: NOON + 1, at: NOON }))
  t.true(isStatusAnswer(answer))
  t.deepEqual(readStatusAnswer(answer), { ok: true, value: { sent_at: NOON + 1, at: NOON } })

  const ack = { stream: STREAM, through_seq: 0, through_id: MESSAGE_ID, rejected: [{ seq: 1, reason: 'why' }] }
  t.deepEqual(readAck(wire(ack)), { ok: true, value: ack })
})

test('a short body is plain JSON, a long one is deflated behind the byte 1', t => {
  t.is(packBody({ a: 1 }).toString(), '{"a":1}')
  const long = packBody({ a: 'x'.repeat(2000) })
  t.is(long[0], 1)
  t.true(long.length < 100)
})

test('what is no body is refused with the reason, and a bomb is not inflated', t => {
  const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(64 * 1024 * 1024, 0x20))])
  const cases: [Uint8Array, RegExp][] = [
    [Buffer.of(), /empty/],
    [Buffer.from('hello'), /begins with byte 104/],
    [Buffer.from('{"a":'), /not JSON/],
    [Buffer.from([1, 2, 3, 4]), /does not inflate/],
    [Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.from('[1]'))]), /not a JSON object/],
    [Buffer.alloc(MESSAGE_MAX + 1, 0x7b), /more than 262144/],
    [bomb, /inflates to more than 262144/],
  ]
  for (const [bytes, reason] of cases) {
    const unpacked = unpackBody(bytes, MESSAGE_MAX)
    t.regex(unpacked.ok ? 'taken' : unpacked.reason, reason)
  }
})

test('a body that does not fit is refused with the place and what was there', t => {
  const point = { id: 'p', t: '2026-03-01T12:00:00Z', v: 1, q: 'good' }
  const good = {
    schema: 'svc_telemetry_v1',
    ...envelope(),
    sent_at: '2026-03-01T12:00:00Z',
    protocol: 'bacnet',
    time_synced: true,
  }
  const telemetry = (change: object) => readTelemetry({ ...good, points: [point], ...change })
  t.true(telemetry({}).ok)
  const cases: [object, string][] = [
    [{ schema: 'svc_telemetry_v2' }, 'schema must be one of svc_telemetry_v1, not "svc_telemetry_v2"'],
    [{ stream: 'x' }, 'stream must be a UUID, not "x"'],
    [{ seq: 0 }, 'seq must be a whole number of at least 1, not 0'],
    [{ seq: 1.5 }, 'seq must be a whole number of at least 1, not 1.5'],
    [{ seq: '1' }, 'seq must be a whole number of at least 1, not "1"'],
    [{ sent_at: '2026-03-01T12:00:00' }, 'sent_at must be an RFC 3339 time with offset, not "2026-03-01T12:00:00"'],
    [{ site_id: 'a/b' }, 'site_id must be an id of letters, digits and ._-, not "a/b"'],
    [{ protocol: 'csv' }, 'protocol must be one of bacnet, modbus, haystack, not "csv"'],
    [{ time_synced: 1 }, 'time_synced must be true or false, not 1'],
    [{ points: [] }, 'points must be a list of at least 1, not []'],
    [{ points: 3 }, 'points must be a list of at most 500, not 3'],
    [{ points: Array.from({ length: 501 }, () => point) }, 'points must be a list of at most 500, not "501 elements"'],
    [{ points: [point, 7] }, 'points[1] must be an object, not 7'],
    [{ points: [{ ...point, id: '' }] }, 'points[0].id must be an id of letters, digits and ._-, not ""'],
    [{ points: [{ ...point, t: 5 }] }, 'points[0].t must be an RFC 3339 time with offset, not 5'],
    [{ points: [{ ...point, v: [1] }] }, 'points[0].v must be a number, true, false, text or null, not [1]'],
    [{ points: [{ ...point, v: undefined }] }, 'points[0].v must be a number, true, false, text or null, not missing'],
    [
      { points: [{ ...point, v: 'x'.repeat(1025) }] },
      `points[0].v must be text of at most 1024 characters, not "${'x'.repeat(79)}`,
    ],
    [{ points: [{ ...point, q: 'fine' }] }, 'points[0].q must be one of good, uncertain, bad, stale, not "fine"'],
  ]
  for (const [change, reason] of cases) {
    const read = telemetry(change)
    t.is(read.ok ? (read.value.refused[0]?.reason ?? 'taken') : read.reason, reason)
  }
})

test('a reading that does not fit is told, and the rest of its message is taken', t => {
  const good = { id: 'p', t: NOON, v: 1, q: 'good' as const }
  const body = writeTelemetry({ ...envelope(), protocol: 'bacnet', time_synced: null, readings: [good, good, good] }) as {
    points: object[]
  }
  const read = readTelemetry({ ...body, points: [body.points[0], { ...body.points[1], q: 'fine' }, body.points[2]] })
  const reason = 'points[1].q must be one of good, uncertain, bad, stale, not "fine"'
  t.like(read, { ok: true, value: { readings: [good, good], refused: [{ pointer: 'points[1]', reason }] } })
})

test('a poll report names the devices in trouble first, and what is no report is refused by name', t => {
  const device = (n: number) => ({
    ...{ device_id: `d${n}`, state: n === 999 ? ('down' as const) : ('ok' as const), since: '2026-03-01T12:00:00Z' },
    ...{
      rtt_ms_p50: 1.5,
      rtt_ms_p95: null,
      reads: n,
      errors: 0,
      reads_1h: n,
      errors_1h: 3,
      last_ok_at: null,
      last_error: 'x'.repeat(5000),
    },
    ...{ next_due_at: null, batch_size: 20 },
  })
  const report = writePollReport({ ...pollStatus, devices: Array.from({ length: 1000 }, (_, n) => device(n) as never) })
  t.is(report.devices.length, REPORT_DEVICES_MAX)
  t.like(report, { devices_total: 1000, devices: [{ device_id: 'd999', state: 'down' }] })
  t.true(JSON.stringify(report).length < 100 * 1024)
  t.deepEqual(readPollReport(wire({ ...report })), { ok: true, value: report })
  const { reads_1h: _reads, errors_1h: _errors, ...earlier } = report.devices[0]!
  const read = readPollReport(wire({ ...report, devices: [earlier] }))
  t.true(read.ok && read.value.devices[0]!.reads_1h === 0, 'an earlier version does not say the last hour')
  const bad = readPollReport({ ...report, points_ok: -1 })
  t.is(bad.ok ? 'taken' : bad.reason, 'poll.points_ok must be a whole number of at least 0, not -1')
})

const wireFinding = (): object => (writeFindings({ ...envelope(), findings: [finding] }) as { findings: object[] }).findings[0]!

function findingsWith(change: object): string {
  const read = readFindings({ ...writeFindings({ ...envelope(), findings: [] }), findings: [{ ...wireFinding(), ...change }] })
  return read.ok ? 'taken' : read.reason
}
function metadataWith(change: object): string {
  const read = readMetadata({ ...writeMetadata('A', 'e1', edgeModel('A')), ...change })
  return read.ok ? 'taken' : read.reason
}

test('a finding or metadata that does not fit is refused in the same way', t => {
  t.is(findingsWith({}), 'taken')
  t.is(findingsWith({ to: '2026-01-01T00:00:00Z' }), 'findings[0].to must be at or after from, not "2026-01-01T00:00:00Z"')
  t.is(findingsWith({ severity: 5 }), 'findings[0].severity must be one of 1, 2, 3, 4, not 5')
  t.is(
    findingsWith({ cause: [{ component: 'x', weight: -1 }] }),
    'findings[0].cause[0].weight must be a number from 0 to 64, not -1',
  )
  t.is(findingsWith({ evidence: 1 }), 'findings[0].evidence must be an object, not 1')
  t.is(findingsWith({ impact: { ...IMPACT, mid: 9 } }), 'findings[0].impact.mid must be between low and high, not 9')
  t.is(findingsWith({ impact: { ...IMPACT, low: -1 } }), 'findings[0].impact.low must be a number from 0 to Infinity, not -1')
  t.regex(findingsWith({ impact: { ...IMPACT, kind: 'gas' } }), /^findings\[0\]\.impact\.kind must be one of cooling/)
  t.regex(findingsWith({ not_priced: [{ what: 'luck' }] }), /^findings\[0\]\.not_priced\[0\]\.what must be one of/)
  const { building, points } = edgeModel('A')
  t.is(metadataWith({}), 'taken')
  t.is(
    metadataWith({ building: { ...building, timezone: 'Mars/Base' } }),
    'building.timezone must be an IANA zone, not "Mars/Base"',
  )
  t.is(
    metadataWith({ points: [{ ...points[0], equipment_id: 'other' }] }),
    'points[0].equipment_id must be equipment of this message, not "other"',
  )
})

test('a message that cannot be used still says its place in the stream, when it can', t => {
  const topic = { site_id: 'A', edge_id: 'e1', kind: 'telemetry', protocol: 'bacnet' } as const
  const received = (body: object) => receiveBody(topic, JSON.parse(JSON.stringify(body)))
  const good = {
    ...envelope(5),
    protocol: 'bacnet' as const,
    time_synced: true,
    readings: [{ id: 'p', t: NOON, v: 1, q: 'good' as const }],
  }
  t.like(received(writeTelemetry(good)), { state: 'good', seq: 5, stream: STREAM })
  for (const [body, reason] of [
    [writeTelemetry({ ...good, edge_id: 'e2' }), 'it names edge A/e2, and A/e1 sent it'],
    [writeTelemetry({ ...good, protocol: 'modbus' }), 'protocol is modbus, and the topic is for bacnet'],
    [{ ...writeTelemetry(good), schema: 'svc_telemetry_v9' }, 'schema must be one of svc_telemetry_v1, not "svc_telemetry_v9"'],
  ] as const) {
    t.deepEqual(received(body), { state: 'unusable', stream: STREAM, seq: 5, message_id: MESSAGE_ID, reason })
  }
  t.deepEqual(received({ stream: STREAM, seq: -1 }), {
    state: 'unreadable',
    reason: 'points must be a list of at most 500, not missing; seq must be a whole number of at least 1, not -1',
  })
  t.deepEqual(received({ ...writeTelemetry(good), seq: 0 }), {
    state: 'unreadable',
    reason: 'seq must be a whole number of at least 1, not 0',
  })
})

test('the stretches of a finding travel, and those that cannot be are refused by name', t => {
  const stretches = [
    [1000, 2000, 1000],
    [3000, 5000, 500],
  ] as const
  const body = writeFindings({ ...envelope(), findings: [{ ...finding, stretches }] })
  const read = readFindings(JSON.parse(JSON.stringify(body)))
  t.deepEqual(read.ok && read.value.findings[0]!.stretches, stretches)
  t.is(findingsWith({ stretches: [] }), 'taken')
  for (const wrong of [[[5, 3, 1]], [[1, 2, 3]], [[1, 2, -1]], [[1, 2]], ['x'], [[1, 2, Number.NaN]]])
    t.regex(findingsWith({ stretches: wrong }), /^findings\[0\]\.stretches\[0\] must be/, JSON.stringify(wrong))
  t.regex(findingsWith({ stretches: Array.from({ length: 49 }, (_, i) => [i, i + 1, 1]) }), /stretches must be/)
})

test('that a finding was made in hindsight travels with it', t => {
  const hindsight = { normal_from: NOON + 60_000 }
  const body = writeFindings({ ...envelope(), findings: [{ ...finding, hindsight }] })
  const read = readFindings(JSON.parse(JSON.stringify(body)))
  t.deepEqual(read.ok && read.value.findings[0]!.hindsight, hindsight)
  t.regex(findingsWith({ hindsight: { normal_from: 'soon' } }), /^findings\[0\]\.hindsight\.normal_from must be/)
  t.regex(findingsWith({ hindsight: 1 }), /^findings\[0\]\.hindsight must be/)
})
