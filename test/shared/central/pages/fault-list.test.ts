import test from 'ava'
import { type FindingNote, priorityOf } from '#shared/core/findings/finding.ts'
import { HOUR } from '#shared/core/time.ts'
import {
  countOpen,
  DEFAULT_QUERY,
  faultsHref,
  groupRows,
  laneOf,
  matches,
  toRows,
} from '#shared/central/pages/faults/fault-list.ts'
import { COOLING, FINDINGS, finding, NOW } from '../../../support/page-fixture.ts'

const plain = (finding_id: string): FindingNote => ({ finding_id, ack: 'unacked' })
const items = FINDINGS.map(one => ({ finding: one, note: plain(one.finding_id) }))
const rows = toRows(items, NOW)

for (const [what, one, note, lane] of [
  ['a fault', COOLING, {}, 'faults'],
  ['a bad sensor', { ...COOLING, kind: 'sensor' as const }, {}, 'data'],
  ['missing data', { ...COOLING, kind: 'data' as const }, {}, 'data'],
  ['a snoozed fault', COOLING, { snoozed_until: NOW + 1 }, 'silenced'],
  ['a fault whose snooze has ended', COOLING, { snoozed_until: NOW }, 'faults'],
  ['what was called no fault', COOLING, { not_a_fault: 'by design' }, 'silenced'],
  ['what another finding explains', { ...COOLING, suppressed_by: 'x' }, {}, 'silenced'],
  ['what an override explains', { ...COOLING, relabelled_by: 'x' }, {}, 'faults'],
] as const) {
  test(`${what} is listed under ${lane}`, t => t.is(laneOf({ finding: one, note: { ...plain('x'), ...note } }, NOW), lane))
}

test('episodes of one fault make one row, for which the one that lasts speaks', t => {
  const { row } = rows.find(one => one.row.finding.rule_id === COOLING.rule_id)!
  t.is(row.finding.finding_id, 'f-cooling')
  t.is(row.episodes, 2)
  t.is(row.inFaultMs, 9 * HOUR)
  const reversed = toRows(items.toReversed(), NOW)
  t.deepEqual(reversed, rows)
})

test('the worst row comes first: active, then by priority, then what nobody has acknowledged', t => {
  const listed = rows.filter(({ lane }) => lane === 'faults').map(({ row }) => row.finding.finding_id)
  t.deepEqual(listed, ['f-cooling', 'f-flow', 'f-valve'])
  const twin = finding({ finding_id: 'f-a', rule_id: 'R', equipment_id: 'ahu-1', title: 'T', severity: 1, from: NOW - HOUR })
  const withTwin = toRows([...items, { finding: twin, note: { ...plain('f-a'), ack: 'acked' } }], NOW)
  t.deepEqual(
    withTwin.slice(0, 2).map(({ row }) => row.finding.finding_id),
    ['f-cooling', 'f-a'],
  )
})

test('rows are grouped by equipment, by fault and by priority', t => {
  const shown = rows.filter(({ lane }) => lane === 'faults').map(({ row }) => row)
  const titles = (by: 'equipment' | 'fault' | 'priority') =>
    groupRows(shown, by, one => one.equipment_id).map(({ title }) => title)
  t.deepEqual(titles('equipment'), ['ahu-1', 'vav-3', 'chiller-1'])
  t.is(titles('fault')[0], COOLING.title)
  t.deepEqual(titles('priority'), ['Priority 1, high', 'Priority 2, medium', 'Priority 3, low'])
})

test('open faults are counted by priority, without those of sensors and without what is silenced', t =>
  t.deepEqual(countOpen(rows), { 1: 1, 2: 1, 3: 0, data: 1 }))

test('severities 3 and 4 are both of low priority', t => t.deepEqual(([1, 2, 3, 4] as const).map(priorityOf), [1, 2, 3, 3]))

test('a filter stands in the address, without what is the default', t => {
  t.is(faultsHref(DEFAULT_QUERY), '/faults')
  t.is(faultsHref({ ...DEFAULT_QUERY, lane: 'data', equipment: 'a&b' }), '/faults?lane=data&equipment=a%26b')
})

for (const [what, query, count] of [
  ['state', { state: 'cleared' }, 1],
  ['priority', { priority: 2 }, 1],
  ['equipment', { equipment: 'ahu-1' }, 1],
  ['another building', { building: 'elsewhere' }, 0],
] as const) {
  test(`the list is filtered by ${what}`, t => {
    const shown = rows.filter(({ lane, row }) => lane === 'faults' && matches(row, { ...DEFAULT_QUERY, ...query }))
    t.is(shown.length, count)
  })
}
