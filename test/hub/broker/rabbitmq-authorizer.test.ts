import test from 'ava'
import { rabbitmqAuthorizer } from '#hub/broker/rabbitmq-authorizer.ts'
import { silent } from '../../support/sites/transport-site.ts'

test('a question is answered by the rule of its path, and one that cannot be read is denied', async t => {
  const authorizer = rabbitmqAuthorizer({ host: '127.0.0.1', port: 0, log: silent })
  await authorizer.start()
  t.teardown(authorizer.stop)
  const ask = async (path: string, fields: Record<string, string> | string, method = 'POST') => {
    const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString()
    const answer = await fetch(`http://127.0.0.1:${authorizer.port()}${path}`, { method, ...(method === 'POST' && { body }) })
    return `${answer.status} ${await answer.text()}`
  }
  const edge = { username: 'edge:A:e1', client_id: 'edge:A:e1', vhost: '/' }
  t.is(await ask('/user', edge), '200 allow')
  t.is(await ask('/vhost', edge), '200 allow')
  t.is(await ask('/vhost', { ...edge, client_id: 'central:*' }), '200 deny')
  const topic = { ...edge, resource: 'topic', name: 'amq.topic', permission: 'write' }
  t.is(await ask('/topic', { ...topic, routing_key: 'sites.A.edges.e1.status' }), '200 allow')
  t.is(await ask('/topic', { ...topic, routing_key: 'sites.B.edges.e1.status' }), '200 deny')
  t.is(
    await ask('/resource', { ...edge, resource: 'queue', name: 'mqtt-subscription-edge:A:e1qos1', permission: 'read' }),
    '200 allow',
  )
  for (const path of ['/', '/users', '/constructor', '/user?username=central:*']) t.is(await ask(path, edge), '200 deny', path)
  t.is(await ask('/user', '', 'GET'), '200 deny')
  t.is(await ask('/user', 'username=%'), '200 deny')
  t.is(await ask('/topic', { ...topic, routing_key: 'x'.repeat(300_000) }), '200 deny')
})
