/** What an enrolled edge that is not ours may put into each field: another edge is served beside it, and what is stored can be read. */
import test from 'ava'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeFindings } from '#shared/core/telemetry/findings.ts'
import type { MessageTopic } from '#shared/core/telemetry/message.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { parseTopic } from '#shared/core/topic/topics.ts'
import { HOUR } from '#shared/core/time.ts'
import { processMessages, processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { envelope, finding } from '../../support/messages.ts'
import { edgeModel } from '../../support/sites/transport-site.ts'
import { hub, telemetry } from './ingest-hub.ts'
import { withHotRows } from '../../support/sites/hot-rows.ts'

const at = '2026-03-01T12:00:00Z'
/** Texts of JSON, some of which no writer of ours makes. */
const VALUES = [
  ...['null', 'true', '-1', '0.5', '1e18', '-1e18', '1e308', '1e999', '-1e999', '123456789012345678901234567890', '1,"seq":2'],
  ...[
    '""',
    '" "',
    '"a\\u0000b"',
    '"\\ud800"',
    '"__proto__"',
    '"constructor"',
    '"<b>\\"\'&"',
    '"sites/+/#"',
    `"${'x'.repeat(5000)}"`,
  ],
  ...['[]', '{}', '[[]]', '[null]', '{"__proto__":{"x":1}}', '{"toString":1}', `${'['.repeat(28)}${']'.repeat(28)}`],
  ...['"1970-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', '"0000-01-01T00:00:00Z"', '"+275760-09-13T00:00:00Z"'],
]
type Path = (string | number)[]

const pathsOf = (value: unknown, path: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? [...(path.length > 0 ? [path] : []), ...Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]))]
    : [path]

/** The body with the value at a path as it stands in `json`. */
function spoilt(body: object, path: Path, json: string): Buffer {
  const copy = structuredClone(body) as Record<string, unknown>
  const holder = path.slice(0, -1).reduce((one: any, key) => one[key], copy)
  holder[path.at(-1)!] = '@here'
  return Buffer.from(JSON.stringify(copy).replace('"@here"', () => json))
}

/** A message that is not understood holds up no later one where each is the first of its stream. */
const ownStream = (n: number) => ({ stream: `6f1c2a34-0d0a-4f5e-9b7e-${String(n).padStart(12, '0')}` })

const BODIES: Record<string, (n: number) => object> = {
  'telemetry/bacnet': n => ({ ...telemetry(1), ...ownStream(n) }),
  findings: n => ({ ...writeFindings({ ...envelope(1), findings: [finding], withdrawn: ['f-9'] }), ...ownStream(n) }),
  metadata: () => writeMetadata('A', 'e1', edgeModel('A')),
  status: () => ({
    ...{
      online: true,
      boot_id: 'b',
      version: '1.0.0',
      sent_at: at,
      clock_offset_ms: 3,
      cert_not_after: at,
      dropped: 1,
      thinned: 1,
    },
    ...{ backlog: { rows: 4, oldest_at: at, drain_per_min: 3 }, disk: { free_bytes: 1, total_bytes: 2 } },
    ...{ poll: { ok: true, devices: [{ device_id: 'd', name: 'n', state: 'down', since: at, last_error: 'e' }] } },
  }),
}

for (const [topic, bodyOf] of Object.entries(BODIES)) {
  test(`whatever stands in a field of ${topic}, another edge is served, and all that is stored can be read`, t => {
    const { flow, enrol, model, edges, findings, db, at: time } = hub(t)
    enrol()
    enrol('B', 'e1')
    const [its, other] = [parseTopic(`sites/A/edges/e1/${topic}`)!, parseTopic('sites/B/edges/e1/telemetry/bacnet')!]
    // The finding was confirmed an hour after noon.
    time.now += 2 * HOUR
    let [sent, honest] = [0, 0]
    for (const path of pathsOf(bodyOf(1))) {
      for (const json of VALUES) {
        const body = spoilt(bodyOf(++sent), path, json)
        const good = { ...telemetry(++honest), site_id: 'B' }
        const served = { topic: other as MessageTopic, payload: packBody(good) }
        const isMessage = topic !== 'metadata' && topic !== 'status'
        if (!isMessage) processPublish(flow, `sites/A/edges/e1/${topic}`, body)
        const replies = processMessages(flow, [...(isMessage ? [{ topic: its as MessageTopic, payload: body }] : []), served])
        const ack = replies.find(one => one?.site_id === 'B') as { ack?: { through_seq: number } } | undefined
        t.is(ack?.ack?.through_seq, honest, `${path.join('.')} is ${json.slice(0, 40)}`)
      }
      time.now += 60_000
      flow.registry.flush()
      t.notThrows(() => JSON.stringify([edges.list(), findings.list({ limit: 1000 }), model.buildings()]))
      for (const { building_id } of model.buildings())
        t.notThrows(() => [model.points(building_id), model.equipment(building_id)])
    }
    const count = (building_id: string) =>
      withHotRows(db)
        .prepare('SELECT count(*) FROM hot_rows JOIN history_buildings USING (building) WHERE building_id = ?')
        .pluck()
        .get(building_id) as number
    const stored = withHotRows(db)
      .prepare('SELECT count(*) FROM hot_rows WHERE abs(value) > 1.7976931348623157e308')
      .pluck()
      .get()
    t.is(stored, 0, 'no number without end is stored')
    if (topic === 'telemetry/bacnet') t.true(count('building-A') > 1, 'what fits is stored')
    if (topic === 'findings') t.true(findings.list({ limit: 1000 }).length > 0, 'what fits is stored')
  })
}
