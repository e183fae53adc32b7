/** One request and one response over the broker: a response that matches no pending request is discarded. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import test from 'ava'
import { until } from '../../support/folders.ts'
import { writeEdgeRequest, writeEdgeResponse } from '#shared/core/connector/edge-request.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { MESSAGE_MAX, packBody, unpackBody } from '#shared/core/telemetry/body.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import { priorityOperations } from '#appliance/priority/history-service.ts'
import { answeringOnce, responder } from '#appliance/services/responder.ts'
import { createBrokerClient } from '#hub/connectors/broker-client.ts'
import { openEdge, silent } from '../../support/sites/priority-edge.ts'

const schema = 'svc_priority_history_v1'
const edge: EdgeRecord = {
  ...{ edge_id: 'e1', site_id: 'A', building_id: 'b', name: 'e1', version: '1', status: 'operational' },
  ...{
    last_seen_at: 1,
    online: true,
    session_changed_at: 1,
    last_data_at: 1,
    fresh_since: null,
    version_since: null,
    metadata_revision: 1,
    status_body: {},
  },
}
const topic = (edge_id: string, site_id = 'A'): Topic => ({ site_id, edge_id, kind: 'responses' })

test('the hub accepts the one response to its request and discards those of other edges, sites and correlation ids', async t => {
  const published: { to: Topic; body: { correlation_id: string } }[] = []
  const client = createBrokerClient({
    publish: async (to, body) => void published.push({ to, body: body as { correlation_id: string } }),
    timeoutMs: 60_000,
  })
  const first = client.send(edge, 'priority_history', { schema })
  const second = client.send(edge, 'priority_history', { schema })
  t.deepEqual(
    published.map(({ to }) => `${to.site_id} ${to.edge_id} ${to.kind}`),
    ['A e1 requests', 'A e1 requests'],
  )
  const [one, two] = published.map(({ body }) => body.correlation_id) as [string, string]
  t.not(one, two)
  const respond = (from: Topic, correlation_id: string, what: string) =>
    client.onResponse(from, packBody(writeEdgeResponse({ correlation_id, status: 200, body: { what } })))
  respond(topic('e2'), one, 'of another edge')
  respond(topic('e1', 'B'), one, 'of another site')
  respond(topic('e1'), randomUUID(), 'of nobody')
  const malformed = ['', 'x', '{}', '{"schema":"svc_edge_response_v1"}', ' '.repeat(MESSAGE_MAX + 1)]
  for (const payload of malformed) client.onResponse(topic('e1'), Buffer.from(payload))
  respond(topic('e1'), two, 'the second')
  respond(topic('e1'), one, 'the first')
  respond(topic('e1'), one, 'again')
  t.deepEqual(
    (await Promise.all([first, second])).map(({ body }) => body),
    [{ what: 'the first' }, { what: 'the second' }],
  )
})

test('a request that the broker does not accept, or to an edge that is offline, fails at once', async t => {
  const published: object[] = []
  const client = createBrokerClient({
    publish: async (_to, body) => {
      published.push(body)
      throw new Error('not connected to the broker')
    },
    timeoutMs: 60_000,
  })
  const refused = { code: 'edge_unreachable' }
  const send = (change: Partial<EdgeRecord>) => client.send({ ...edge, ...change }, 'priority_history', { schema })
  t.like(await t.throwsAsync(send({})), { ...refused, message: 'the request to e1 cannot be sent: not connected to the broker' })
  t.like(await t.throwsAsync(send({ online: false })), refused)
  t.like(await t.throwsAsync(send({ status_body: { via: 'local' } })), refused)
  t.is(published.length, 1)
})

test('an edge answers known operations, refuses unknown ones, and ignores a request that has no correlation id', async t => {
  const { service, fill, triggered } = await openEdge(t)
  await fill(1, 3)
  const answer = responder(priorityOperations(service), silent)
  const correlation_id = randomUUID()
  const ask = (operation: string, request: Record<string, unknown>) =>
    answer(packBody(writeEdgeRequest({ correlation_id, operation, request })))
  t.like(await ask('priority_history', { schema }), { correlation_id, status: 200, body: { ok: true } })
  t.like(await ask('priority_trigger', {}), { correlation_id, status: 202 })
  t.like(await ask('priority_trigger', {}), { correlation_id, status: 409, body: { code: 'visit_in_progress' } })
  t.deepEqual(triggered, [1001])
  for (const operation of ['priority_release', '__proto__', 'constructor', '']) {
    t.like(await ask(operation, {}), { correlation_id, status: 404, body: { code: 'not_found' } }, operation)
  }
  t.like(await ask('priority_visit', { visit_id: '../../x' }), { status: 400, body: { code: 'bad_request' } })
  const unmatched = [
    '',
    '{',
    '[]',
    '{"schema":"svc_edge_request_v1","operation":"priority_history","request":{}}',
    `{"schema":"svc_edge_request_v1","correlation_id":"${correlation_id}","operation":"priority_history"}`,
    `{"schema":"another","correlation_id":"${correlation_id}","operation":"priority_history","request":{}}`,
    ' '.repeat(MESSAGE_MAX + 1),
  ]
  for (const payload of unmatched) t.is(await answer(Buffer.from(payload)), undefined, payload.slice(0, 60))
})

test('an internal error of the edge is reported without its text, and an oversized response as too_large', async t => {
  const failing = responder(
    priorityOperations({
      ask: () => {
        throw new TypeError('secret of the program')
      },
    }),
    silent,
  )
  const request = packBody(writeEdgeRequest({ correlation_id: randomUUID(), operation: 'priority_history', request: { schema } }))
  const response = await failing(request)
  t.like(response, { status: 500, body: { code: 'internal' } })
  t.notRegex(JSON.stringify(response), /secret/)
  const wordy = responder(priorityOperations({ ask: () => ({ ok: true, text: 'x'.repeat(MESSAGE_MAX) }) as never }), silent)
  const short = (await wordy(request))!
  t.like(short, { status: 413, body: { code: 'too_large' } })
  t.true(unpackBody(packBody(short), MESSAGE_MAX).ok)
})

test('a request that a session has lost is sent again to the next one, is carried out once, and its answer is the first', async t => {
  let lost: Uint8Array | undefined
  let carriedOut = 0
  const answer = answeringOnce(
    responder({ count: { request: Type.Object({}), status: 200, answer: () => ({ nth: ++carriedOut }) } }, silent),
  )
  let isThrough = false
  const client = createBrokerClient({
    publish: async (_to, body) => {
      const answered = packBody((await answer(packBody(body)))!)
      if (isThrough) client.onResponse(topic('e1'), answered)
      else lost = answered
    },
    timeoutMs: 60_000,
  })
  const asked = client.send(edge, 'count', {})
  await until(() => lost !== undefined, 'the answer went to a session that ended')
  isThrough = true
  client.onSession({ site_id: 'A', edge_id: 'e2' })
  client.onSession({ site_id: 'B', edge_id: 'e1' })
  t.is(await Promise.race([asked, sleep(50, 'waits')]), 'waits')
  client.onSession({ site_id: 'A', edge_id: 'e1' })
  t.deepEqual((await asked).body, { nth: 1 })
  t.is(carriedOut, 1)
  t.deepEqual((await client.send(edge, 'count', {})).body, { nth: 2 }, 'the same request of another time is carried out')
})
