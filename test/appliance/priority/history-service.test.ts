import test from 'ava'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { readCursor, writeCursor } from '#shared/core/priority/history-cursor.ts'
import { HISTORY_SCHEMA, HistoryAnswer, type HistoryRequest, RECORDS_BYTES_MAX } from '#shared/core/priority/priority-wire.ts'
import type { Problem } from '#shared/core/problem.ts'
import { fits, schemaErrors } from '#shared/node/http/schema-check.ts'
import { openCursorKey } from '#appliance/priority/cursor-key.ts'
import { historyService } from '#appliance/priority/history-service.ts'
import { folder } from '../../support/folders.ts'
import { IDLE, openEdge, reading, scriptedSchedule } from '../../support/sites/priority-edge.ts'

const schema = HISTORY_SCHEMA
const TARGET = { device_instance: 1001, object_type: 'analog-output', object_instance: 1 }

type Service = Awaited<ReturnType<typeof openEdge>>['service']
const ask = (service: Service, request: Partial<HistoryRequest> = {}) => service.ask('priority_history', { schema, ...request })
const codeOf = (call: () => unknown): string => {
  try {
    call()
  } catch (error) {
    return (error as Problem).code
  }
  return 'no problem'
}

test('a page follows the contract: newest first, 16 slots, with the state of the scanner', async t => {
  const { service, fill } = await openEdge(t)
  await fill(1, 3)
  const page = ask(service)
  t.deepEqual(schemaErrors(HistoryAnswer, page), [])
  t.deepEqual(
    page.records.map(({ seq }) => seq),
    [3, 2, 1],
  )
  t.like(page.records[0], { observed_at: '2026-03-01T00:03:00Z', active_level: 8, changed: [8], source: 'scheduled' })
  t.deepEqual(page.records[2]!.changed.length, 16)
  t.is(page.next_cursor, undefined)
  t.deepEqual(page.scanner, {
    ...IDLE,
    read_only: true,
    last_started_at: '2026-03-01T00:00:00Z',
    last_completed_at: '2026-03-01T00:00:05Z',
    next_due_at: '2026-03-01T01:00:00Z',
    records_retained: 3,
    journal: 'ok',
  })
})

test('cursors stay valid while 10,000 records arrive: no duplicate, no gap', async t => {
  const { service, fill } = await openEdge(t)
  await fill(1, 1000)
  const seen: number[] = []
  let cursor: string | undefined
  for (let page = 0; ; page++) {
    const { records, next_cursor } = ask(service, { page_size: 25, ...(cursor && { cursor }) })
    seen.push(...records.map(({ seq }) => seq))
    if (next_cursor === undefined) break
    cursor = next_cursor
    await fill(1001 + page * 260, 1260 + page * 260)
  }
  t.deepEqual(
    seen,
    Array.from({ length: 1000 }, (_, i) => 1000 - i),
  )
  t.is(ask(service, { page_size: 1 }).records[0]!.seq, 1000 + 39 * 260)
})

test('a filter applies to all pages, and a cursor is valid only for its filter, edge and key', async t => {
  const { service, fill, journal, schedule } = await openEdge(t)
  await fill(1, 30, 1)
  await fill(31, 60, 2)
  const filter = { target: TARGET, since: '2026-03-01T00:11:00+00:00', page_size: 15 }
  const first = ask(service, filter)
  const cursor = first.next_cursor!
  const second = ask(service, { ...filter, cursor })
  t.deepEqual(
    [...first.records, ...second.records].map(({ seq }) => seq),
    Array.from({ length: 20 }, (_, i) => 30 - i),
  )
  t.is(second.next_cursor, undefined)
  const other = (change: object) =>
    historyService({ edge_id: 'edge-1', journal, schedule, levels: levelMeanings, cursorKey: Buffer.alloc(32, 7), ...change })
  const refused: [string, () => unknown][] = [
    ['another target', () => ask(service, { ...filter, cursor, target: { ...TARGET, object_instance: 2 } })],
    ['no target', () => ask(service, { since: filter.since, cursor })],
    ['another since', () => ask(service, { ...filter, cursor, since: '2026-03-01T00:12:00Z' })],
    ['another edge', () => ask(other({ edge_id: 'edge-2' }), { ...filter, cursor })],
    ['another key', () => ask(other({ cursorKey: Buffer.alloc(32, 8) }), { ...filter, cursor })],
    ['another sequence', () => ask(service, { ...filter, cursor: cursor.replace(/^\d+/, '29') })],
    ['nonsense', () => ask(service, { ...filter, cursor: 'nonsense' })],
  ]
  for (const [what, call] of refused) t.is(codeOf(call), 'bad_cursor', what)
  t.notThrows(() => ask(service, { ...filter, cursor, since: '2026-03-01T01:11:00+01:00' }), 'the same instant in another zone')
})

