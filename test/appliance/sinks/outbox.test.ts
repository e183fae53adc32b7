import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { wallClock } from '#shared/node/clock.ts'
import { appendEvicting, openOutbox, type Outbox } from '#appliance/sinks/outbox.ts'
import { type Destination } from '#appliance/sinks/outbox-reader.ts'
import { folder } from '../../support/folders.ts'
import { finding } from '../../support/messages.ts'
import { reading, silent } from '../../support/sites/transport-site.ts'

const MEGABYTE = 1024 * 1024
const protocolOf = (id: string) => (id === 'p1' ? ('bacnet' as const) : ('modbus' as const))
const openTo = (dir: string, to: Destination[], maxBytes = 64 * MEGABYTE): Promise<Outbox> =>
  openOutbox({ dir, maxBytes, to, protocolOf, clock: wallClock, log: silent })
/** An outbox with one destination, together with its reader. */
async function opened(dir: string, maxBytes?: number) {
  const outbox = await openTo(dir, ['hub'], maxBytes)
  return { ...outbox, ...outbox.reader('hub') }
}

test('readings are split by protocol into messages of at most 500, with findings in the same stream', async t => {
  const outbox = await opened(folder(t))
  await outbox.write([...Array.from({ length: 501 }, (_, n) => reading(n)), { ...reading(7), id: 'p2' }])
  await outbox.putFindings([finding])
  await outbox.putFindings([finding], ['gone'])
  await outbox.write([])
  const kept = outbox
    .next(0, 10)
    .map(({ seq, message: each }) => [
      seq,
      'findings' in each ? `${each.findings.length} ${each.withdrawn}` : `${each.protocol} ${each.readings.length}`,
    ])
  t.deepEqual(kept, [
    [1, 'bacnet 500'],
    [2, 'bacnet 1'],
    [3, 'modbus 1'],
    [4, '1 undefined'],
    [5, '0 gone'],
    [6, '1 undefined'],
  ])
  await outbox.close()
})

test('a second process is refused, and the outbox of the first one stays as it is', async t => {
  const dir = folder(t)
  const first = await opened(dir)
  await first.write([reading(1)])
  await t.throwsAsync(opened(dir), { message: `the outbox ${dir} is in use by another process` })
  await first.write([reading(2)])
  t.is(first.next(0, 10).length, 2)
  await first.close()
  const again = await opened(dir)
  t.like(again.span(), { first: 1, last: 2 })
  t.is(again.note, undefined)
  await again.close()
})

test('a message of long texts stays below the limit of the wire', async t => {
  const outbox = await opened(folder(t))
  await outbox.write(Array.from({ length: 500 }, (_, n) => ({ ...reading(n), v: 'x'.repeat(1000) })))
  const sizes = outbox.next(0, 10).map(({ message }) => JSON.stringify(message).length)
  t.is(sizes.length, 3)
  for (const size of sizes) t.true(size < 256 * 1024, String(size))
  await outbox.close()
})

test('the stream continues after a restart with its name and positions', async t => {
  const dir = folder(t)
  const first = await opened(dir)
  await first.write([reading(1)])
  const { stream } = first.span()
  first.settle({ stream, through_seq: 1 })
  await first.close()
  const again = await opened(dir)
  await again.write([reading(2)])
  t.deepEqual(again.span(), { stream, first: 1, last: 2, acked: 1 })
  t.is(again.next(1, 5)[0]?.seq, 2)
  await again.close()
})

test('a damaged outbox is set aside whole, and a new stream begins', async t => {
  const dir = folder(t)
  let before = ''
  for (const round of [1, 2]) {
    const outbox = await opened(dir)
    const { stream, last } = outbox.span()
    t.not(stream, before)
    t.is(last, 0)
    before = stream
    for (let n = 1; n <= 3; n++) await outbox.write([reading(n)])
    await outbox.close()
    const path = join(dir, 'log', readdirSync(join(dir, 'log'))[0]!)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"v":1', '"v":9'))
    t.is(readdirSync(dir).filter(name => name.startsWith('damaged-')).length, round - 1)
  }
  const outbox = await opened(dir)
  t.deepEqual(outbox.next(0, 5), [])
  t.is(readdirSync(dir).filter(name => name.startsWith('damaged-')).length, 1)
  await outbox.close()
})

test('an unreadable streams.json starts a new stream with the messages that are left', async t => {
  const dir = folder(t)
  const first = await opened(dir)
  await first.write([reading(1), { ...reading(2), id: 'p2' }])
  const { stream } = first.span()
  await first.close()
  writeFileSync(join(dir, 'streams.json'), '{"id":')
  const again = await opened(dir)
  t.not(again.span().stream, stream)
  t.like(again.span(), { first: 1, last: 2 })
  await again.close()
})

test('a log that does not belong to streams.json never continues its stream', async t => {
  const dir = folder(t)
  const first = await opened(dir)
  await first.write([reading(1)])
  const { stream } = first.span()
  await first.close()
  rmSync(join(dir, 'log'), { recursive: true })
  const again = await opened(dir)
  t.not(again.span().stream, stream)
  await again.close()
})

test('on a full disk the oldest segments are evicted for new messages, which are refused when none is left', async t => {
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  let failures = 3
  const log = { append: async () => (failures-- > 0 ? Promise.reject(full) : 1) }
  let segments = 5
  await appendEvicting(log, [], async () => segments-- > 0)
  t.is(segments, 2)
  failures = 9
  await t.throwsAsync(
    appendEvicting(log, [], async () => segments-- > 0),
    { is: full },
  )
  await t.throwsAsync(
    appendEvicting(
      { append: async () => Promise.reject(Object.assign(new Error('bad sector'), { code: 'EIO' })) },
      [],
      async () => true,
    ),
    { message: 'bad sector' },
  )
})

test('a message that the hub rejected is written to a file with the reason', async t => {
  const dir = folder(t)
  const outbox = await opened(dir)
  await outbox.write([reading(1)])
  const { stream } = outbox.span()
  outbox.settle({ stream, through_seq: 1, rejected: [{ seq: 1, reason: 'why' }] })
  const path = join(dir, 'rejected', `${stream}-1.json`)
  t.true(existsSync(path))
  const { reason, message } = JSON.parse(readFileSync(path, 'utf8'))
  t.is(reason, 'why')
  t.deepEqual(message.readings, [reading(1)])
  await outbox.close()
})

test('at most a hundred rejected messages are written to files', async t => {
  const dir = folder(t)
  const outbox = await opened(dir)
  for (let n = 1; n <= 110; n++) await outbox.write([reading(n)])
  const { stream } = outbox.span()
  const rejected = Array.from({ length: 110 }, (_, i) => ({ seq: i + 1, reason: 'why' }))
  outbox.settle({ stream, through_seq: 110, rejected })
  t.is(readdirSync(join(dir, 'rejected')).length, 100)
  await outbox.close()
})

test('a new stream begins with the oldest message that is left', async t => {
  const outbox = await opened(folder(t), MEGABYTE)
  const page = Array.from({ length: 500 }, (_, n) => reading(n))
  for (let n = 0; n < 60; n++) await outbox.write(page)
  const before = outbox.span()
  await outbox.beginStream()
  const after = outbox.span()
  t.not(after.stream, before.stream)
  t.deepEqual([after.first, after.last], [1, before.last - before.first + 1])
  t.is(outbox.next(0, 1)[0]?.message.message_id, outbox.next(0, 60)[0]?.message.message_id)
  await outbox.close()
})
