/** A hub that is asked to stop while it is busy. */
import { join } from 'node:path'
import test from 'ava'
import { writeKit } from '#shared/node/pki/kit-write.ts'
import { makeAuthority } from '../support/sites/transport-site.ts'
import { assertInOrder, atLeast, AUTH, configure, countingDevice, loopback, program } from './field-site.ts'
import { freeBase, temporaryFolder } from './run-start.ts'

const READERS = 20

test.serial('SIGTERM while requests and ingest run ends the hub in order within 10 s, and nothing is lost', async t => {
  t.timeout(400_000)
  const [dir, base] = [await temporaryFolder(t), await freeBase(3)]
  const device = await countingDevice(t)
  await configure(join(dir, 'edge'), device.port)
  const pki = await makeAuthority(join(dir, 'pki'))
  const place = { broker_host: '127.0.0.1', broker_port: base + 1 }
  await writeKit(await pki.kit({ site_id: 'demo', edge_id: 'edge-1', ...place }), join(dir, 'kit'))
  const hub = program(t, 'hub', {
    main: 'hub/main.ts',
    url: loopback(base),
    logs: dir,
    env: {
      ...AUTH,
      SERVICE_SITE_ID: 'demo',
      SERVICE_CENTRAL_BIND: '127.0.0.1',
      SERVICE_CENTRAL_PORT: String(base),
      SERVICE_WORKSPACE: join(dir, 'hub'),
      SERVICE_MQTT_BIND: '127.0.0.1',
      SERVICE_MQTT_PORT: String(base + 1),
      SERVICE_MQTT_CERT_DIR: join(dir, 'pki'),
    },
  })
  const edge = program(t, 'fieldbus', {
    main: 'appliance/fieldbus/main.ts',
    url: loopback(base + 2),
    logs: dir,
    env: {
      SERVICE_WORKSPACE: join(dir, 'edge'),
      SERVICE_EDGE_STORE_DIR: join(dir, 'store'),
      SERVICE_EDGE_KIT_DIR: join(dir, 'kit'),
      SERVICE_BACNET_BIND: '127.0.0.1',
      SERVICE_BACNET_PORT: '0',
      SERVICE_EDGE_PORT: String(base + 2),
    },
  })
  await hub.start()
  await edge.start()
  const before = await atLeast(hub.url, 3)

  let isStopping = false
  const statuses: number[] = []
  const broken: string[] = []
  const read = async () => {
    for (;;) {
      try {
        const answer = await fetch(`${hub.url}/api/health`)
        await answer.arrayBuffer()
        statuses.push(answer.status)
      } catch (error) {
        // Its port is closed from now on.
        if (!isStopping) broken.push(String(error))
        return
      }
    }
  }
  const readers = Array.from({ length: READERS }, read)
  while (statuses.length < READERS) await new Promise(resolve => setImmediate(resolve))
  isStopping = true
  // A process whose services take longer than 10 s exits with 1.
  t.is(await hub.stop(), 'exited with 0')
  await Promise.all(readers)
  t.deepEqual(broken, [])
  t.deepEqual(
    [...new Set(statuses)].filter(status => status !== 200 && status !== 503),
    [],
  )

  await hub.start()
  const after = await atLeast(hub.url, before.length + 3)
  t.deepEqual(after.slice(0, before.length), before)
  assertInOrder(t, after)
})
