/** One question and one answer over the broker: what does not belong together changes nothing. */
import { randomUUID } from 'node:crypto'
import test from 'ava'
import { writeEdgeRequest, writeEdgeResponse } from '#shared/core/priority/edge-request.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { MESSAGE_MAX, packBody, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import { responder } from '#appliance/priority/responder.ts'
import { brokerWay } from '#hub/connectors/broker-client.ts'
import { openEdge, silent } from '../../support/sites/priority-edge.ts'

const schema = 'svc_priority_history_v1'
const edge: EdgeRecord = {
  ...{ edge_id: 'e1', site_id: 'A', building_id: 'b', name: 'e1', version: '1', status: 'operational' },
  ...{ last_seen_at: 1, online: true, session_changed_at: 1, last_data_at: 1, metadata_revision: 1, status_body: {} },
}
const topic = (edge_id: string, site_id = 'A'): Topic => ({ site_id, edge_id, kind: 'responses' })

test('the hub takes the one answer to its question, and nothing that others say', async t => {
  const asked: { to: Topic; body: { correlation_id: string } }[] = []
  const way = brokerWay({
    publish: async (to, body) => void asked.push({ to, body: body as { correlation_id: string } }),
    timeoutMs: 60_000,
  })
  const first = way.ask(edge, 'priority_history', { schema })
  const second = way.ask(edge, 'priority_history', { schema })
  t.deepEqual(
    asked.map(({ to }) => `${to.site_id} ${to.edge_id} ${to.kind}`),
    ['A e1 requests', 'A e1 requests'],
  )
  const [one, two] = asked.map(({ body }) => body.correlation_id) as [string, string]
  t.not(one, two)
  const say = (from: Topic, correlation_id: string, what: string) =>
    way.take(from, packBody(writeEdgeResponse({ correlation_id, status: 200, body: { what } })))
  say(topic('e2'), one, 'of another edge')
  say(topic('e1', 'B'), one, 'of another site')
  say(topic('e1'), randomUUID(), 'of nobody')
  const nonsense = ['', 'x', '{}', '{"schema":"svc_edge_response_v1"}', ' '.repeat(MESSAGE_MAX + 1)]
  for (const payload of nonsense) way.take(topic('e1'), Buffer.from(payload))
  say(topic('e1'), two, 'the second')
  say(topic('e1'), one, 'the first')
  say(topic('e1'), one, 'again')
  t.deepEqual(
    (await Promise.all([first, second])).map(({ body }) => body),
    [{ what: 'the first' }, { what: 'the second' }],
  )
})

test('a question that the broker does not take, or to an edge that is not there, is refused at once', async t => {
  const published: object[] = []
  const way = brokerWay({
    publish: async (_to, body) => {
      published.push(body)
      throw new Error('not connected to the broker')
    },
    timeoutMs: 60_000,
  })
  const refused = { code: 'edge_unreachable' }
  const asking = (change: Partial<EdgeRecord>) => way.ask({ ...edge, ...change }, 'priority_history', { schema })
  t.like(await t.throwsAsync(asking({})), { ...refused, message: 'e1 cannot be asked: not connected to the broker' })
  t.like(await t.throwsAsync(asking({ online: false })), refused)
  t.like(await t.throwsAsync(asking({ status_body: { via: 'local' } })), refused)
  t.is(published.length, 1)
})

test('an edge answers what it knows, refuses what it does not, and is silent where no answer could be matched', async t => {
  const { service, fill, triggered } = await openEdge(t)
  await fill(1, 3)
  const answer = responder(service, silent)
  const correlation_id = randomUUID()
  const ask = (operation: string, request: Record<string, unknown>) =>
    answer(packBody(writeEdgeRequest({ correlation_id, operation, request })))
  t.like(ask('priority_history', { schema }), { correlation_id, status: 200, body: { ok: true } })
  t.like(ask('priority_trigger', {}), { correlation_id, status: 202 })
  t.like(ask('priority_trigger', {}), { correlation_id, status: 409, body: { code: 'visit_in_progress' } })
  t.deepEqual(triggered, [1001])
  for (const operation of ['priority_release', '__proto__', 'constructor', '']) {
    t.like(ask(operation, {}), { correlation_id, status: 404, body: { code: 'not_found' } }, operation)
  }
  t.like(ask('priority_visit', { visit_id: '../../x' }), { status: 400, body: { code: 'bad_request' } })
  const unmatched = [
    '',
    '{',
    '[]',
    '{"schema":"svc_edge_request_v1","operation":"priority_history","request":{}}',
    `{"schema":"svc_edge_request_v1","correlation_id":"${correlation_id}","operation":"priority_history"}`,
    `{"schema":"another","correlation_id":"${correlation_id}","operation":"priority_history","request":{}}`,
    ' '.repeat(SMALL_MAX + 1),
  ]
  for (const payload of unmatched) t.is(answer(Buffer.from(payload)), undefined, payload.slice(0, 60))
})

test('an error of the program at the edge is told without its text, and one answer that is too long as such', t => {
  const failing = responder(
    {
      ask: () => {
        throw new TypeError('secret of the inside')
      },
    },
    silent,
  )
  const request = packBody(writeEdgeRequest({ correlation_id: randomUUID(), operation: 'priority_history', request: { schema } }))
  const told = failing(request)
  t.like(told, { status: 500, body: { code: 'internal' } })
  t.notRegex(JSON.stringify(told), /secret/)
  const wordy = responder({ ask: () => ({ ok: true, text: 'x'.repeat(MESSAGE_MAX) }) as never }, silent)
  const short = wordy(request)!
  t.like(short, { status: 413, body: { code: 'too_large' } })
  t.true(unpackBody(packBody(short), MESSAGE_MAX).ok)
})
