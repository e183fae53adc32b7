import test from 'ava'
import { deflateRawSync } from 'node:zlib'
import { MESSAGE_MAX, packBody, unpackBody } from '#shared/core/telemetry/body.ts'
import { processMessages, processPublish } from '#shared/flow/ingest/mqtt-ingest.ts'
import { parseTopic } from '#shared/core/topic/topics.ts'
import type { MessageTopic } from '#shared/core/telemetry/message.ts'
import { acked, hub, telemetry } from './ingest-hub.ts'

/** Deeper than JSON can be written again: `JSON.stringify` overflows the stack, `JSON.parse` does not. */
const DEEP = '['.repeat(60_000) + ']'.repeat(60_000)
const nested = (body: object) => {
  const text = JSON.stringify(body).replace('"here"', DEEP)
  return Buffer.concat([Buffer.of(1), deflateRawSync(text)])
}

test('a body that is nested deeper than any of ours is refused', t => {
  const lists = (deep: number) => Buffer.from(`{"x":${'['.repeat(deep)}${']'.repeat(deep)}}`)
  t.true(unpackBody(lists(31), MESSAGE_MAX).ok)
  t.deepEqual(unpackBody(lists(32), MESSAGE_MAX), { ok: false, reason: 'the body is nested deeper than 32' })
})

test('a status that is nested too deep keeps the record of no other edge from being written', t => {
  const { flow, enrol, edges } = hub(t)
  enrol()
  enrol('B', 'e1')
  processPublish(flow, 'sites/A/edges/e1/status', nested({ online: true, boot_id: 'b', more: 'here' }))
  processPublish(flow, 'sites/B/edges/e1/status', packBody({ online: true, boot_id: 'b', version: '2' }))
  flow.registry.flush()
  t.is(edges.get('B', 'e1')?.status_body['version'], '2')
})

test('telemetry and metadata that are nested too deep are rejected, and messages beside them are stored', t => {
  const { flow, enrol } = hub(t)
  enrol()
  const topic = parseTopic('sites/A/edges/e1/telemetry/bacnet') as MessageTopic
  const bad = nested(telemetry(1, { points: [{ id: 'here', t: '2026-03-01T12:00:00Z', v: 1, q: 'good' }] }))
  const replies = processMessages(flow, [
    { topic, payload: bad },
    { topic, payload: packBody(telemetry(1)) },
  ])
  t.deepEqual(replies, [acked(1)])
  t.notThrows(() => processPublish(flow, 'sites/A/edges/e1/metadata', nested({ schema: 'here' })))
})
