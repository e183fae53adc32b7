import test from 'ava'
import { deflateRawSync } from 'node:zlib'
import { packBody } from '#shared/core/telemetry/body.ts'
import { MqttMonitor } from '#hub/monitor/mqtt-monitor.ts'

const TOPIC = 'sites/A/edges/e1/telemetry/bacnet'

function monitorAt(now: number) {
  const clock = { now }
  return { clock, monitor: new MqttMonitor(() => clock.now) }
}

test('a message is shown with its time, direction, kind, size and text', t => {
  const { monitor } = monitorAt(1000)
  const body = { seq: 7, name: '<b>Zone & room</b> Grün' }
  monitor.record('received', TOPIC, packBody(body))
  const expected = {
    id: 1,
    at: 1000,
    direction: 'received',
    topic: TOPIC,
    kind: 'telemetry',
    bytes: packBody(body).length,
    preview: JSON.stringify(body),
    is_cut: false,
  }
  t.deepEqual(monitor.messages(0, {}, 10), { messages: [expected], dropped: 0 } as never)
})

test('a deflated message is inflated as far as the preview goes, and is marked as cut', t => {
  const { monitor } = monitorAt(0)
  const long = { points: Array.from({ length: 500 }, (_, i) => ({ id: `point ${i}`, v: Math.sin(i), text: 'ü'.repeat(20) })) }
  monitor.record('received', TOPIC, packBody(long))
  const [message] = monitor.messages(0, {}, 10).messages
  t.true(message!.is_cut)
  t.true(JSON.stringify(long).startsWith(message!.preview))
  t.true(Buffer.byteLength(message!.preview) <= 4096)
  t.true(Buffer.byteLength(message!.preview) > 4000)
})

test('a bomb, a broken body and bytes that are no text are shown as text and harm nothing', t => {
  const { monitor } = monitorAt(0)
  const bomb = Buffer.concat([Buffer.of(1), deflateRawSync(Buffer.alloc(50_000_000))])
  for (const payload of [bomb, Buffer.of(1, 255, 255), Buffer.of(0xff, 0x00, 0xfe), Buffer.alloc(0)])
    monitor.record('received', TOPIC, payload)
  const previews = monitor.messages(0, {}, 10).messages.map(({ preview }) => preview)
  t.true(previews.every(preview => preview.length <= 4096))
  t.regex(previews[1]!, /bytes that do not inflate/)
  t.is(previews[3], '')
})

test('the oldest messages are forgotten, and the counts go on', t => {
  const { monitor } = monitorAt(0)
  for (let i = 0; i < 1000; i++) monitor.record('received', TOPIC, Buffer.alloc(256 * 1024, 0x7b))
  const { messages } = monitor.messages(0, {}, 1000)
  t.deepEqual([messages.length, messages[0]!.id, messages.at(-1)!.id], [200, 801, 1000])
  t.deepEqual([monitor.stats().messages, monitor.stats().bytes], [1000, 1000 * 256 * 1024])
})

test('a reader gets what is new to it, and learns how much was left out or forgotten', t => {
  const { monitor } = monitorAt(0)
  for (let i = 0; i < 250; i++) monitor.record('received', TOPIC, Buffer.from('{}'))
  const ids = (found: { messages: { id: number }[] }) => found.messages.map(({ id }) => id)
  t.deepEqual(ids(monitor.messages(247, {}, 10)), [248, 249, 250])
  t.is(monitor.messages(247, {}, 10).dropped, 0)
  const cut = monitor.messages(240, {}, 3)
  t.deepEqual([ids(cut), cut.dropped], [[248, 249, 250], 7])
  t.is(monitor.messages(10, {}, 200).dropped, 40)
  t.is(monitor.messages(0, {}, 200).dropped, 0)
  t.deepEqual(monitor.messages(250, {}, 10), { messages: [], dropped: 0 })
})

test('a filter lets one kind, one site or one edge pass; foreign topics are of kind unknown', t => {
  const { monitor } = monitorAt(0)
  const topics = [TOPIC, 'sites/A/edges/e2/status', 'sites/B/edges/e1/status', '$SYS/broker', 'sites/A/edges/e1/nothing']
  for (const topic of topics) monitor.record('received', topic, Buffer.from('{}'))
  const found = (filter: Parameters<typeof monitor.messages>[1]) =>
    monitor.messages(0, filter, 10).messages.map(({ topic }) => topic)
  t.deepEqual(found({ kind: 'status' }), [topics[1], topics[2]] as string[])
  t.deepEqual(found({ site_id: 'A' }), [topics[0], topics[1]] as string[])
  t.deepEqual(found({ edge_id: 'e1' }), [topics[0], topics[2]] as string[])
  t.deepEqual(found({ site_id: 'A', edge_id: 'e1', kind: 'status' }), [])
  t.deepEqual(found({ kind: 'unknown' }), [topics[3], topics[4]] as string[])
})

test('the connection is stated with the time since when', t => {
  const { clock, monitor } = monitorAt(5)
  t.like(monitor.stats(), { connected: false, since: 5 })
  clock.now = 9
  monitor.setConnected(true)
  clock.now = 12
  monitor.setConnected(true)
  t.like(monitor.stats(), { connected: true, since: 9 })
})
