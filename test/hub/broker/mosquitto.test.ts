import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { connectAsync, type MqttClient } from 'mqtt'
import { commonName } from '#shared/core/auth/identity.ts'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import type { Kit } from '#shared/node/pki/kit-read.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'
import { makePki, openPki, PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { readCentralFiles } from '#hub/broker/files.ts'
import { writeMosquittoFiles } from '#hub/broker/mosquitto.ts'
import { folder, until } from '../../support/folders.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { startMosquitto } from '../../support/brokers/mosquitto.ts'
import { makeAuthority, reading, startEdge, startHub } from '../../support/sites/transport-site.ts'

async function enter(t: ExecutionContext, kit: Kit, port: number, clientId: string): Promise<MqttClient> {
  const { cert_pem: cert, key_pem: key, ca_pem: ca } = kit
  const client = await connectAsync(`mqtts://127.0.0.1:${port}`, { cert, key, ca, clientId, reconnectPeriod: 0 }, false)
  client.on('error', () => undefined)
  t.teardown(() => client.endAsync(true))
  return client
}

test('with mosquitto and the printed ACL, all messages arrive across a restart, and no edge reaches topics of another', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const port = await freePort()
  const place = { broker_host: '127.0.0.1', broker_port: port }
  const [kit, other] = [
    await pki.kit({ site_id: 'A', edge_id: 'e1', ...place }),
    await pki.kit({ site_id: 'B', edge_id: 'e1', ...place }),
  ]
  const acl = [kit.acl, other.acl, toMosquittoAcl({ kind: 'central', site_id: '*' })].join('\n')
  const broker = await startMosquitto(t, certs, acl, port)
  const hub = await startHub(certs, join(dir, 'hub'), port)
  const edge = await startEdge(kit, join(dir, 'outbox'))
  t.teardown(async () => {
    await edge.stop()
    await hub.stop()
  })
  for (let n = 1; n <= 50; n++) await edge.outbox.write([reading(n)])
  await until(() => edge.state().backlog === 0 && hub.samples().length === 50, 'everything acknowledged')

  const ended = once(broker, 'exit')
  broker.kill('SIGKILL')
  await ended
  for (let n = 51; n <= 100; n++) await edge.outbox.write([reading(n)])
  await startMosquitto(t, certs, acl, port)
  await until(() => edge.state().backlog === 0 && hub.samples().length === 100, 'everything acknowledged after the restart')
  t.deepEqual(
    hub.samples().map(({ v }) => v),
    Array.from({ length: 100 }, (_, i) => i + 1),
  )

  const before = hub.counters()
  const thief = await enter(t, other, port, commonName({ kind: 'edge', site_id: 'B', edge_id: 'e1' }))
  const heard: string[] = []
  thief.on('message', topic => heard.push(topic))
  await thief.subscribeAsync('#', { qos: 1 }).catch(() => undefined)
  await thief.publishAsync('sites/A/edges/e1/telemetry/bacnet', '{}', { qos: 1 })
  await thief.publishAsync('sites/B/edges/e1/telemetry/bacnet', '{}', { qos: 1 })
  await until(() => hub.counters().ingest_rejected > before.ingest_rejected, 'what it sent under its own prefix')
  await edge.outbox.write([reading(101)])
  await until(() => edge.state().backlog === 0, 'the edge is still served')
  t.is(hub.counters().ingest_rejected, before.ingest_rejected + 1, 'what it sent under the other’s prefix was not delivered')
  t.deepEqual(heard, [])
})

test('with mosquitto, a valid certificate cannot take over central’s session by its client id', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const port = await freePort()
  const kit = await pki.kit({ site_id: 'B', edge_id: 'e1', broker_host: '127.0.0.1', broker_port: port })
  await startMosquitto(t, certs, `${kit.acl}\n${toMosquittoAcl({ kind: 'central', site_id: '*' })}`, port)
  const central = await enter(t, { ...kit, ...(await readCentralFiles(certs)) }, port, 'central:*')
  const heard: string[] = []
  central.on('message', topic => heard.push(topic))
  await central.subscribeAsync('sites/+/edges/+/status', { qos: 1 })
  const thief = await enter(t, kit, port, 'central:*').catch(() => undefined)
  await thief?.publishAsync('sites/B/edges/e1/status', '{"online":true}', { qos: 1 })
  if (thief) await until(() => heard.length > 0, 'central still receives')
  t.true(central.connected)
})

