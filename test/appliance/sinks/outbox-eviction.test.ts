/** A full outbox downsamples its oldest readings before it drops any, and counts both. */
import { join } from 'node:path'
import pino from 'pino'
import test from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { wallClock } from '#shared/node/clock.ts'
import { downsample, type LookUpFindings, type OutboxMessage, thinOldest } from '#appliance/core/outbox/outbox-messages.ts'
import { openOutbox } from '#appliance/sinks/outbox.ts'
import { openOutboxFiles } from '#appliance/sinks/outbox-files.ts'
import { outboxEviction } from '#appliance/sinks/outbox-eviction.ts'
import { openReaders } from '#appliance/sinks/outbox-reader.ts'
import { folder } from '../../support/folders.ts'
import { finding } from '../../support/messages.ts'
import { page, reading, silent } from '../../support/sites/transport-site.ts'

const KB = 1024
const QUARTER = 15 * MINUTE
const START = reading(0).t
const quarterOf = ({ t }: { t: number }) => Math.floor((t - START) / QUARTER)
const quarters = (readings: Reading[]) => [...new Set(readings.map(quarterOf))].toSorted((a, b) => a - b)
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)
const readingsOf = (messages: { message: OutboxMessage }[]) =>
  messages.flatMap(({ message }) => ('readings' in message ? message.readings : []))

async function opened(dir: string, maxBytes: number, lookUpFindings?: LookUpFindings) {
  const outbox = await openOutbox({
    ...{ dir, maxBytes, to: ['hub'], protocolOf: () => 'bacnet', lookUpFindings, clock: wallClock, log: silent },
  })
  const reader = outbox.reader('hub')
  return { ...outbox, ...reader, all: () => reader.next(reader.span().acked, 100_000) }
}

test('downsampling leaves the first good reading of each point and quarter of an hour unchanged', t => {
  const at = (id: string, minutes: number, q: Reading['q'] = 'good'): Reading => ({
    id,
    t: START + minutes * MINUTE,
    v: minutes,
    q,
  })
  const bad = at('b', 1, 'bad')
  const readings = [at('a', 0), at('a', 14.9), bad, at('a', 15), at('b', 2), at('b', 16, 'bad'), at('b', 17, 'stale'), at('b', 3)]
  t.deepEqual(downsample(readings), [at('a', 0), at('a', 15), at('b', 2), at('b', 16, 'bad')])
  t.deepEqual(downsample([]), [])
})

test('a full outbox keeps a value of every quarter of an hour, drops nothing, and does not count acknowledged messages', async t => {
  const outbox = await opened(folder(t), 1024 * KB)
  for (const n of upTo(120)) {
    await outbox.write(page(n))
    if (n === 20) outbox.settle({ stream: outbox.span().stream, through_seq: 21 })
  }
  const readings = readingsOf(outbox.all())
  t.deepEqual(quarters(readings), upTo(quarterOf(reading(120 * 500 - 1)) + 1).slice(quarterOf(reading(21 * 500))))
  t.is(outbox.dropped(), 0)
  const live = outbox.all().filter(({ message }) => 'readings' in message && !message.thinned)
  t.is(outbox.thinned(), 120 - 21 - live.length)
  t.deepEqual(readingsOf(live), upTo(120).slice(-live.length).flatMap(page))
  t.true(readings.length - live.length * 500 < 4 * 66)
  t.true(JSON.stringify(outbox.all()).length < 1300 * KB)
  await outbox.close()
})

