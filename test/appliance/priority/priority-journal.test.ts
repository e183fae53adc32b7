import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { priorityKey } from '#shared/core/priority/priority-record.ts'
import type { LogOptions } from '#appliance/store/log/segmented-log.ts'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { POINTS, reading, readings, deviations } from '../../support/journal-written.ts'

const segmentBytes = 40_000

test('a first visit and every change are written in full, and an unchanged point as a mark', async t => {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir })
  await journal.append(readings(1, 13))
  await journal.append(readings(14, 26))
  const lines = readFileSync(join(dir, readdirSync(dir).find(name => name.endsWith('.jsonl'))!), 'utf8')
    .trim()
    .split('\n')
  t.is(lines.length, 26)
  t.true(lines.slice(0, 13).every(line => line.includes('"slots":') && !line.includes('"null"') && line.length < 500))
  t.true(lines.slice(13).every((line, i) => line.includes(`"same_as":${i + 1}`) && line.length < 300))
  t.deepEqual(deviations(allRecords(journal)), [])
})

test('a difference in anything but the time is a change', async t => {
  const journal = await openJournal(t, { dir: journalFolder(t) })
  const before = reading(1)
  const others = [
    { label: 'Renamed' },
    { present_value: 'NaN' },
    { out_of_service: true },
    { relinquish_default: 7 },
    { slots: before.slots.map(slot => (slot.level === 10 ? { level: 10, state: 'null' as const } : slot)) },
  ]
  await journal.append([before])
  for (const other of others) {
    const [record] = await journal.append([{ ...before, ...other }])
    t.like(journal.page({ limit: 1 }).records[0], other)
    t.deepEqual(record!.changed, 'slots' in other ? [10] : record!.changed)
    await journal.append([before])
  }
})

test('a record is the same when it is reported, read, the latest, and read after a restart', async t => {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir, segmentBytes })
  const odd = { ...reading(1), present_value: Number.NaN, relinquish_default: -0 }
  const reported = [
    ...(await journal.append([odd])),
    ...(await journal.append([odd])),
    ...(await journal.append(readings(2, 40))),
  ]
  t.is(reported[0]!.present_value, 'NaN')
  t.deepEqual(reported[1]!.changed, [])
  const read = allRecords(journal).toReversed()
  t.is(JSON.stringify(read), JSON.stringify(reported))
  const latest = journal.latest()
  await journal.close()
  const again = await openJournal(t, { dir, segmentBytes })
  t.is(JSON.stringify(allRecords(again).toReversed()), JSON.stringify(reported))
  t.deepEqual(new Map([...again.latest()].toSorted()), new Map([...latest].toSorted()))
  t.is(latest.size, POINTS)
  for (const [key, record] of latest) t.is(priorityKey(record.target), key)
})

test('exactly the newest records are within the retention, before and after a restart, and old segments are dropped', async t => {
  const dir = journalFolder(t)
  const options = { dir, segmentBytes, maxRecords: 100 }
  const journal = await openJournal(t, options)
  for (let seq = 1; seq <= 1000; seq += 10) await journal.append(readings(seq, seq + 9))
  t.deepEqual(journal.state(), { journal: 'ok', first: 901, last: 1000 })
  t.deepEqual(deviations(allRecords(journal)), [])
  t.is(allRecords(journal).length, 100)
  const first = Number(readdirSync(dir).toSorted()[0]!.slice(0, 16))
  t.true(first > 700 && first <= 901, `the oldest segment begins with ${first}`)
  await journal.close()
  const again = await openJournal(t, options)
  t.deepEqual(again.state(), { journal: 'ok', first: 901, last: 1000 })
  t.deepEqual(deviations(allRecords(again)), [])
  const [record] = await again.append([reading(1001)])
  t.deepEqual([record!.seq, record!.changed], [1001, []])
  t.is(again.state().first, 902)
})

test('a point whose records have all left the retention is new again', async t => {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir, maxRecords: 20 })
  await journal.append([reading(1)])
  const other = { ...reading(2), target: { ...reading(2).target, device_instance: 7 } }
  for (let i = 0; i < 20; i++) await journal.append([other])
  t.deepEqual([...journal.latest().keys()], ['7/analog-output,2'])
  t.is((await journal.append([reading(1)]))[0]!.changed.length, 16)
})

test('a page filters by point, start and position, and says whether there is more', async t => {
  const journal = await openJournal(t, { dir: journalFolder(t), segmentBytes })
  await journal.append(readings(1, 130))
  const seqs = (query: Omit<Parameters<typeof journal.page>[0], 'limit'>, limit = 3) => {
    const { records, more } = journal.page({ limit, ...query })
    return [...records.map(({ seq }) => seq), more]
  }
  const { target } = reading(5)
  t.deepEqual(seqs({}), [130, 129, 128, true])
  t.deepEqual(seqs({ before: 3 }), [2, 1, false])
  t.deepEqual(seqs({ before: 1 }), [false])
  t.deepEqual(seqs({ target }), [122, 109, 96, true])
  t.deepEqual(seqs({ target, before: 96 }), [83, 70, 57, true])
  t.deepEqual(seqs({ target, before: 45 }), [44, 31, 18, true])
  t.deepEqual(seqs({ target, before: 31 }), [18, 5, false])
  t.deepEqual(seqs({ since: reading(129).observed_at }), [130, 129, false])
  t.deepEqual(seqs({ target, since: reading(109).observed_at }), [122, 109, false])
  t.deepEqual(seqs({ target: { ...target, device_instance: 9 } }), [false])
})

