import test from 'ava'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Quantity, ReviewStatus } from '#shared/core/model/quantity.ts'
import type { AuditFilter, AuditRow, EdgeRecord, StoredAuditRow } from '#shared/core/stores.ts'
import { openDatabase, openReadOnly } from '#shared/node/sqlite.ts'
import { auditStore } from '#shared/node/store/audit.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { quantityStore } from '#shared/node/store/quantities.ts'
import { ruleStateStore } from '#shared/node/store/rule-states.ts'
import { tokenEpochStore } from '#shared/node/store/people/token-epochs.ts'
import { temporaryDatabase, temporaryFolder } from '../../../support/sites/workspace.ts'

test('a database is safe at every commit, made in a new folder, and opened again as it is', t => {
  const path = join(temporaryFolder(t), 'new', 'plenum.db')
  const first = openDatabase(path)
  t.is(first.pragma('journal_mode', { simple: true }), 'wal')
  t.is(first.pragma('synchronous', { simple: true }), 2)
  t.is(first.pragma('foreign_keys', { simple: true }), 1)
  tokenEpochStore(first).set('admin', 7)
  first.close()
  const second = openDatabase(path)
  t.is(tokenEpochStore(second).get('admin'), 7)
  second.close()
  const reader = openReadOnly(path)
  t.is(tokenEpochStore(reader).get('admin'), 7)
  t.throws(() => tokenEpochStore(reader).set('admin', 8), { message: /readonly/ })
  reader.close()
})

test('a database that cannot be opened names its path and the reason', t => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), 'x')
  mkdirSync(join(folder, 'folder.db'))
  writeFileSync(join(folder, 'text.db'), 'this is not a database, however long it may be; not at all, whatever one does')
  const cases = [
    ['file/plenum.db', /file\/plenum\.db cannot be opened: .*(ENOTDIR|EEXIST)/],
    ['folder.db', /folder\.db cannot be opened: unable to open database file/],
    ['text.db', /text\.db cannot be opened: file is not a database/],
  ] as const
  for (const [name, message] of cases) t.throws(() => openDatabase(join(folder, name)), { message }, name)
  t.throws(() => openReadOnly(join(folder, 'missing.db')), { message: /missing\.db cannot be opened/ })
  t.false(existsSync(join(folder, 'missing.db')))
})

test('a database of a newer version is refused', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const db = openDatabase(path)
  for (const pragma of ['user_version', 'application_id']) db.pragma(`${pragma} = 999`)
  db.close()
  t.throws(() => openDatabase(path), { message: /plenum\.db cannot be opened: it was written by a newer version/ })
})

test('edges come back as they were put, with what is not known yet as null', t => {
  const edges = edgeStore(temporaryDatabase(t))
  const edge: EdgeRecord = {
    edge_id: 'e1',
    site_id: 's',
    building_id: 'b',
    name: 'Roof',
    version: '0.1.0',
    last_seen_at: null,
    status: 'pending',
    online: false,
    session_changed_at: null,
    last_data_at: null,
    fresh_since: null,
    version_since: null,
    metadata_revision: 1,
    status_body: {},
  }
  const later: EdgeRecord = {
    ...edge,
    online: true,
    last_seen_at: 5,
    connector_url: 'https://e1',
    status_body: { backlog: { rows: 3 } },
  }
  edges.put(edge)
  t.deepEqual(edges.list(), [edge])
  edges.put(later)
  t.deepEqual(edges.get('s', 'e1'), later)
  t.is(edges.get('s', 'e2'), undefined)
})

const row = (at: number, before: unknown, after: unknown, more: Partial<AuditRow> = {}): AuditRow => ({
  at,
  actor: 'kim',
  role: 'admin',
  action: 'save',
  subject: 'x',
  building_id: null,
  before,
  after,
  request_id: `r${at}`,
  ...more,
})

test('the audit is listed newest first and goes on before an instant', t => {
  const audit = auditStore(temporaryDatabase(t))
  const rows = [row(1, null, { a: 1 }), row(2, { a: 1 }, { a: 2 }), row(3, [1], null)]
  for (const each of rows) audit.add(each)
  t.deepEqual(audit.list({ limit: 2 }), [
    { ...rows[2]!, entry: 3 },
    { ...rows[1]!, entry: 2 },
  ])
  t.deepEqual(audit.list({ limit: 2, before: { at: 2, entry: 2 } }), [{ ...rows[0]!, entry: 1 }])
})