test('with mosquitto, a revoked certificate is refused', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const port = await freePort()
  const place = { site_id: 'A', broker_host: '127.0.0.1', broker_port: port }
  const [gone, stays] = [await pki.kit({ ...place, edge_id: 'e1' }), await pki.kit({ ...place, edge_id: 'e2' })]
  await pki.revoke((await pki.list()).find(({ cn }) => cn === 'edge:A:e1')!.serial)
  await startMosquitto(t, certs, `${gone.acl}\n${stays.acl}`, port)
  await t.throwsAsync(enter(t, gone, port, 'edge:A:e1'))
  await t.notThrowsAsync(enter(t, stays, port, 'edge:A:e2'))
})

test('with mosquitto, a renewed certificate and a second authority count from SIGHUP on, and sessions stay', async t => {
  const dir = folder(t)
  const [certs, other] = [join(dir, 'pki'), join(dir, 'other')]
  await makePki(other, { name: 'Other', now: Date.now() })
  const pki = await makeAuthority(certs)
  const port = await freePort()
  const place = { site_id: 'A', broker_host: '127.0.0.1', broker_port: port }
  const own = await pki.kit({ ...place, edge_id: 'own' })
  const foreign = { ...(await (await openPki(other, Date.now)).kit({ ...place, edge_id: 'foreign' })), ca_pem: own.ca_pem }
  const broker = await startMosquitto(t, certs, `${own.acl}\n${foreign.acl}`, port)
  const client = await enter(t, own, port, 'edge:A:own')
  await t.throwsAsync(enter(t, foreign, port, 'edge:A:foreign'))

  const { serial } = await pki.renewFile(join(certs, PKI_FILES.broker.cert))
  await pki.trust({
    ca_pem: readFileSync(join(other, PKI_FILES.ca.cert), 'utf8'),
    crl_pem: readFileSync(join(other, PKI_FILES.crl), 'utf8'),
  })
  broker.kill('SIGHUP')
  const deadline = Date.now() + 20_000
  let shown = ''
  while (shown !== serial && Date.now() < deadline) {
    const passer = await enter(t, await pki.kit({ ...place, edge_id: 'passer' }), port, 'edge:A:passer')
    shown = serialOf((passer.stream as TLSSocket).getPeerX509Certificate()!.serialNumber)
    await passer.endAsync()
  }
  t.is(shown, serial)
  await t.notThrowsAsync(enter(t, foreign, port, 'edge:A:foreign'))
  t.true(client.connected)
})

test('mosquitto starts with the files as they are written, and delivers for a box of later once it has read them again', async t => {
  const dir = folder(t)
  const certs = join(dir, 'pki')
  const pki = await makeAuthority(certs)
  const port = await freePort()
  const place = { broker_host: '127.0.0.1', broker_port: port }
  const first = await pki.kit({ site_id: 'A', edge_id: 'e1', ...place })
  const [conf] = await writeMosquittoFiles(certs, { host: '127.0.0.1', port }, Date.now())
  const broker = spawn('mosquitto', ['-c', conf!], { stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => broker.kill('SIGKILL'))
  let said = ''
  broker.stderr.on('data', bytes => (said += String(bytes)))
  await until(() => said.includes('running') || broker.exitCode !== null, 'mosquitto runs')
  t.is(broker.exitCode, null, said)

  const hub = await startHub(certs, join(dir, 'hub'), port)
  t.teardown(hub.stop)
  const edgeOf = async (kit: Kit) => {
    const edge = await startEdge(kit, join(dir, kit.edge.edge_id))
    t.teardown(edge.stop)
    await edge.outbox.write([reading(Number(kit.edge.edge_id.slice(1)))])
    return edge
  }
  const one = await edgeOf(first)
  await until(() => one.state().backlog === 0, 'the first edge is stored')
  const second = await pki.kit({ site_id: 'A', edge_id: 'e2', ...place })
  const revoked = await pki.kit({ site_id: 'A', edge_id: 'e3', ...place })
  const two = await edgeOf(second)
  await until(() => two.state().state === 'up', 'the box of later is connected')
  t.is(two.state().backlog, 1, 'and nothing of it is delivered')
  await pki.revoke(serialOf(new X509Certificate(revoked.cert_pem).serialNumber))
  broker.kill('SIGHUP')
  // A status, as it is sent each minute.
  const status = setInterval(() => two.announce(), 1000)
  t.teardown(() => clearInterval(status))
  await until(() => two.state().backlog === 0, 'the box of later is stored', 60_000)
  await t.throwsAsync(enter(t, revoked, port, commonName({ kind: 'edge', site_id: 'A', edge_id: 'e3' })))
})