test('pages read while records arrive contain no record twice and miss none', async t => {
  const journal = await openJournal(t, { dir: journalFolder(t), maxRecords: 20_000 })
  await journal.append(readings(1, 1000))
  const seen: number[] = []
  for (let before: number | undefined, next = 1001; ; next += 1000) {
    const { records, more } = journal.page({ limit: 100, ...(before !== undefined && { before }) })
    seen.push(...records.map(({ seq }) => seq))
    before = seen.at(-1)!
    if (!more) break
    await journal.append(readings(next, next + 999))
  }
  t.deepEqual(
    seen,
    Array.from({ length: 1000 }, (_, i) => 1000 - i),
  )
})

test('visits that are appended at once are written one after the other', async t => {
  const journal = await openJournal(t, { dir: journalFolder(t), segmentBytes })
  await Promise.all(Array.from({ length: 20 }, (_, i) => journal.append(readings(1 + i * 10, 10 + i * 10))))
  t.is(journal.state().last, 200)
  t.deepEqual(deviations(allRecords(journal)), [])
})

test('an invalid reading is refused with its name, and the journal goes on', async t => {
  const journal = await openJournal(t, { dir: journalFolder(t) })
  const good = reading(1)
  for (const [bad, says] of [
    [{ slots: good.slots.slice(1) }, /1000\/analog-output,1 does not have the levels/],
    [{ observed_at: Number.NaN }, /1000\/analog-output,1 was not observed/],
    [{ target: { ...good.target, object_type: 'a"b' } }, /is no BACnet object/],
  ] as const) {
    await t.throwsAsync(journal.append([good, { ...good, ...bad }]), { message: says })
  }
  t.deepEqual(journal.state(), { journal: 'ok', first: 1, last: 0 })
  t.is((await journal.append([good]))[0]!.seq, 1)
})

for (const [what, fails] of [
  ['a full disk', { write: 'ENOSPC' }],
  ['a write error', { write: 'EIO' }],
  ['an fsync that fails', { datasync: 'EIO' }],
  ['a disk that is mounted read-only', { open: 'EROFS', write: 'EROFS' }],
] as const) {
  test(`${what} pauses the history with the reason; it goes on by itself, and no acknowledged record is lost`, async t => {
    const dir = journalFolder(t)
    let failing = false
    let datasyncs = 0
    const refuse = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))
    const openFile: LogOptions['openFile'] = async path => {
      if (failing && 'open' in fails) return refuse(fails.open)
      const file = await open(path, 'a').then(async touched => (await touched.close(), open(path, 'r+')))
      return {
        write: ((...all: Parameters<typeof file.write>) =>
          failing && 'write' in fails ? refuse(fails.write) : file.write(...all)) as typeof file.write,
        datasync: () => {
          if (failing) datasyncs++
          return failing && 'datasync' in fails ? refuse(fails.datasync) : file.datasync()
        },
        truncate: length => file.truncate(length),
        close: () => file.close(),
      }
    }
    const journal = await openJournal(t, { dir, segmentBytes: 3000, openFile, retryMs: 20 })
    for (let seq = 1; seq <= 20; seq += 5) await journal.append(readings(seq, seq + 4))
    failing = true
    await t.throwsAsync(journal.append(readings(21, 25)))
    t.like(journal.state(), { journal: 'disabled', first: 1, last: 20 })
    t.regex(journal.state().reason!, /cannot be written: E/)
    t.is(allRecords(journal).length, 20, 'the records can be read meanwhile')
    if ('datasync' in fails) t.is(datasyncs, 1, 'an fsync that failed is not repeated as if it could succeed')
    await t.throwsAsync(journal.append(readings(21, 25)))
    failing = false
    while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
    await journal.append(readings(21, 30))
    await journal.close()
    const again = await openJournal(t, { dir })
    t.deepEqual(again.state(), { journal: 'ok', first: 1, last: 30 })
    t.deepEqual(deviations(allRecords(again)), [])
  })
}

test('a folder that cannot be used disables the history until it can be used', async t => {
  const dir = journalFolder(t)
  writeFileSync(dir, 'a file where a folder must be')
  const journal = await openJournal(t, { dir, retryMs: 20 })
  t.like(journal.state(), { journal: 'disabled', first: 1, last: 0 })
  t.regex(journal.state().reason!, /cannot be opened: /)
  await t.throwsAsync(journal.append([reading(1)]), { message: /disabled/ })
  renameSync(dir, `${dir}.away`)
  while (journal.state().journal !== 'ok') await new Promise(resolve => setTimeout(resolve, 5))
  t.is((await journal.append([reading(1)]))[0]!.seq, 1)
})

test('damage that is read while the journal is open closes it', async t => {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir })
  await journal.append(readings(1, 10))
  const path = join(dir, readdirSync(dir).find(name => name.endsWith('.jsonl'))!)
  const bytes = readFileSync(path)
  bytes[200]! ^= 1
  writeFileSync(path, bytes)
  t.deepEqual(journal.page({ limit: 100 }), { records: [], more: false })
  t.like(journal.state(), { journal: 'disabled' })
  t.regex(journal.state().reason!, /does not verify any more/)
  await t.throwsAsync(journal.append([reading(11)]), { message: /disabled/ })
  t.is(journal.latest().size, 0)
})
