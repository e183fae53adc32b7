import test from 'ava'
import fc from 'fast-check'
import { type Finding, priorityOf } from '#shared/core/findings/finding.ts'
import { SNOOZE_SCOPES, snoozeId, snoozeTarget } from '#shared/core/findings/snooze.ts'
import { toRows } from '#shared/central/pages/faults/fault-list.ts'
import {
  NONE_OPEN,
  type OpenCounts,
  openFaults,
  openFaultsByBuilding,
  openFaultsByEquipment,
} from '#shared/central/pages/faults/open-counts.ts'
import { noteStore } from '#shared/node/store/notes.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { snoozeStore } from '#shared/node/store/snoozes.ts'
import type { Database } from '#shared/node/sqlite.ts'
import { FINDINGS, NOW } from '../../../../support/page-fixture.ts'
import { temporaryDatabase } from '../../../../support/sites/workspace.ts'

const storesOf = (db: Database) => ({ findings: resultStores(db).findings, notes: noteStore(db), snoozes: snoozeStore(db) })

test('open faults are counted by priority, without those of sensors and without what is silenced', t => {
  const stores = storesOf(temporaryDatabase(t))
  stores.findings.put(FINDINGS)
  t.deepEqual(openFaults(stores, NOW), { 1: 1, 2: 1, 3: 0, data: 1, overrides: 0 })
  t.deepEqual(openFaults(stores, NOW, 'nowhere'), NONE_OPEN)
})

/** The same counts from findings that are read whole, as the list has them. */
function countedRows(stores: ReturnType<typeof storesOf>, now: number, of: (finding: Finding) => boolean): OpenCounts {
  const active = stores.findings.list({ state: 'active', limit: 1000 }).filter(of)
  const counts = { ...NONE_OPEN }
  for (const { lane, row } of toRows(
    active.map(one => ({ finding: one, note: stores.notes.of(one, now) })),
    now,
  ))
    if (lane !== 'silenced') counts[lane === 'faults' ? priorityOf(row.finding.severity) : lane]++
  return counts
}

const FINDING = fc.record({
  building: fc.integer({ min: 0, max: 2 }),
  equipment: fc.integer({ min: 0, max: 2 }),
  rule: fc.integer({ min: 0, max: 2 }),
  role: fc.constantFrom(undefined, 'sa_t', 'oa_t'),
  kind: fc.constantFrom('fault', 'sensor', 'data', 'override', 'energy'),
  severity: fc.constantFrom(1, 2, 3, 4),
  state: fc.constantFrom('active', 'active', 'cleared'),
  suppressed_by: fc.constantFrom(undefined, undefined, 'x'),
  hoursAgo: fc.integer({ min: 1, max: 4 }),
  not_a_fault: fc.constantFrom(undefined, undefined, undefined, 'by design'),
  snooze: fc.constantFrom(undefined, undefined, ...SNOOZE_SCOPES),
  hoursQuiet: fc.integer({ min: -1, max: 1 }),
  ended: fc.boolean(),
})

test('counts agree with the rows of the list, whatever is noted, snoozed or explained', t => {
  const db = temporaryDatabase(t)
  const stores = storesOf(db)
  fc.assert(
    fc.property(fc.array(FINDING, { maxLength: 25 }), drawn => {
      for (const table of ['findings', 'notes', 'snoozes']) db.exec(`DELETE FROM ${table}`)
      for (const [i, one] of drawn.entries()) {
        const { role, kind, severity, state, suppressed_by, hoursAgo, not_a_fault, snooze, hoursQuiet, ended } = one
        const from = NOW - hoursAgo * 3_600_000
        const { suppressed_by: _explained, ...plain } = FINDINGS[0]!
        const own = {
          ...plain,
          ...{ finding_id: `f${i}`, building_id: `b${one.building}`, equipment_id: `e${one.equipment}`, rule_id: `r${one.rule}` },
          ...{ kind, severity, title: 'T', from, to: state === 'active' ? null : NOW, state },
          ...(role !== undefined && { role }),
          ...(suppressed_by !== undefined && { suppressed_by }),
        } as Finding
        stores.findings.put([own])
        if (not_a_fault !== undefined) stores.notes.set({ finding_id: `f${i}`, ack: 'unacked', not_a_fault })
        if (snooze === undefined) continue
        const target = snoozeTarget(own, snooze)
        const until = NOW + hoursQuiet * 3_600_000
        const over = ended ? { ended_at: NOW - 1 } : {}
        stores.snoozes.put({ ...target, snooze_id: snoozeId(target), until, created_at: 1, ...over }, NOW - 7_200_000)
      }
      const byBuilding = openFaultsByBuilding(stores, NOW)
      for (const building_id of ['b0', 'b1', 'b2']) {
        const expected = countedRows(stores, NOW, own => own.building_id === building_id)
        t.deepEqual(byBuilding.get(building_id) ?? NONE_OPEN, expected)
        t.deepEqual(openFaults(stores, NOW, building_id), expected)
        const byEquipment = openFaultsByEquipment(stores, NOW, building_id)
        for (const equipment_id of ['e0', 'e1', 'e2']) {
          const own = countedRows(stores, NOW, one => one.building_id === building_id && one.equipment_id === equipment_id)
          t.deepEqual(byEquipment.get(equipment_id) ?? NONE_OPEN, own)
        }
      }
      t.deepEqual(
        openFaults(stores, NOW),
        countedRows(stores, NOW, () => true),
      )
    }),
    { numRuns: 60 },
  )
})

test('the counts of fifty buildings take as many reads as those of two, and none of a whole finding', t => {
  const read = (buildings: number) => {
    const db = temporaryDatabase(t)
    const reads: string[] = []
    const prepare = db.prepare.bind(db)
    db.prepare = ((sql: string) => {
      const statement = prepare(sql)
      const all = statement.all.bind(statement)
      const get = statement.get.bind(statement)
      statement.all = (...values: unknown[]) => (reads.push(sql), all(...values))
      statement.get = (...values: unknown[]) => (reads.push(sql), get(...values))
      return statement
    }) as typeof db.prepare
    const stores = storesOf(db)
    for (let i = 0; i < buildings; i++) {
      const own = { ...FINDINGS[0]!, finding_id: `f${i}`, building_id: `b${i}` }
      stores.findings.put([own])
      stores.notes.set({ finding_id: own.finding_id, ack: 'acked' })
      const target = snoozeTarget(own, 'rule')
      stores.snoozes.put({ ...target, snooze_id: snoozeId(target), until: NOW + 1, created_at: 1 }, NOW)
    }
    reads.length = 0
    t.is(openFaultsByBuilding(stores, NOW).size, buildings)
    return reads
  }
  const [few, many] = [read(2), read(50)]
  t.is(few.length, 3)
  t.deepEqual(many, few)
  t.deepEqual(
    many.filter(sql => /\bfindings\b/.test(sql)),
    [],
  )
})