test('readings of a clock before its version say so, also once they are downsampled, and those of a right clock do not', async t => {
  const dir = folder(t)
  const [made, tenYears] = [START - MINUTE, 87_660 * HOUR]
  const outbox = await openOutbox({
    ...{ dir, maxBytes: 512 * KB, to: ['hub'], protocolOf: () => 'bacnet', notBefore: () => made, clock: wallClock, log: silent },
  })
  const reader = outbox.reader('hub')
  for (const n of upTo(60)) await outbox.write(n < 20 ? page(n).map(one => ({ ...one, t: one.t - tenYears })) : page(n))
  t.true(reader.thinned() > 20)
  const messages = reader.next(reader.span().acked, 100_000).map(({ message }) => message)
  const isEarly = (message: OutboxMessage) => 'readings' in message && message.readings.some(one => one.t < made)
  t.true(messages.some(isEarly))
  for (const message of messages) {
    t.is('not_before' in message ? message.not_before : undefined, isEarly(message) ? made : undefined)
    t.false(isEarly(message) && 'readings' in message && message.readings.some(one => one.t >= made))
  }
  await outbox.close()
})

test('readings of every ten minutes are downsampled before any is dropped', async t => {
  const outbox = await opened(folder(t), 512 * KB)
  const points = upTo(50)
  const poll = (n: number) => points.map(i => ({ id: `p${i}`, t: START + n * 10 * MINUTE, v: n, q: 'good' as const }))
  for (let n = 0; n < 240; n += 10) await outbox.write(upTo(10).flatMap(i => poll(n + i)))
  t.true(outbox.thinned() > 0)
  t.is(outbox.dropped(), 0)
  t.deepEqual(quarters(readingsOf(outbox.all())), quarters(upTo(240).flatMap(poll)))
  await outbox.close()
})

test('messages that downsampling does not make smaller are dropped whole and counted', async t => {
  const outbox = await opened(folder(t), 512 * KB)
  const hourly = (n: number) => upTo(500).map(i => ({ ...reading(0), t: START + (n * 500 + i) * HOUR }))
  for (const n of upTo(60)) await outbox.write(hourly(n))
  t.is(outbox.thinned(), 0)
  const left = outbox.all()
  t.is(outbox.dropped(), 60 - left.length)
  t.deepEqual(readingsOf(left), upTo(60).slice(-left.length).flatMap(hourly))
  await outbox.close()
})

test('when downsampled messages do not fit either, they are dropped before newer ones, and the log stays within its quota', async t => {
  const outbox = await opened(folder(t), 512 * KB)
  const points = upTo(20)
  const minute = (n: number) => points.map(i => ({ id: `p${i}`, t: START + n * MINUTE, v: n, q: 'good' as const }))
  const minutes = 9_000
  for (let n = 0; n < minutes; n += 20) await outbox.write(upTo(20).flatMap(i => minute(n + i)))
  t.true(outbox.dropped() > 0, 'it was written often enough')
  const left = outbox.all()
  t.true(JSON.stringify(left).length < 700 * KB)
  const live = readingsOf(left.filter(({ message }) => 'readings' in message && !message.thinned))
  const kept = readingsOf(left)
  t.deepEqual(
    live,
    upTo(minutes)
      .slice(-live.length / 20)
      .flatMap(minute),
  )
  t.true(quarters(kept).length > 3 * quarters(live).length, `${quarters(kept).length} and ${quarters(live).length}`)
  await outbox.close()
})

test('evicted findings are written again in their current state, behind all older messages', async t => {
  const ids = upTo(3).map(n => `finding-${n}`)
  const asOf = (finding_id: string, severity: number): Finding => ({ ...finding, finding_id, severity: severity as 1 })
  const now: LookUpFindings = asked => ({
    findings: asked.filter(id => id !== ids[2]).map(id => asOf(id, 3)),
    withdrawn: asked.filter(id => id === ids[2]),
  })
  const outbox = await opened(folder(t), 512 * KB, now)
  await outbox.putFindings(ids.map(id => asOf(id, 1)))
  for (const n of upTo(40)) await outbox.write(page(n))
  const told = outbox.all().flatMap(({ message }) => ('findings' in message ? [message] : []))
  t.deepEqual(
    told.flatMap(({ withdrawn = [] }) => withdrawn),
    [ids[2]],
  )
  t.deepEqual(
    told.flatMap(({ findings }) => findings.map(({ finding_id, severity }) => [finding_id, severity])),
    [
      [ids[0], 3],
      [ids[1], 3],
    ],
  )
  t.is(outbox.dropped(), 0)
  await outbox.close()

  const alone = await opened(folder(t), 512 * KB)
  await alone.putFindings([finding])
  for (const n of upTo(40)) await alone.write(page(n))
  t.is(alone.dropped(), 1, 'their current state cannot be looked up')
  await alone.close()
})

