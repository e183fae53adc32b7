/** Several destinations over one outbox. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import type { OutboxMessage } from '#appliance/core/outbox/outbox-messages.ts'
import type { Outbox } from '#appliance/sinks/outbox.ts'
import { type Destination, openReaders } from '#appliance/sinks/outbox-reader.ts'
import { openOutboxFiles } from '#appliance/sinks/outbox-files.ts'
import { folder } from '../../support/folders.ts'
import { reading, silent, testOutbox } from '../../support/sites/transport-site.ts'

const MEGABYTE = 1024 * 1024
const page = Array.from({ length: 500 }, (_, n) => reading(n))
const BOTH: Destination[] = ['hub', 'central']

/** Acknowledges everything up to a position. */
function settle(outbox: Outbox, to: Destination, through_seq: number) {
  const reader = outbox.reader(to)
  reader.settle({ stream: reader.span().stream, through_seq })
}

test('each destination has its own position, also after a restart', async t => {
  const dir = folder(t)
  const first = await testOutbox(dir, BOTH)
  for (let n = 1; n <= 5; n++) await first.write([reading(n)])
  settle(first, 'hub', 4)
  settle(first, 'central', 2)
  await first.close()
  const again = await testOutbox(dir, BOTH)
  t.like(again.reader('hub').span(), { acked: 4, last: 5 })
  t.like(again.reader('central').span(), { acked: 2, last: 5 })
  t.is(again.reader('hub').span().stream, again.reader('central').span().stream)
  t.throws(() => again.reader('history'), { message: 'the outbox has no reader for history' })
  await again.close()
})

test('no message is dropped before all destinations have it, and a destination that is away for long loses only its own', async t => {
  const outbox = await testOutbox(folder(t), BOTH, MEGABYTE)
  for (let n = 1; n <= 10; n++) {
    await outbox.write(page)
    settle(outbox, 'hub', n)
  }
  t.is(outbox.reader('central').next(0, 20).length, 10)
  for (let n = 11; n <= 120; n++) {
    await outbox.write(page)
    settle(outbox, 'hub', outbox.reader('hub').span().last)
  }
  const [hub, central] = [outbox.reader('hub'), outbox.reader('central')]
  t.deepEqual([hub.dropped(), hub.thinned()], [0, 0])
  const left = central.next(0, 500)
  const live = left.filter(({ message }) => 'readings' in message && !message.thinned)
  t.deepEqual([central.dropped(), central.thinned()], [0, 120 - live.length])
  t.true(live.length < 100 && left.length > live.length)
  await outbox.close()
})

test('an outbox opens on a full disk so that its messages can be sent, and saves its positions when there is room', async t => {
  const dir = folder(t)
  const before = await testOutbox(dir, ['hub'])
  for (let n = 1; n <= 3; n++) await before.write([reading(n)])
  settle(before, 'hub', 1)
  await before.close()
  const files = await openOutboxFiles<OutboxMessage>({ dir, maxBytes: MEGABYTE, log: silent })
  t.teardown(() => files.log.close())
  const failing = (code: string) => ({
    ...files,
    saveStreams: async () => Promise.reject(Object.assign(new Error(code), { code })),
  })
  await t.throwsAsync(openReaders(failing('EROFS'), ['hub'], silent), { message: 'EROFS' })

  let isFull = true
  const saved: unknown[] = []
  const saveStreams: typeof files.saveStreams = async streams => {
    if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
    saved.push(streams.get('hub')?.acked)
  }
  const readers = await openReaders({ ...files, saveStreams }, ['hub'], silent)
  const hub = readers.reader('hub')
  t.is(hub.next(hub.span().acked, 9).length, 2)
  isFull = false
  hub.settle({ stream: hub.span().stream, through_seq: 2 })
  t.deepEqual(saved, [2])
})

test('a destination that is added gets all messages that are left, and one that is removed keeps no message back', async t => {
  const dir = folder(t)
  const alone = await testOutbox(dir, ['hub'])
  for (let n = 1; n <= 3; n++) await alone.write([reading(n)])
  settle(alone, 'hub', 3)
  await alone.close()
  const both = await testOutbox(dir, BOTH)
  t.is(both.reader('central').next(both.reader('central').span().acked, 9).length, 3)
  await both.close()
  const central = await testOutbox(dir, ['central'], MEGABYTE)
  for (let n = 0; n < 40; n++) await central.write(page)
  settle(central, 'central', central.reader('central').span().last)
  t.is(central.reader('central').dropped(), 0)
  await central.close()
})

test('a new stream of one destination leaves the other as it is, and is taken over when that needs one too', async t => {
  const outbox = await testOutbox(folder(t), BOTH)
  for (let n = 1; n <= 5; n++) await outbox.write([reading(n)])
  const [hub, central] = [outbox.reader('hub'), outbox.reader('central')]
  const { stream } = hub.span()
  settle(outbox, 'central', 5)
  await hub.beginStream()
  t.not(hub.span().stream, stream)
  t.deepEqual(central.span(), { stream, first: 1, last: 5, acked: 5 })
  await central.beginStream()
  t.is(central.span().stream, hub.span().stream)
  await central.beginStream()
  t.not(central.span().stream, hub.span().stream)
  await outbox.close()
})

test('acknowledged messages are not sent again after any sequence of writes, answers and restarts', async t => {
  const dir = folder(t)
  const step = fc.oneof(
    fc.constant('write' as const),
    fc.constant('restart' as const),
    fc.record({ to: fc.constantFrom(...BOTH), by: fc.integer({ min: 1, max: 3 }) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
      rmSync(dir, { recursive: true, force: true })
      let outbox = await testOutbox(dir, BOTH)
      let written = 0
      const has = { hub: 0, central: 0, history: 0 }
      for (const one of steps) {
        if (one === 'write') await outbox.write([reading(++written)])
        else if (one === 'restart') {
          await outbox.close()
          outbox = await testOutbox(dir, BOTH)
        } else {
          has[one.to] = Math.min(written, has[one.to] + one.by)
          settle(outbox, one.to, has[one.to])
        }
        for (const to of BOTH) {
          const reader = outbox.reader(to)
          const waiting = reader
            .next(reader.span().acked, 100)
            .flatMap(({ message }) => ('readings' in message ? message.readings : []))
          t.deepEqual(
            waiting.map(({ v }) => v),
            Array.from({ length: written - has[to] }, (_, i) => has[to] + 1 + i),
          )
        }
      }
      await outbox.close()
    }),
    { numRuns: 25 },
  )
})

test('a streams.json that cannot be continued is reported with the reason', async t => {
  const dir = folder(t)
  const first = await testOutbox(dir, BOTH)
  for (let n = 1; n <= 3; n++) await first.write([reading(n)])
  t.is(first.reader('hub').note, undefined)
  settle(first, 'hub', 3)
  await first.close()
  const path = join(dir, 'streams.json')
  const saved = readFileSync(path, 'utf8')
  for (const [text, why] of [
    ['{"hub":', /streams\.json cannot be read: /],
    ['null', /streams\.json cannot be read: /],
    ['{"hub":{"id":"x","base":-1,"acked":0,"born":1}}', /"hub" is no stream/],
    [saved.replace('"acked":3', '"acked":9'), /the outbox ends at message 3 and was known to have 9: it is an older copy/],
  ] as const) {
    writeFileSync(path, text)
    const again = await testOutbox(dir, BOTH)
    t.regex(again.reader('hub').note ?? '', why)
    t.deepEqual(again.reader('hub').next(again.reader('hub').span().acked, 9).length, 3)
    await again.close()
  }
})