test('rows of the same instant, and of a clock that was set back, are each listed once', t => {
  const audit = auditStore(temporaryDatabase(t))
  for (const at of [5, 5, 5, 9, 3]) audit.add(row(at, null, null))
  const seen: number[] = []
  let before: StoredAuditRow | undefined
  do {
    const [next] = audit.list({ limit: 1, ...(before && { before }) })
    before = next
    if (next) seen.push(next.entry)
  } while (before)
  t.deepEqual(seen, [4, 3, 2, 1, 5])
})

test('the audit is filtered by person, action, building and time, together as well', t => {
  const db = temporaryDatabase(t)
  const audit = auditStore(db)
  audit.add(row(1, null, null))
  audit.add(row(2, null, null, { actor: 'lee', building_id: 'school' }))
  audit.add(row(3, null, null, { action: 'delete', building_id: 'school' }))
  audit.add(row(4, null, null, { building_id: 'library', subject: 'f-1' }))
  const found = (filter: AuditFilter) => audit.list({ limit: 10, ...filter }).map(({ at }) => at)
  t.deepEqual(found({ actor: 'kim' }), [4, 3, 1])
  t.deepEqual(found({ action: 'delete' }), [3])
  t.deepEqual(found({ subject: 'f-1', building_id: 'library', from: 1 }), [4])
  t.deepEqual(found({ subject: 'f-1', building_id: 'school', from: 1 }), [])
  t.deepEqual(found({ building_id: 'school' }), [3, 2])
  t.deepEqual(found({ from: 2, to: 4 }), [3, 2])
  t.deepEqual(found({ actor: 'kim', building_id: 'school', from: 1, to: 9 }), [3])
  t.deepEqual(found({ actor: "kim' OR 1=1 --" }), [])
  t.deepEqual(audit.names(), { actors: ['kim', 'lee'], actions: ['delete', 'save'] })
  t.deepEqual(auditStore(temporaryDatabase(t)).names(), { actors: [], actions: [] })
})

test('rule states and token epochs keep what was set last', t => {
  const db = temporaryDatabase(t)
  const states = ruleStateStore(db)
  states.set({ rule_id: 'r', active: false, changed_by: 'kim', changed_at: 1 })
  states.set({ rule_id: 'r', active: true, changed_by: 'lee', changed_at: 2 })
  t.deepEqual(states.list(), [{ rule_id: 'r', active: true, changed_by: 'lee', changed_at: 2 }])
  const epochs = tokenEpochStore(db)
  t.is(epochs.get('kim'), 0)
  epochs.set('kim', 5)
  epochs.set('kim', 6)
  t.is(epochs.get('kim'), 6)
})

const quantity = (quantity_id: string, review_status?: ReviewStatus, more: Partial<Quantity> = {}): Quantity => ({
  quantity_id,
  property: 'ratedCOP',
  numeric_value: 3.2,
  unit_code: 'fraction',
  quantity_kind: 'Efficiency',
  value_basis: 'Rated',
  source_type: 'nameplate',
  ...(review_status ? { review_status } : {}),
  ...more,
})

test('a review goes from NeedsReview to a decision and back, never from one decision to the other', t => {
  const allowed = [
    [undefined, 'Reviewed', true],
    ['NeedsReview', 'Rejected', true],
    ['Reviewed', undefined, true],
    ['Rejected', 'NeedsReview', true],
    ['Reviewed', 'Reviewed', true],
    ['Reviewed', 'Rejected', false],
    ['Rejected', 'Reviewed', false],
  ] as const
  for (const [from, to, may] of allowed) {
    const store = quantityStore(temporaryDatabase(t))
    store.put([quantity('q', from)])
    if (may) t.notThrows(() => store.put([quantity('q', to)]))
    else t.throws(() => store.put([quantity('p'), quantity('q', to)]), { code: 'conflict' })
    t.is(store.get('q')?.review_status, may ? (to ?? 'NeedsReview') : from, `${from} to ${to}`)
    t.is(store.get('p'), undefined)
  }
})

test('quantities are listed by building', t => {
  const store = quantityStore(temporaryDatabase(t))
  store.put([quantity('b', 'Reviewed', { building_id: 'x' }), quantity('a', 'Reviewed')])
  t.deepEqual(store.list(), [quantity('a', 'Reviewed'), quantity('b', 'Reviewed', { building_id: 'x' })])
  t.deepEqual(
    store.list('x').map(({ quantity_id }) => quantity_id),
    ['b'],
  )
})
