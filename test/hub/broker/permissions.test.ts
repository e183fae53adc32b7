import test, { type ExecutionContext } from 'ava'
import { type BrokerBench, brokerConformance, enter, isPublished, ROWS } from '../../conformance/broker.ts'
import { CLIENTS } from '../../conformance/topic-permissions.ts'
import { brokerAuthority } from '../../support/brokers/broker-authority.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { folder } from '../../support/folders.ts'
import { mosquittoAcl } from '#shared/node/pki/mosquitto-list.ts'
import { startMosquitto } from '../../support/brokers/mosquitto.ts'
import { startBroker } from '../../support/sites/transport-site.ts'

test('the table of permissions has at least 200 rows', t => t.true(ROWS >= 200))

brokerConformance(test, 'embedded broker', { refusesFilters: true, publishes: 4 }, async t => {
  const dir = folder(t)
  const bench = await brokerAuthority(dir)
  const broker = await startBroker(dir)
  t.teardown(broker.stop)
  return { ...bench, port: broker.port() }
})

async function openMosquitto(t: ExecutionContext): Promise<BrokerBench> {
  const dir = folder(t)
  const { pki, ...bench } = await brokerAuthority(dir)
  const port = await freePort()
  await startMosquitto(t, dir, mosquittoAcl(await pki.list(), Date.now()), port)
  return { ...bench, port }
}

brokerConformance(test, 'mosquitto', { refusesFilters: false, publishes: 5 }, openMosquitto)

test('mosquitto: an edge may retain telemetry, and an empty level counts as a name to central, as TOPICS.md says', async t => {
  const bench = await openMosquitto(t)
  const edge = await enter(bench, 'edge:A:e1', 5)
  const central = await enter(bench, 'central:*', 5)
  t.teardown(() => Promise.all([edge.endAsync(true), central.endAsync(true)]))
  await edge.publishAsync('sites/A/edges/e1/telemetry/bacnet', 'retained', { qos: 1, retain: true })
  const received = new Promise<string>(resolve => central.on('message', (_topic, body) => resolve(String(body))))
  await central.subscribeAsync('sites/+/edges/+/telemetry/+')
  t.is(await received, 'retained')
  t.true(await isPublished(central, 'sites//edges/e1/acks'))
})

test('the ACL leaves out names whose certificates are revoked or expired, and names that are no identity', async t => {
  const { pki } = await brokerAuthority(folder(t))
  const names = async (now: number): Promise<string[]> => mosquittoAcl(await pki.list(), now).match(/(?<=^user ).*$/gm) ?? []
  t.deepEqual((await names(Date.now())).toSorted(), CLIENTS.map(({ cn }) => cn).toSorted())
  await pki.revoke((await pki.list()).find(({ cn }) => cn === 'edge:B:e1')!.serial)
  t.false((await names(Date.now())).includes('edge:B:e1'))
  t.deepEqual(await names(Date.now() + 400 * 86_400_000), [])
})