test('a cursor with any character altered, removed or added is refused', t => {
  const [scope, key] = [{ edge_id: 'edge-1', tenant_id: 'legacy' }, Buffer.alloc(32, 1)]
  const cursor = writeCursor(4711, scope, key)
  t.is(readCursor(cursor, scope, key), 4711)
  t.is(readCursor(cursor, { ...scope, tenant_id: 'other' }, key), undefined)
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
  for (let i = 0; i < cursor.length; i++) {
    t.is(readCursor(cursor.slice(0, i) + cursor.slice(i + 1), scope, key), undefined)
    for (const letter of letters) {
      t.is(readCursor(cursor.slice(0, i) + letter + cursor.slice(i), scope, key), undefined)
      if (letter !== cursor[i]) t.is(readCursor(cursor.slice(0, i) + letter + cursor.slice(i + 1), scope, key), undefined)
    }
  }
})

test('a cursor beyond the retention, or of a journal that was set aside, has expired', async t => {
  const { service, fill } = await openEdge(t, { maxRecords: 50 })
  await fill(1, 40)
  const { next_cursor } = ask(service, { page_size: 10 })
  t.is(ask(service, { cursor: next_cursor! }).records.length, 30)
  await fill(41, 79)
  t.deepEqual(
    ask(service, { cursor: next_cursor! }).records.map(({ seq }) => seq),
    [30],
    'what is left of it',
  )
  await fill(80, 80)
  t.is(
    codeOf(() => ask(service, { cursor: next_cursor! })),
    'cursor_expired',
  )
  const fresh = await openEdge(t)
  await fresh.fill(1, 3)
  t.is(
    codeOf(() => ask(fresh.service, { cursor: next_cursor! })),
    'cursor_expired',
  )
})

test('a page is not larger than a message, and continues with a cursor', t => {
  const wide = { ...reading(1), label: 'x'.repeat(60_000) }
  const all = Array.from({ length: 10 }, (_, i) => ({ ...wide, seq: 10 - i, changed: [] }))
  const journal = {
    page: ({ before = 11 }: { before?: number }) => ({ records: all.filter(({ seq }) => seq < before), more: false }),
    state: () => ({ journal: 'ok' as const, first: 1, last: 10 }),
  }
  const service = historyService({
    edge_id: 'e',
    journal,
    schedule: scriptedSchedule().schedule,
    levels: levelMeanings,
    cursorKey: Buffer.alloc(32),
  })
  const seen: number[] = []
  let cursor: string | undefined
  do {
    const { records, next_cursor } = ask(service, cursor === undefined ? {} : { cursor })
    t.true(Buffer.byteLength(JSON.stringify(records)) < RECORDS_BYTES_MAX + 1024)
    seen.push(...records.map(({ seq }) => seq))
    cursor = next_cursor
  } while (cursor !== undefined)
  t.deepEqual(seen, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
})

test('while the journal is disabled a page says so, and a cursor does not look like the end of the history', t => {
  const state = { journal: 'disabled' as const, reason: 'segment 3, byte 17: bad checksum', first: 1, last: 0 }
  const journal = { page: () => ({ records: [], more: false }), state: () => state }
  const cursorKey = Buffer.alloc(32)
  const service = historyService({
    edge_id: 'e',
    journal,
    schedule: scriptedSchedule().schedule,
    levels: levelMeanings,
    cursorKey,
  })
  t.like(ask(service).scanner, { journal: 'disabled', reason: state.reason, records_retained: 0 })
  const cursor = writeCursor(5, { edge_id: 'e', tenant_id: 'legacy' }, cursorKey)
  t.is(
    codeOf(() => ask(service, { cursor })),
    'history_damaged',
  )
  const damagedWhileRead = { ...journal, state: () => ({ ...state, first: 1, last: 9 }) }
  const reading = historyService({
    edge_id: 'e',
    journal: damagedWhileRead,
    schedule: scriptedSchedule().schedule,
    levels: levelMeanings,
    cursorKey,
  })
  t.is(
    codeOf(() => ask(reading, { cursor })),
    'history_damaged',
  )
})

test('the key of the cursors survives a restart, and a damaged one is replaced', async t => {
  const dir = folder(t)
  const key = await openCursorKey(dir)
  t.deepEqual(Buffer.from(await openCursorKey(dir)), Buffer.from(key))
  t.notDeepEqual(Buffer.from(await openCursorKey(folder(t))), Buffer.from(key))
})

test('an answer with a missing or an additional member does not match the contract', async t => {
  const { service, fill } = await openEdge(t)
  await fill(1, 1)
  const page = ask(service)
  t.true(fits(HistoryAnswer, page))
  const [record] = page.records
  for (const change of [
    { extra: 1 },
    { records: [{ ...record, slots: record!.slots.slice(1) }] },
    { records: [{ ...record, slots: record!.slots.map(slot => ({ ...slot, state: 'null' })) }] },
    { records: [{ ...record, observed_at: 5 }] },
    { scanner: { ...page.scanner, read_only: false } },
  ]) {
    t.false(fits(HistoryAnswer, { ...page, ...change }), JSON.stringify(change).slice(0, 60))
  }
})

test('an answer has the levels that the site names itself, and no member for them otherwise', async t => {
  const own = [{ level: 9, name: 'Room controller', override: true }]
  const named = await openEdge(t, { levels: () => levelMeanings(own) })
  const answer = ask(named.service, {})
  t.deepEqual(answer.priority_levels, own)
  t.deepEqual(schemaErrors(HistoryAnswer, answer), [])
  t.false('priority_levels' in ask((await openEdge(t)).service, {}))
})