test('downsampled messages are dropped oldest first, and findings stay known by id', t => {
  const record = (n: number, thinned?: true): OutboxMessage => ({
    ...{ at: n, message_id: 'm', protocol: 'bacnet', readings: [reading(n * 3600)], ...(thinned && { thinned }) },
  })
  const oldest = [
    { seq: 1, record: record(1, true) },
    { seq: 2, record: record(2, true) },
    { seq: 3, record: record(3) },
    { seq: 4, record: { at: 4, message_id: 'm', findings: [finding], withdrawn: ['gone'] } },
  ]
  const all = thinOldest(oldest, 10_000, true)
  t.deepEqual(
    all.keep.map(({ at }) => at),
    [1, 2, 3],
  )
  t.deepEqual(all.finding_ids, [finding.finding_id, 'gone'])
  t.deepEqual([...all.dropped], [])
  const few = thinOldest(oldest, 800, false)
  t.deepEqual(
    few.keep.map(({ at }) => at),
    [2, 3],
  )
  t.deepEqual([...few.dropped].toSorted(), [1, 4])
  t.deepEqual([...thinOldest(oldest, 100, true).dropped].toSorted(), [1, 2, 3])
})

/** The parts of an outbox with a log that fails as `ill` says. */
async function parts(dir: string, ill: (log: Awaited<ReturnType<typeof openOutboxFiles<OutboxMessage>>>['log']) => object) {
  const logger = pino({ level: 'silent' })
  const files = await openOutboxFiles<OutboxMessage>({ dir, maxBytes: 512 * KB, log: logger })
  const log = { ...files.log, ...ill(files.log) }
  const readers = await openReaders({ ...files, log }, ['hub'], logger)
  let id = 0
  const messageOf = (body: object) => ({ at: 0, message_id: `m${id++}`, ...body }) as OutboxMessage
  for (const n of upTo(10)) await files.log.append([messageOf({ protocol: 'bacnet', readings: page(n) })])
  return { log: files.log, readers, evictOldest: outboxEviction({ log, readers, messageOf, lookUpFindings: undefined, logger }) }
}

test('on a full disk the segment is unlinked before its downsampled messages are appended', async t => {
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  const done: string[] = []
  const { log, readers, evictOldest } = await parts(folder(t), own => ({
    append: async (records: OutboxMessage[]) => {
      done.push('append')
      if (done.length === 1) throw full
      return own.append(records)
    },
    dropThrough: (seq: number) => {
      done.push('unlink')
      own.dropThrough(seq)
    },
  }))
  t.true(await evictOldest('the disk is full'))
  t.deepEqual(done, ['append', 'unlink', 'append'])
  t.is(readers.reader('hub').dropped(), 0)
  t.true(readers.reader('hub').thinned() > 0)
  t.deepEqual(quarters(log.read(1, 100).flatMap(({ record }) => ('readings' in record ? record.readings : []))), upTo(6))
  await log.close()
})

test('a power cut between appending the downsampled messages and unlinking the segment loses nothing', async t => {
  const dir = folder(t)
  const cut = new Error('the power went')
  const { log, evictOldest } = await parts(dir, () => ({
    dropThrough: () => {
      throw cut
    },
  }))
  const before = readingsOf(log.read(1, 100).map(({ record }) => ({ message: record })))
  await t.throwsAsync(evictOldest('its quota is full'), { is: cut })
  await log.close()
  const again = await opened(join(dir), 512 * KB)
  const after = new Set(readingsOf(again.all()).map(({ t: at }) => at))
  t.true(before.every(({ t: at }) => after.has(at)))
  await again.close()
})
