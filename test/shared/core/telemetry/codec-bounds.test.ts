/** Every list and text of a message has its bound: as much as that is taken, one more is refused by name. */
import test from 'ava'
import { writeFindings, readFindings } from '#shared/core/telemetry/findings.ts'
import { readMetadata, writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { readNotices, writeNotices } from '#shared/core/telemetry/notice.ts'
import { readPollReport, writePollReport } from '#shared/core/telemetry/poll-report.ts'
import { readAck } from '#shared/core/telemetry/status.ts'
import { readTelemetry, writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import { envelope, finding, MESSAGE_ID, STREAM } from '../../../support/messages.ts'
import { edgeModel, pollStatus } from '../../../support/sites/transport-site.ts'

type Json = Record<string, any>
type Read = { ok: true; value: unknown } | { ok: false; reason: string }
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const members = <T>(count: number, make: () => T) => Object.fromEntries(times(count, i => [`m${i}`, make()]))

const findings = (change: Json) => readFindings({ ...writeFindings({ ...envelope(), findings: [finding] }), ...change })
const wireFinding = (): Json => (writeFindings({ ...envelope(), findings: [finding] }) as Json)['findings'][0]
const oneFinding = (change: Json) => findings({ findings: [{ ...wireFinding(), ...change }] })
const evidence = (change: Json) => oneFinding({ evidence: { ...wireFinding()['evidence'], ...change } })
const baseline = (change: Json) => {
  const view = { name: 'usual', value: 1, spread: 0, days_used: 1, dates: [], left_out: [], cold: false }
  return evidence({ baselines: [{ ...view, ...change }] })
}
const impact = (change: Json) =>
  oneFinding({ impact: { kind: 'cooling', low: 1, mid: 2, high: 3, unit: 'EUR', basis: [], energy: [], ...change } })
const metadata = (change: (model: Json) => Json) => {
  const model = writeMetadata('A', 'e1', edgeModel('A')) as Json
  return readMetadata({ ...model, ...change(model) })
}
const telemetry = (points: Json[]) => {
  const head = writeTelemetry({ ...envelope(), protocol: 'bacnet', time_synced: null, readings: [] })
  return readTelemetry({ ...head, points })
}
const point = { id: 'p', t: '2026-03-01T12:00:00Z', v: 1, q: 'good' }
const ack = (change: Json) => readAck({ stream: STREAM, through_seq: 0, through_id: MESSAGE_ID, ...change })
const device = (n: number) => ({
  ...{ device_id: `d${n}`, state: 'ok', since: '2026-03-01T12:00:00Z', rtt_ms_p50: 1, rtt_ms_p95: null, reads: n, errors: 0 },
  ...{ last_ok_at: null, last_error: null, next_due_at: null, batch_size: 20 },
})
const report = (change: Json) => readPollReport({ ...writePollReport(pollStatus), ...change })
const withText = (of: (change: Json) => Read, name: string) => (count: number) => of({ [name]: 'x'.repeat(count) })
const withList = (of: (change: Json) => Read, name: string, make: (i: number) => unknown) => (count: number) =>
  of({ [name]: times(count, make) })

const BOUNDS: [what: string, most: number, read: (count: number) => Read][] = [
  ['findings of a message', 100, withList(findings, 'findings', wireFinding)],
  ['withdrawn findings of a message', 100, withList(findings, 'withdrawn', i => `f-${i}`)],
  ['causes of a finding', 64, withList(oneFinding, 'cause', () => ({ component: 'fan', weight: 1 }))],
  ['what is not priced of a finding', 64, withList(oneFinding, 'not_priced', () => ({ what: 'price', name: 'fuel' }))],
  ['characters of an expression', 4096, withText(evidence, 'expression')],
  ['characters of a sentence', 4096, withText(evidence, 'sentence')],
  ['terms of a finding', 64, withList(evidence, 'terms', () => ({ text: 'a > b', holds: true }))],
  ['characters of a term', 4096, count => evidence({ terms: [{ text: 'x'.repeat(count), holds: null }] })],
  ['inputs of a finding', 64, count => evidence({ inputs: members(count, () => 1) })],
  ['parameters of a finding', 64, count => evidence({ params: members(count, () => ({ value: 1, unit: 'K', source: 'site' })) })],
  ['days of a baseline', 366, withList(baseline, 'dates', () => '2026-02-27')],
  ['days that a baseline leaves out', 366, withList(baseline, 'left_out', () => ({ date: '2026-02-27', why: 'x' }))],
  ['lines of what an impact rests on', 64, withList(impact, 'basis', () => 'electricity at 0.25 EUR per kWh')],
  ['characters of the unit of an impact', 16, withText(impact, 'unit')],
  [
    'equipment of a building',
    2000,
    count =>
      metadata(({ equipment: [one] }) => ({
        equipment: times(count, i => ({ ...one, equipment_id: i ? `e${i}` : one.equipment_id })),
      })),
  ],
  [
    'points of a building',
    10_000,
    count => metadata(({ points: [one] }) => ({ points: times(count, i => ({ ...one, point_id: `p${i}` })) })),
  ],
  [
    'states of a point',
    256,
    count => metadata(({ points: [one] }) => ({ points: [{ ...one, kind: 'enum', states: times(count, i => `s${i}`) }] })),
  ],
  ['points of a telemetry message', 500, count => telemetry(times(count, i => ({ ...point, id: `p${i}` })))],
  ['rejections of an acknowledgement', 50, withList(ack, 'rejected', i => ({ seq: i + 1, reason: 'why' }))],
  ['devices of a poll report', 200, withList(report, 'devices', device)],
  ['notices', 20, count => readNotices({ notices: times(count, () => ({ code: 'shared_edge_id', text: 'x' })) })],
  ['characters of a notice', 500, count => readNotices({ notices: [{ code: 'x', text: 'x'.repeat(count) }] })],
  ['characters of the code of a notice', 64, count => readNotices({ notices: [{ code: 'x'.repeat(count), text: 'x' }] })],
]
for (const [what, most, read] of BOUNDS) {
  test(`${what}: ${most} are taken, one more is refused with the bound`, t => {
    t.like(read(most), { ok: true })
    const refused = read(most + 1)
    t.regex(refused.ok ? 'taken' : refused.reason, new RegExp(`at most .*${most}\\b`))
  })
}

test('a text value of 1,024 characters is taken, a longer one is refused and the others stay', t => {
  const [longest, longer] = [1024, 1025].map(count => ({ ...point, v: 'x'.repeat(count) }))
  const read = telemetry([longest!, longer!, point])
  t.deepEqual(read.ok && [read.value.readings.length, read.value.refused.length], [2, 1])
})

test('notices are cut to what their reader takes', t => {
  const written = writeNotices(times(30, () => ({ code: 'metadata_refused' as const, text: 'y'.repeat(900) })))
  t.like(readNotices(written as Json), { ok: true })
  t.is((written as { notices: object[] }).notices.length, 20)
})
