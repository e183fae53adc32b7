import { once } from 'node:events'
import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { issueClient, makeCa, type Pair } from '#shared/node/pki/pki.ts'
import { openBrokerFiles } from '#hub/broker/files.ts'
import { KEEPALIVE_MAX_SECS } from '#hub/broker/limits.ts'
import { DAY } from '#shared/core/time.ts'
import { folder, until } from '../../support/folders.ts'
import { makeAuthority, silent, startBroker } from '../../support/sites/transport-site.ts'

async function place(t: ExecutionContext) {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const broker = await startBroker(dir)
  t.teardown(broker.stop)
  const read = (name: string) => readFileSync(join(dir, name), 'utf8')
  const authority: Pair = { cert_pem: read(PKI_FILES.ca.cert), key_pem: read(PKI_FILES.ca.key) }
  const central: Pair = { cert_pem: read(PKI_FILES.central.cert), key_pem: read(PKI_FILES.central.key) }
  const kit = (site_id: string, edge_id: string) =>
    pki.kit({ site_id, edge_id, broker_host: '127.0.0.1', broker_port: broker.port() })
  return { dir, pki, broker, authority, central, kit }
}
type Place = Awaited<ReturnType<typeof place>>

/** Connects, or throws the reason for which it could not. The test ends the connection. */
async function enter(
  t: ExecutionContext,
  { broker, authority }: Place,
  { cert_pem, key_pem }: Partial<Pair>,
  clientId: string,
  more: IClientOptions = {},
) {
  const options: IClientOptions = { reconnectPeriod: 0, connectTimeout: 20_000, clientId, clean: true, ca: authority.cert_pem }
  const pair = cert_pem && key_pem ? { cert: cert_pem, key: key_pem } : {}
  const client = await connectAsync(`mqtts://127.0.0.1:${broker.port()}`, { ...options, ...pair, ...more }, false)
  client.on('error', () => undefined)
  t.teardown(() => client.endAsync(true))
  return client
}

/** What a client receives under its subscriptions. */
function inbox(client: MqttClient): string[] {
  const received: string[] = []
  client.on('message', (topic, payload) => received.push(`${topic} ${payload}`))
  return received
}

test('edge and central publish and subscribe to the topics of the table', async t => {
  const here = await place(t)
  const central = await enter(t, here, here.central, 'central:*')
  const edge = await enter(t, here, await here.kit('A', 'e1'), 'edge:A:e1')
  const [atHub, atEdge] = [inbox(central), inbox(edge)]
  await central.subscribeAsync('sites/+/edges/+/telemetry/+', { qos: 1 })
  await edge.subscribeAsync('sites/A/edges/e1/acks', { qos: 1 })
  await edge.publishAsync('sites/A/edges/e1/telemetry/bacnet', 'up', { qos: 1 })
  await central.publishAsync('sites/A/edges/e1/acks', 'down', { qos: 1 })
  await until(() => atHub.length > 0 && atEdge.length > 0, 'both ways')
  t.deepEqual(atHub, ['sites/A/edges/e1/telemetry/bacnet up'])
  t.deepEqual(atEdge, ['sites/A/edges/e1/acks down'])
  t.deepEqual(here.broker.sessions(), ['central:*', 'edge:A:e1'])
})

test('a certificate of another authority, none at all, and the broker’s own are refused', async t => {
  const here = await place(t)
  const foreign = await makeCa({ name: 'Foreign', now: Date.now() })
  const edge = await issueClient(foreign, { cn: 'edge:A:e1', now: Date.now() })
  const central = await issueClient(foreign, { cn: 'central:*', now: Date.now() })
  const server = await here.pki.broker({ hosts: ['127.0.0.1'] })
  await t.throwsAsync(enter(t, here, edge, 'edge:A:e1'))
  await t.throwsAsync(enter(t, here, central, 'central:*'))
  await t.throwsAsync(enter(t, here, {}, 'edge:A:e1'))
  await t.throwsAsync(enter(t, here, server, 'broker'))
  t.deepEqual(here.broker.sessions(), [])
  const counted = here.broker.refused()
  t.true(counted >= 4, `${counted} refusals`)
  await t.throwsAsync(enter(t, here, edge, 'edge:A:e1'))
  t.true(here.broker.refused() > counted)
})

test('a signed certificate whose name is no identity is refused', async t => {
  const here = await place(t)
  for (const cn of [
    'edge:+:e1',
    'edge:A:+',
    'edge:A:#',
    'edge:A:',
    'edge::e1',
    'edge:A:e1:x',
    'edge:A/B:e1',
    'central:',
    'hub',
    '+',
  ]) {
    const pair = await issueClient(here.authority, { cn, now: Date.now() })
    await t.throwsAsync(enter(t, here, pair, cn), undefined, cn)
  }
  t.deepEqual(here.broker.sessions(), [])
})

