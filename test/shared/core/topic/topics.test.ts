import { readFileSync } from 'node:fs'
import test from 'ava'
import { commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import { mayPublish, maySubscribe, toMosquittoAcl, topicsOf } from '#shared/core/topic/rule.ts'
import { parseTopic, TOPIC_KINDS, topicOf } from '#shared/core/topic/topics.ts'

test('a common name says edge or central, and nothing else is an identity', t => {
  const identities: [string, Identity][] = [
    ['edge:A:e1', { kind: 'edge', site_id: 'A', edge_id: 'e1' }],
    ['edge:site-1.x_y:E.2', { kind: 'edge', site_id: 'site-1.x_y', edge_id: 'E.2' }],
    ['central:A', { kind: 'central', site_id: 'A' }],
    ['central:*', { kind: 'central', site_id: '*' }],
    ['edge:acme:A:e1', { kind: 'edge', tenant_id: 'acme', site_id: 'A', edge_id: 'e1' }],
    ['central:*:*', { kind: 'central', site_id: '*', tenants: true }],
  ]
  for (const [cn, identity] of identities) {
    t.deepEqual(parseIdentity(cn), identity)
    t.is(commonName(identity), cn)
  }
  const others = [
    '',
    'edge',
    'edge:',
    'edge:A',
    'edge:A:',
    'edge::e',
    'edge:A:e:x',
    'edge:*:e',
    'edge:A:*',
    'edge:+:e',
    'edge:A:#',
  ]
  for (const cn of [
    ...others,
    'edge:A/B:e',
    'edge:A e:x',
    'central',
    'central:',
    'central:A:',
    'central:A:b',
    'central:*:b',
    'central:acme:*',
    'edge:acme:A:e:x',
    'edge:*:A:e',
    'edge:Acme:A:e',
    'edge:acme:A:#',
    'central:+',
    'Edge:A:e',
  ]) {
    t.is(parseIdentity(cn), undefined, cn)
  }
})

test('topics read back as they were written, and others are not ours', t => {
  for (const kind of TOPIC_KINDS) {
    const topic = { site_id: 'A', edge_id: 'e1', kind, ...(kind === 'telemetry' ? { protocol: 'modbus' as const } : {}) }
    t.deepEqual(parseTopic(topicOf(topic)), topic)
    const hosted = { tenant_id: 'acme', ...topic }
    t.true(topicOf(hosted).startsWith(`tenants/acme/buildings/A/edges/e1/${kind}`))
    t.deepEqual(parseTopic(topicOf(hosted)), hosted)
  }
  for (const topic of [
    '',
    'sites/A/edges/e1',
    'sites/A/edges/e1/telemetry',
    'sites/A/edges/e1/telemetry/csv',
    'sites/A/edges/e1/acks/x',
    'sites//edges/e1/acks',
    'sites/A/edges/+/acks',
    'site/A/edges/e1/acks',
    '$SYS/x',
    'tenants/acme/sites/A/edges/e1/acks',
    'tenants/Acme/buildings/A/edges/e1/acks',
    'tenants//buildings/A/edges/e1/acks',
    'tenants/acme/buildings/A/edges/e1',
    'buildings/A/edges/e1/acks',
  ]) {
    t.is(parseTopic(topic), undefined, topic)
  }
})

const edge = topicsOf({ kind: 'edge', site_id: 'A', edge_id: 'e1' })
const central = topicsOf({ kind: 'central', site_id: 'A' })
const all = topicsOf({ kind: 'central', site_id: '*' })
const kinds = ['telemetry/bacnet', 'findings', 'metadata', 'status', 'responses', 'acks', 'requests']

test('who may publish what', t => {
  const table: [string, boolean[], boolean[], boolean[]][] = [
    // under             edge A:e1, central A, central *: one flag per kind above
    [
      'sites/A/edges/e1',
      [true, true, true, true, true, false, false],
      [false, false, false, false, false, true, true],
      [false, false, false, false, false, true, true],
    ],
    [
      'sites/A/edges/e2',
      Array(7).fill(false),
      [false, false, false, false, false, true, true],
      [false, false, false, false, false, true, true],
    ],
    ['sites/B/edges/e1', Array(7).fill(false), Array(7).fill(false), [false, false, false, false, false, true, true]],
  ]
  for (const [base, ...expected] of table) {
    for (const [i, rule] of [edge, central, all].entries()) {
      t.deepEqual(
        kinds.map(kind => mayPublish(rule, `${base}/${kind}`)),
        expected[i]!,
        `${base} ${i}`,
      )
    }
  }
  for (const topic of [
    'sites/A/edges/e1/telemetry/',
    'sites/A/edges/e1/telemetry/csv',
    'sites/A/edges/e1/telemetry',
    'sites/A/edges/e1/telemetry/a/b',
    'sites/A/edges/e1/+',
    '#',
  ]) {
    t.false(mayPublish(edge, topic), topic)
  }
})

test('who may subscribe what: a filter must be covered whole', t => {
  for (const [rule, filter, allowed] of [
    [edge, 'sites/A/edges/e1/acks', true],
    [edge, 'sites/A/edges/e1/requests', true],
    [edge, 'sites/A/edges/+/acks', false],
    [edge, 'sites/+/edges/e1/acks', false],
    [edge, 'sites/A/edges/e1/+', false],
    [edge, 'sites/A/edges/e1/#', false],
    [edge, 'sites/A/edges/e1/telemetry/bacnet', false],
    [edge, '#', false],
    [central, 'sites/A/edges/+/telemetry/+', true],
    [central, 'sites/A/edges/e7/telemetry/bacnet', true],
    [central, 'sites/A/edges/+/telemetry/#', false],
    [central, 'sites/A/edges/#', false],
    [central, 'sites/+/edges/+/telemetry/+', false],
    [central, 'sites/B/edges/+/status', false],
    [all, 'sites/+/edges/+/telemetry/+', true],
    [all, 'sites/B/edges/+/status', true],
    [all, 'sites/#', false],
    [all, '$share/x/sites/+/edges/+/status', false],
    [all, '$SYS/#', false],
  ] as const) {
    t.is(maySubscribe(rule, filter), allowed, filter)
  }
})

test('an edge of a tenant reaches no topic of another tenant or of the hub’s own sites', t => {
  const acme = topicsOf({ kind: 'edge', tenant_id: 'acme', site_id: 'A', edge_id: 'e1' })
  const everyTenant = topicsOf({ kind: 'central', site_id: '*', tenants: true })
  const own = 'tenants/acme/buildings/A/edges/e1'
  for (const base of [own, 'tenants/other/buildings/A/edges/e1', 'sites/A/edges/e1']) {
    t.is(mayPublish(acme, `${base}/status`), base === own, base)
    t.is(maySubscribe(acme, `${base}/acks`), base === own, base)
    t.true(mayPublish(everyTenant, `${base}/acks`), base)
  }
  for (const filter of ['tenants/+/buildings/A/edges/e1/acks', 'tenants/acme/buildings/+/edges/e1/acks', 'tenants/#']) {
    t.false(maySubscribe(acme, filter), filter)
  }
  t.true(maySubscribe(everyTenant, 'tenants/+/buildings/+/edges/+/telemetry/+'))
  t.false(maySubscribe(all, 'tenants/+/buildings/+/edges/+/telemetry/+'), 'a hub without tenants')
  t.false(mayPublish(edge, `${own}/status`))
})

test('the ACL for mosquitto says the same', t => {
  const acl = toMosquittoAcl({ kind: 'edge', site_id: 'A', edge_id: 'e1' })
  const lines = acl.trim().split('\n')
  t.is(lines[0], 'user edge:A:e1')
  t.deepEqual(
    lines.slice(1).toSorted(),
    [...edge.publish.map(filter => `topic write ${filter}`), ...edge.subscribe.map(filter => `topic read ${filter}`)].toSorted(),
  )
})

test('the ACL of central in the provisioning guide is the one that the rule prints', t => {
  const text = readFileSync(new URL('../../../../provisioning/README.md', import.meta.url), 'utf8')
  t.true(text.includes(toMosquittoAcl({ kind: 'central', site_id: '*' })))
})

test('TOPICS.md names every kind of topic', t => {
  const text = readFileSync(new URL('../../../../shared/core/topic/TOPICS.md', import.meta.url), 'utf8')
  for (const kind of TOPIC_KINDS) t.true(text.includes(`/${kind}`), kind)
})
