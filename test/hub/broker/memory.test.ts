/** One valid certificate attacks the memory of a broker in every known way; a regular edge is served at the same time. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect as tlsConnect } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { connectAsync } from 'mqtt'
import { PKI_FILES } from '#shared/node/pki/pki-files.ts'
import { HANDSHAKES_PER_NETWORK } from '#hub/broker/limits.ts'
import { folder, until } from '../../support/folders.ts'
import {
  type Access,
  connectPacket,
  dial,
  enter,
  eventOrEnd,
  header,
  pour,
  publishPacket,
  subscribePacket,
} from '../../support/raw-client.ts'
import { makeAuthority } from '../../support/sites/transport-site.ts'

const MAIN = new URL('../../../hub/mqtt/main.ts', import.meta.url).pathname
const MB = 2 ** 20
/**
 * What one certificate may add to a broker, MB: 8 of packets that are not whole, 8 under way, 4 of retained metadata, and a packet of 4
 * in each of four connections are 36; V8 collects what was handed on only when so much again has come.
 */
const GROWTH_MAX_MB = 150
const BAD = 'sites/A/edges/bad'

/** A broker process with a hub's session and an honest edge that publishes ten times a second. */
async function open(t: ExecutionContext) {
  const dir = folder(t)
  const pki = await makeAuthority(dir)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  const env = { SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(port), SERVICE_MQTT_CERT_DIR: dir }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(text))
  await until(() => lines.some(line => line.includes('"msg":"running"')), 'the broker runs')

  const place = { broker_host: '127.0.0.1', broker_port: port }
  const read = (name: string) => readFileSync(join(dir, name), 'utf8')
  const ca = read(PKI_FILES.ca.cert)
  const join_ = async (clientId: string, cert: string, key: string) => {
    const options = { cert, key, ca, clientId, reconnectPeriod: 0, clean: true }
    const client = await connectAsync(`mqtts://127.0.0.1:${port}`, options, false)
    client.on('error', () => undefined)
    t.teardown(() => client.endAsync(true))
    return client
  }
  const hub = await join_('central:*', read(PKI_FILES.central.cert), read(PKI_FILES.central.key))
  await hub.subscribeAsync(
    ['telemetry/+', 'status', 'metadata'].map(end => `sites/+/edges/+/${end}`),
    { qos: 1 },
  )
  const kit = await pki.kit({ site_id: 'A', edge_id: 'honest', ...place })
  const honest = await join_('edge:A:honest', kit.cert_pem, kit.key_pem)
  let served = 0
  hub.on('message', topic => void (topic.includes('/honest/') && served++))
  const timer = setInterval(() => honest.publish('sites/A/edges/honest/telemetry/bacnet', '{}', { qos: 1 }), 100)
  t.teardown(() => clearInterval(timer))
  const bad = await pki.kit({ site_id: 'A', edge_id: 'bad', ...place })
  const access: Access = { port, cert_pem: bad.cert_pem, key_pem: bad.key_pem, ca_pem: ca, cn: 'edge:A:bad' }

  const own = { cert_pem: read(PKI_FILES.central.cert), key_pem: read(PKI_FILES.central.key) }
  const central: Access = { ...access, ...own, cn: 'central:*' }

  const memory = (what: 'VmRSS' | 'VmHWM') =>
    Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024
  /** Honest messages arrive from now on, as they did before. */
  const stillServes = async (what: string) => {
    const before = served
    await until(() => served >= before + 5, `the honest edge is served: ${what}`)
    if (!honest.connected || !hub.connected) throw new Error(`a session was ended: ${what}`)
  }
  await stillServes('before anything')
  return { access, central, hub, memory, stillServes, lines }
}

const zeros = (mb: number, chunk = 64 * 1024) => Array.from({ length: (mb * MB) / chunk }, () => Buffer.alloc(chunk))
type Place = Awaited<ReturnType<typeof open>>