for (const [what, fromNowMs] of Object.entries({ 'has ended': -10 * DAY, 'has not begun': 2 * DAY }))
  test(`a certificate that ${what} is refused`, async t => {
    const here = await place(t)
    const other = await issueClient(here.authority, { cn: 'edge:A:e1', now: Date.now() + fromNowMs, days: 2 })
    await t.throwsAsync(enter(t, here, other, 'edge:A:e1'))
    t.deepEqual(here.broker.sessions(), [])
    const good = await issueClient(here.authority, { cn: 'edge:A:e1', now: Date.now(), days: 2 })
    t.true((await enter(t, here, good, 'edge:A:e1')).connected, 'nothing else was in its way')
  })

test('TLS 1.1 is refused', async t => {
  const here = await place(t)
  const { cert_pem: cert, key_pem: key } = await here.kit('A', 'e1')
  const tls = { cert, key, ca: here.authority.cert_pem, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const
  const socket = tlsConnect({ host: '127.0.0.1', port: here.broker.port(), ciphers: 'DEFAULT@SECLEVEL=0', ...tls })
  await t.throwsAsync(once(socket, 'secureConnect'))
})

test('cipher suites of TLS 1.2 without authenticated encryption are refused, those with it and TLS 1.3 are not', async t => {
  const here = await place(t)
  const { cert_pem: cert, key_pem: key } = await here.kit('A', 'e1')
  const greet = async (maxVersion: 'TLSv1.2' | 'TLSv1.3', ciphers?: string) => {
    const tls = { cert, key, ca: here.authority.cert_pem, maxVersion, ...(ciphers && { ciphers }) }
    const socket = tlsConnect({ host: '127.0.0.1', port: here.broker.port(), ...tls })
    try {
      await once(socket, 'secureConnect')
      return socket.getCipher().name
    } catch (error) {
      return (error as NodeJS.ErrnoException).code
    } finally {
      socket.destroy()
    }
  }
  for (const weak of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-AES128-SHA256']) {
    t.is(await greet('TLSv1.2', `${weak}:@SECLEVEL=0`), 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', weak)
  }
  t.is(await greet('TLSv1.2'), 'ECDHE-ECDSA-AES128-GCM-SHA256')
  t.regex((await greet('TLSv1.3')) ?? '', /^TLS_/)
})

test('a client id other than the certificate’s name is refused, so no session can be taken over', async t => {
  const here = await place(t)
  const central = await enter(t, here, here.central, 'central:*')
  const received = inbox(central)
  await central.subscribeAsync('sites/+/edges/+/telemetry/+', { qos: 1 })
  for (const clientId of ['central:*', 'edge:A:e1', 'anything']) {
    await t.throwsAsync(enter(t, here, await here.kit('B', 'e1'), clientId), undefined, clientId)
  }
  const edge = await enter(t, here, await here.kit('A', 'e1'), 'edge:A:e1')
  await edge.publishAsync('sites/A/edges/e1/telemetry/bacnet', 'still here', { qos: 1 })
  await until(() => received.length > 0, 'central kept its session')
  t.true(central.connected)
})

test('a session that could be gone without anybody knowing is refused: one without a keep-alive, or with a long one', async t => {
  const here = await place(t)
  const kit = await here.kit('A', 'e1')
  for (const keepalive of [0, KEEPALIVE_MAX_SECS + 1, 65_535]) {
    await t.throwsAsync(enter(t, here, kit, 'edge:A:e1', { keepalive }), undefined, `${keepalive} s`)
  }
  t.deepEqual(here.broker.sessions(), [])
  t.true((await enter(t, here, kit, 'edge:A:e1', { keepalive: KEEPALIVE_MAX_SECS })).connected)
})

test('an edge cannot publish or subscribe outside its own prefix, nor in the wrong direction', async t => {
  const here = await place(t)
  const central = await enter(t, here, here.central, 'central:*')
  const received = inbox(central)
  await central.subscribeAsync('sites/+/edges/+/telemetry/+', { qos: 1 })
  const kit = await here.kit('A', 'e1')
  const refused = [
    'sites/B/edges/e1/telemetry/bacnet',
    'sites/A/edges/e2/telemetry/bacnet',
    'sites/A/edges/e1/acks',
    'sites/A/edges/e1/telemetry/bacnet/more',
    '$SYS/x',
  ]
  for (const topic of refused) {
    const edge = await enter(t, here, kit, 'edge:A:e1')
    edge.publish(topic, 'x', { qos: 1 })
    await until(() => !edge.connected, topic)
    t.pass(topic)
  }
  const edge = await enter(t, here, kit, 'edge:A:e1')
  for (const filter of [
    '#',
    'sites/#',
    'sites/+/edges/+/acks',
    'sites/B/edges/e1/acks',
    'sites/A/edges/e1/telemetry/+',
    '$SYS/#',
  ]) {
    await t.throwsAsync(edge.subscribeAsync(filter, { qos: 1 }), undefined, filter)
  }
  await edge.publishAsync('sites/A/edges/e1/telemetry/bacnet', 'own', { qos: 1 })
  await until(() => received.length > 0, 'its own prefix works')
  t.deepEqual(received, ['sites/A/edges/e1/telemetry/bacnet own'])
})

test('only metadata and status are retained, unknown protocols are refused, and bodies are bounded by kind of topic', async t => {
  const here = await place(t)
  const kit = await here.kit('A', 'e1')
  const base = 'sites/A/edges/e1'
  const refused = [
    [`${base}/telemetry/bacnet`, 'x', { retain: true }],
    [`${base}/findings`, 'x', { retain: true }],
    [`${base}/telemetry/csv`, 'x', {}],
    [`${base}/telemetry/x1`, 'x', { retain: true }],
    [`${base}/telemetry/modbus`, Buffer.alloc(256 * 1024 + 1), {}],
    [`${base}/status`, Buffer.alloc(128 * 1024 + 1), {}],
    [`${base}/telemetry/bacnet`, 'x', { qos: 2 }],
  ] as const
  for (const [topic, body, more] of refused) {
    const edge = await enter(t, here, kit, 'edge:A:e1')
    edge.publish(topic, body, { qos: 1, ...more })
    await until(() => !edge.connected, `${topic} ${JSON.stringify(more)}`)
  }
  const edge = await enter(t, here, kit, 'edge:A:e1')
  await edge.publishAsync(`${base}/metadata`, Buffer.alloc(4 * 2 ** 20 - 100), { qos: 1, retain: true })
  await edge.publishAsync(`${base}/status`, 'there', { qos: 1, retain: true })
  await edge.publishAsync(`${base}/telemetry/haystack`, Buffer.alloc(256 * 1024), { qos: 1 })
  const central = await enter(t, here, here.central, 'central:*')
  const received: [string, number][] = []
  central.on('message', (topic, payload) => received.push([topic, payload.length]))
  await central.subscribeAsync(
    ['telemetry/+', 'metadata', 'status'].map(end => `sites/+/edges/+/${end}`),
    { qos: 1 },
  )
  await until(() => received.length >= 2, 'what is retained')
  t.deepEqual(received.toSorted(), [
    [`${base}/metadata`, 4 * 2 ** 20 - 100],
    [`${base}/status`, 5],
  ])
})

test('the topic rule applies to the last will too', async t => {
  const here = await place(t)
  const central = await enter(t, here, here.central, 'central:*')
  const received = inbox(central)
  await central.subscribeAsync('sites/+/edges/+/status', { qos: 1 })
  for (const [site, topic] of [
    ['A', 'sites/B/edges/e1/status'],
    ['B', 'sites/B/edges/e1/status'],
  ] as const) {
    const { cert_pem: cert, key_pem: key } = await here.kit(site, 'e1')
    const will = { topic, payload: Buffer.from(`will of ${site}`), qos: 1 as const }
    const options = { cert, key, ca: here.authority.cert_pem, clientId: `edge:${site}:e1`, reconnectPeriod: 0, will }
    const edge = await connectAsync(`mqtts://127.0.0.1:${here.broker.port()}`, options, false)
    edge.on('error', () => undefined)
    edge.stream.destroy()
  }
  await until(() => received.length > 0, 'the will of B')
  t.deepEqual(received, ['sites/B/edges/e1/status will of B'])
})

test('revocation ends the open session and refuses the next one; others stay', async t => {
  const here = await place(t)
  const [gone, stays] = [await here.kit('A', 'e1'), await here.kit('A', 'e2')]
  const first = await enter(t, here, gone, 'edge:A:e1')
  const second = await enter(t, here, stays, 'edge:A:e2')
  const { serial } = (await here.pki.list()).find(({ cn }) => cn === 'edge:A:e1')!
  await here.pki.revoke(serial)
  await until(() => !first.connected, 'the session ends')
  await t.throwsAsync(enter(t, here, gone, 'edge:A:e1'))
  t.true(second.connected)
  t.deepEqual(here.broker.sessions(), ['edge:A:e2'])
})

test('a broker does not start without the list of revoked certificates, nor with one of another authority', async t => {
  const here = await place(t)
  const other = folder(t)
  await makeAuthority(other)
  const crl = join(here.dir, PKI_FILES.crl)
  copyFileSync(join(other, PKI_FILES.crl), crl)
  await t.throwsAsync(openBrokerFiles(here.dir, silent), { message: /not signed by the authority/ })
  rmSync(crl)
  await t.throwsAsync(openBrokerFiles(here.dir, silent), { message: /ENOENT/ })
})

test('without a hub the broker sends PUBACK and discards the message, so PUBACK is no receipt', async t => {
  const here = await place(t)
  const edge = await enter(t, here, await here.kit('A', 'e1'), 'edge:A:e1')
  await edge.publishAsync('sites/A/edges/e1/telemetry/bacnet', 'lost', { qos: 1 })
  const central = await enter(t, here, here.central, 'central:*')
  const received = inbox(central)
  await central.subscribeAsync('sites/+/edges/+/telemetry/+', { qos: 1 })
  await edge.publishAsync('sites/A/edges/e1/telemetry/bacnet', 'kept', { qos: 1 })
  await until(() => received.length > 0, 'the second one')
  t.deepEqual(received, ['sites/A/edges/e1/telemetry/bacnet kept'])
})
