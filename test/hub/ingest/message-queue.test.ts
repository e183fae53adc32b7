/** One edge floods a hub with what its certificate allows; another is served meanwhile, and memory is bounded. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { packBody } from '#shared/core/telemetry/body.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { writeTelemetry } from '#shared/core/telemetry/telemetry.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import { MessageQueue } from '#hub/ingest/message-queue.ts'
import { freePort } from '#scripts/lib/free-port.ts'
import { COMPILED } from '#scripts/lib-start/process.ts'
import { folder, until } from '../../support/folders.ts'
import { envelope, NOON } from '../../support/messages.ts'
import { enter, pour, publishPacket } from '../../support/raw-client.ts'
import { edgeModel, makeAuthority, reading, startEdge } from '../../support/sites/transport-site.ts'

/** On top of a hub at rest: the broker's bounds for one certificate, and metadata of 4 MiB as text, as values and as rows. */
const GROWTH_MAX_MB = 250

async function open(t: ExecutionContext) {
  const dir = folder(t)
  const pki = await makeAuthority(join(dir, 'pki'))
  const [port, http] = [await freePort(), await freePort()]
  const env = {
    ...{ SERVICE_MQTT_BIND: '127.0.0.1', SERVICE_MQTT_PORT: String(port), SERVICE_MQTT_CERT_DIR: join(dir, 'pki') },
    ...{ SERVICE_CENTRAL_BIND: '127.0.0.1', SERVICE_CENTRAL_PORT: String(http), SERVICE_DEV_OPEN: '1' },
    SERVICE_WORKSPACE: join(dir, 'hub'),
  }
  const main = new URL('../../../hub/main.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [main], { env: { ...COMPILED, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let running = false
  child.stderr.setEncoding('utf8').on('data', (text: string) => (running ||= text.includes('"msg":"running"')))
  await until(() => running, 'the hub runs', 60_000)
  const kitOf = (edge_id: string) => pki.kit({ site_id: 'A', edge_id, broker_host: '127.0.0.1', broker_port: port })
  const honest = await startEdge(await kitOf('honest'), join(dir, 'honest'))
  t.teardown(honest.stop)
  const memory = (what: 'VmRSS' | 'VmHWM') =>
    Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024
  return { honest, memory, access: { ...(await kitOf('bad')), port, cn: 'edge:A:bad' } }
}

/** Metadata of 9,000 points, different for each `i`. */
function metadataOf(i: number): Buffer {
  const model = edgeModel('A', `building-${i % 3}`)
  const points = Array.from({ length: 9000 }, (_, n) => ({ ...model.points[0]!, point_id: `p${n}-${i}`, name: 'x'.repeat(200) }))
  return packBody(writeMetadata('A', 'bad', { ...model, points }))
}
function telemetryOf(seq: number): Buffer {
  const readings = Array.from({ length: 500 }, (_, n) => ({ id: `p${n}-${seq}`, t: NOON, v: n, q: 'good' as const }))
  const head = { ...envelope(seq), edge_id: 'bad', protocol: 'bacnet' as const, time_synced: true }
  return packBody(writeTelemetry({ ...head, readings }))
}

for (const [what, topic, bodyOf] of [
  ['metadata that changes each time', 'metadata', metadataOf],
  ['telemetry of 500 points, in order', 'telemetry/bacnet', telemetryOf],
] as const) {
  test.serial(`an edge that floods a hub with ${what} delays only itself`, async t => {
    t.timeout(300_000)
    const { honest, memory, access } = await open(t)
    await honest.outbox.write([reading(1)])
    await until(() => honest.state().backlog === 0, 'served before the flood')
    const before = memory('VmRSS')
    const bad = await enter(t, access)
    bad.resume()
    await pour(bad, [publishPacket('sites/A/edges/bad/metadata', metadataOf(0), 3)])
    const bodies = Array.from({ length: 20 }, (_, i) => bodyOf(i + 1))
    let sent = 0
    let over = false
    const flood = async () => {
      for (; !over && bad.writable; sent++) {
        await pour(bad, [publishPacket(`sites/A/edges/bad/${topic}`, bodies[sent % bodies.length]!, 2)])
        await sleep(0)
      }
    }
    const flooding = flood()
    await until(() => sent > 100 || !bad.writable, 'the flood is on its way', 120_000)
    for (let n = 2; n < 7; n++) {
      await honest.outbox.write([reading(n)])
      await until(() => honest.state().backlog === 0, `message ${n} is served during the flood`, 60_000)
    }
    t.true(bad.writable, 'the flood goes on')
    over = true
    bad.destroy()
    await flooding
    const growth = memory('VmHWM') - before
    t.log(`${Math.round(before)} MB, and ${Math.round(growth)} at most on top, after ${sent} messages`)
    t.true(growth < GROWTH_MAX_MB, `${Math.round(growth)} MB`)
  })
}

const topicFor = (edge_id: string, kind: Topic['kind']): Topic => ({ site_id: 'A', edge_id, kind })

test('edges are served round-robin, only the newest status is kept, and messages beyond the bound of one edge are dropped and counted', async t => {
  const handled: string[] = []
  const handle = ({ topic, payload }: { topic: Topic; payload: Buffer }) =>
    void handled.push(`${topic.edge_id} ${topic.kind} ${payload}`)
  const queue = new MessageQueue({ one: handle, together: messages => messages.forEach(handle) })
  for (let i = 1; i <= 70; i++) queue.add(topicFor('a', 'findings'), Buffer.from(String(i)))
  for (let i = 1; i <= 3; i++) queue.add(topicFor('b', 'findings'), Buffer.from(String(i)))
  queue.add(topicFor('b', 'status'), Buffer.from('old'))
  queue.add(topicFor('b', 'status'), Buffer.from('new'))
  await until(() => handled.length === 68, 'all queued messages are handled')
  t.is(queue.dropped(), 6)
  t.deepEqual(handled.slice(0, 8), [
    'a findings 1',
    'b status new',
    'a findings 2',
    'b findings 1',
    'a findings 3',
    'b findings 2',
    'a findings 4',
    'b findings 3',
  ])
  queue.stop()
})

test('metadata of an edge waits for twenty times what the last one took, and neither its other messages nor other edges do', async t => {
  const WORK_MS = 10
  const handled: { what: string; begun: number; ended: number }[] = []
  const handle = ({ topic, payload }: { topic: Topic; payload: Buffer }) => {
    const begun = performance.now()
    if (topic.kind === 'metadata') while (performance.now() < begun + WORK_MS);
    handled.push({ what: `${topic.edge_id} ${payload}`, begun, ended: performance.now() })
  }
  const queue = new MessageQueue({ one: handle, together: messages => messages.forEach(handle) })
  t.teardown(() => queue.stop())
  queue.add(topicFor('a', 'metadata'), Buffer.from('model 1'))
  await until(() => handled.length === 1, 'the first metadata is handled')
  queue.add(topicFor('a', 'metadata'), Buffer.from('model 2'))
  for (let i = 1; i <= 3; i++) queue.add(topicFor('a', 'findings'), Buffer.from(String(i)))
  queue.add(topicFor('b', 'metadata'), Buffer.from('model 1'))
  await until(() => handled.length === 6, 'all queued messages are handled')
  t.deepEqual(
    handled.map(({ what }) => what),
    ['a model 1', 'a 1', 'b model 1', 'a 2', 'a 3', 'a model 2'],
  )
  const pauseMs = handled[5]!.begun - handled[0]!.ended
  t.true(pauseMs >= 20 * WORK_MS, `${pauseMs} ms`)
})

test('telemetry and findings are handled together, at most thirty-two, and a status between them keeps its place', async t => {
  const handled: string[] = []
  const queue = new MessageQueue({
    one: ({ topic }) => void handled.push(topic.kind),
    together: messages => void handled.push(messages.map(({ topic }) => topic.edge_id).join('')),
  })
  t.teardown(() => queue.stop())
  for (let i = 0; i < 34; i++) queue.add(topicFor('a', 'findings'), Buffer.from(String(i)))
  for (let i = 0; i < 2; i++) queue.add(topicFor('b', 'telemetry'), Buffer.from(String(i)))
  await until(() => handled.length === 2, 'all queued messages are handled')
  t.deepEqual(handled, ['abab' + 'a'.repeat(28), 'aaaa'])
  queue.add(topicFor('a', 'findings'), Buffer.from('1'))
  queue.add(topicFor('b', 'status'), Buffer.from('1'))
  queue.add(topicFor('c', 'findings'), Buffer.from('1'))
  await until(() => handled.length === 5, 'the status is handled')
  t.deepEqual(handled.slice(2), ['a', 'status', 'c'])
})

test('queued messages are bounded in bytes, per edge and in total', async t => {
  let handled = 0
  const queue = new MessageQueue({ one: () => t.fail(), together: ({ length }) => (handled += length) })
  const quarter = Buffer.alloc(256 * 1024)
  for (let i = 0; i < 40; i++) queue.add(topicFor('a', 'findings'), quarter)
  t.is(queue.dropped(), 40 - 32, '8 MiB of one edge')
  for (let edge = 0; edge < 20; edge++) for (let i = 0; i < 32; i++) queue.add(topicFor(`e${edge}`, 'findings'), quarter)
  t.is(queue.dropped(), 8 + (21 - 16) * 32, '128 MiB of all')
  await until(() => handled === 16 * 32, 'all queued messages are handled')
  for (let i = 0; i < 32; i++) queue.add(topicFor('a', 'findings'), quarter)
  await until(() => handled === 17 * 32, 'what was handled makes room')
  queue.stop()
})
