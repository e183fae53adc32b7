import test from 'ava'
import { mayEnter, mayLogIn, mayRoute, mayUse } from '#shared/core/topic/routing-key.ts'

const EDGE = { username: 'edge:A:e1', name: 'amq.topic' }
const CENTRAL = { username: 'central:*', name: 'amq.topic' }

test('only the name of an edge or a central opens a session, and only under that name', t => {
  t.true(mayLogIn({ username: 'edge:A:e1' }))
  t.false(mayLogIn({ username: 'guest' }))
  t.false(mayLogIn({}))
  t.true(mayEnter({ username: 'edge:A:e1', client_id: 'edge:A:e1' }))
  t.false(mayEnter({ username: 'edge:A:e1', client_id: 'central:*' }))
  t.false(mayEnter({ username: 'guest', client_id: 'guest' }))
  t.false(mayEnter({ username: 'edge:A:e1' }))
})

for (const [resource, name, permission, isAllowed] of [
  ['exchange', 'amq.topic', 'write', true],
  ['exchange', 'amq.topic', 'read', true],
  ['exchange', 'amq.topic', 'configure', false],
  ['exchange', 'amq.direct', 'write', false],
  ['queue', 'mqtt-subscription-edge:A:e1qos1', 'configure', true],
  ['queue', 'mqtt-subscription-edge:A:e1qos0', 'read', true],
  ['queue', 'mqtt-subscription-edge:A:e1qos2', 'read', false],
  ['queue', 'mqtt-subscription-edge:A:e11qos1', 'read', false],
  ['queue', 'mqtt-subscription-central:*qos1', 'read', false],
  ['queue', 'qos1', 'read', false],
  ['topic', 'mqtt-subscription-edge:A:e1qos1', 'read', false],
] as const)
  test(`an edge may ${isAllowed ? '' : 'not '}${permission} the ${resource} ${name}`, t => {
    t.is(mayUse({ username: 'edge:A:e1', resource, name, permission }), isAllowed)
    t.false(mayUse({ username: 'guest', resource, name, permission }))
  })

for (const [question, isAllowed] of [
  [{ ...EDGE, permission: 'write', routing_key: 'sites.A.edges.e1.status' }, true],
  [{ ...EDGE, permission: 'write', routing_key: 'sites.A.edges.e1.acks' }, false],
  [{ ...EDGE, permission: 'read', routing_key: 'sites.A.edges.e1.acks' }, true],
  [{ ...EDGE, permission: 'read', routing_key: 'sites.A.edges.*.acks' }, false],
  [{ ...EDGE, permission: 'read', routing_key: '#' }, false],
  [{ ...EDGE, permission: 'configure', routing_key: 'sites.A.edges.e1.acks' }, false],
  [{ ...EDGE, name: 'amq.direct', permission: 'write', routing_key: 'sites.A.edges.e1.status' }, false],
  [{ ...CENTRAL, permission: 'read', routing_key: 'sites.*.edges.*.status' }, true],
  [{ ...CENTRAL, permission: 'write', routing_key: 'sites.A.edges.e1.acks' }, true],
  [{ ...CENTRAL, permission: 'write', routing_key: 'sites.A.edges.*.acks' }, false],
  [{ ...CENTRAL, permission: 'write' }, false],
] as const)
  test(`${question.username} may ${isAllowed ? '' : 'not '}${question.permission} ${JSON.stringify(question)}`, t => {
    t.is(mayRoute(question), isAllowed)
  })

test('topics of an id with a dot are denied, for they could be those of another client', t => {
  const question = { username: 'edge:A:e.1', name: 'amq.topic', permission: 'write', routing_key: 'sites.A.edges.e.1.status' }
  t.false(mayRoute(question))
})