const ATTACKS: [string, (t: ExecutionContext, place: Place) => Promise<void>][] = [
  [
    'CONNECT that announces 256 MiB and sends them',
    async (t, { access }) => {
      const sockets = await Promise.all([1, 2, 3].map(() => dial(t, access)))
      await Promise.all(sockets.map(socket => pour(socket, [header(0x10, 255 * MB), ...zeros(100)])))
    },
  ],
  [
    'a message that announces 256 MiB',
    async (t, { access }) => {
      const socket = await enter(t, access)
      await pour(socket, [header(0x32, 255 * MB), ...zeros(255)])
    },
  ],
  [
    'sixty connections, each with a packet that is never whole',
    async (t, { access }) => {
      const sockets = await Promise.all(Array.from({ length: 60 }, () => dial(t, access)))
      await Promise.all(sockets.map(socket => pour(socket, [header(0x10, 4 * MB - 1), ...zeros(3.75)])))
    },
  ],
  [
    'a thousand retained topics',
    async (t, { access }) => {
      for (let i = 0; i < 1000; i++) {
        const socket = await enter(t, access)
        const sent = publishPacket(`${BAD}/telemetry/p${i}`, Buffer.alloc(250_000), 3)
        if (!(await pour(socket, [sent, sent])) && i > 20) return
      }
    },
  ],
  [
    'messages of QoS 2 that are never released',
    async (t, { access }) => {
      const socket = await enter(t, access)
      socket.resume()
      for (let id = 1; id <= 900; id++) {
        if (!(await pour(socket, [publishPacket(`${BAD}/telemetry/bacnet`, Buffer.alloc(250_000), 4, id)]))) break
      }
    },
  ],
  [
    'a session that is to outlive its connection, and what is published for it',
    async (t, { access, hub }) => {
      const socket = await enter(t, access, { clean: false })
      await pour(socket, [subscribePacket([`${BAD}/acks`])])
      await eventOrEnd(socket, 'data')
      socket.destroy()
      for (let i = 0; i < 130; i++) {
        await Promise.all(Array.from({ length: 100 }, () => hub.publishAsync(`${BAD}/acks`, Buffer.alloc(15_000), { qos: 1 })))
      }
    },
  ],
  [
    'acknowledgements that it does not read',
    async (t, { access, hub }) => {
      const socket = await enter(t, access)
      await pour(socket, [subscribePacket([`${BAD}/acks`])])
      await eventOrEnd(socket, 'data')
      socket.pause()
      for (let i = 0; i < 130; i++) {
        await Promise.all(Array.from({ length: 100 }, () => hub.publishAsync(`${BAD}/acks`, Buffer.alloc(15_000), { qos: 1 })))
      }
    },
  ],
  [
    'filters without end, and topics and client ids of 64 kB',
    async (t, { access }) => {
      for (let i = 0; i < 30; i++) {
        const socket = await enter(t, access)
        const filters = Array.from({ length: 60 }, (_, n) => `${BAD}/${'x'.repeat(60_000)}${i}-${n}`)
        await pour(socket, [subscribePacket(filters)])
        const other = await enter(t, access)
        await pour(other, [publishPacket(`${BAD}/${'y'.repeat(60_000)}${i}`, Buffer.alloc(10))])
        await pour(await dial(t, access), [connectPacket(`edge:A:${'z'.repeat(60_000)}${i}`)])
      }
    },
  ],
]

for (const [what, attack] of ATTACKS) {
  test.serial(`${what}: memory is bounded and an honest edge is served`, async t => {
    t.timeout(180_000)
    const place = await open(t)
    const before = place.memory('VmRSS')
    let over = false
    const attacking = attack(t, place).finally(() => (over = true))
    while (!over) await place.stillServes('during the attack')
    await attacking
    await place.stillServes('after the attack')
    const growth = place.memory('VmHWM') - before
    t.log(`${Math.round(before)} MB, and ${Math.round(growth)} at most on top`)
    t.true(growth < GROWTH_MAX_MB, `${Math.round(growth)} MB`)
  })
}

test.serial('metadata of many sessions while the hub does not read: bytes in flight are bounded', async t => {
  t.timeout(180_000)
  const { access, central, memory } = await open(t)
  const before = memory('VmRSS')
  const stuck = await enter(t, central)
  await pour(stuck, [subscribePacket(['sites/+/edges/+/metadata'])])
  await eventOrEnd(stuck, 'data')
  stuck.pause()
  for (let i = 0; i < 60; i++) {
    const socket = await enter(t, access)
    await pour(socket, [publishPacket(`${BAD}/metadata`, Buffer.alloc(4 * MB - 100, i), 3)])
    socket.destroy()
  }
  const growth = memory('VmHWM') - before
  t.true(growth < GROWTH_MAX_MB, `${Math.round(growth)} MB`)
})

test.serial('handshakes without a certificate free their slot, and a fifth connection of one certificate is refused', async t => {
  t.timeout(180_000)
  const { access, stillServes } = await open(t)
  for (let i = 0; i < HANDSHAKES_PER_NETWORK + 10; i++) {
    const socket = tlsConnect({
      host: '127.0.0.1',
      port: access.port,
      ca: access.ca_pem,
      servername: 'localhost',
      maxVersion: 'TLSv1.2',
    })
    socket.on('error', () => undefined)
    await eventOrEnd(socket, 'close')
  }
  await stillServes('after handshakes that failed')
  const sockets = await Promise.all([1, 2, 3, 4].map(() => dial(t, access)))
  t.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [false, false, false, false],
  )
  const fifth = await dial(t, access)
  await eventOrEnd(fifth, 'close')
  t.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [false, false, false, false],
    'the fifth was ended while the others stayed',
  )
  sockets[0]!.destroy()
  await eventOrEnd(sockets[0]!, 'close')
  const session = await enter(t, access)
  t.true(session.writable)
})
