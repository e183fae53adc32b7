import test from 'ava'
import { type Finding, type FindingNote, priorityOf } from '#shared/core/findings/finding.ts'
import { type Urgency, urgencyOf } from '#shared/core/findings/urgency.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import {
  DEFAULT_QUERY,
  faultsHref,
  type Grouping,
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
  ['an override', { ...COOLING, kind: 'override' as const }, {}, 'overrides'],
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

test('rows are grouped by equipment, by rule, by building, by priority and not at all', t => {
  const shown = rows.filter(({ lane }) => lane === 'faults').map(({ row }) => row)
  const titles = (by: Grouping) =>
    groupRows(shown, by, { equipment: one => one.equipment_id, building: one => one.building_id }).map(({ title }) => title)
  t.deepEqual(titles('equipment'), ['ahu-1', 'vav-3', 'chiller-1'])
  t.is(titles('fault')[0], COOLING.title)
  t.deepEqual([titles('building'), titles('none')], [['school'], ['']])
  t.deepEqual(titles('priority'), ['Priority 1, high', 'Priority 2, medium', 'Priority 3, low'])
})

test('severities 3 and 4 are both of low priority', t => t.deepEqual(([1, 2, 3, 4] as const).map(priorityOf), [1, 2, 3, 3]))

test('a filter stands in the address, without what is the default', t => {
  t.is(faultsHref(DEFAULT_QUERY), '/faults')
  t.is(faultsHref({ ...DEFAULT_QUERY, lane: 'data', equipment: 'a&b' }), '/faults?lane=data&equipment=a%26b')
})

for (const [what, query, count] of [
  ['state', { state: 'cleared' }, 1],
  ['priority', { priority: 2 }, 1],
  ['equipment', { equipment: 'ahu-1' }, 1],
  ['rule', { rule: 'VAV-LOW-FLOW' }, 1],
  ['time in fault', { minutes: 9 * 60 }, 2],
  ['more time than any was in fault', { minutes: 27 * 60 }, 0],
  ['another building', { building: 'elsewhere' }, 0],
] as const) {
  test(`the list is filtered by ${what}`, t => {
    const shown = rows.filter(({ lane, row }) => lane === 'faults' && matches(row, { ...DEFAULT_QUERY, ...query }))
    t.is(shown.length, count)
  })
}

const partsIn = (list: Finding[]) =>
  toRows(
    list.map(one => ({ finding: one, note: plain(one.finding_id) })),
    NOW,
  ).map(({ row }) => [row.finding.finding_id, row.parts.map(part => `${part.is} ${part.finding.finding_id}`)])
const other = (finding_id: string, more: Partial<Finding>): Finding => ({ ...COOLING, finding_id, rule_id: finding_id, ...more })

test('what a finding explains, over others too, is beside it, and so is the override that explains one', t => {
  const child = other('child', { suppressed_by: COOLING.finding_id })
  const grandchild = other('grandchild', { suppressed_by: 'child' })
  const relabelled = other('relabelled', { relabelled_by: 'held' })
  const held = other('held', { kind: 'override', severity: 3 })
  const parts = Object.fromEntries(partsIn([COOLING, child, grandchild, relabelled, held]))
  t.deepEqual(parts[COOLING.finding_id], ['explained child', 'explained grandchild'])
  t.deepEqual([parts['relabelled'], parts['held'], parts['child']], [['cause held'], [], []])
})

test('findings that explain each other in a circle are still listed', t =>
  t.is(partsIn([other('a', { suppressed_by: 'b' }), other('b', { suppressed_by: 'a' })]).length, 2))

for (const [what, given, urgency] of [
  ['of high priority that has lasted for a month', { severity: 1, from: NOW - 30 * DAY }, 'urgent'],
  ['about comfort', { kind: 'comfort', severity: 4, from: NOW - 30 * DAY }, 'urgent'],
  ['of medium priority that began an hour ago', { severity: 2, from: NOW - HOUR }, 'urgent'],
  ['of medium priority that began yesterday', { severity: 2, from: NOW - DAY }, 'chronic'],
  ['of low priority that began an hour ago', { severity: 3, from: NOW - HOUR }, 'chronic'],
  ['of high priority that is cleared', { severity: 1, state: 'cleared', to: NOW }, undefined],
] as [string, Partial<Finding>, Urgency | undefined][]) {
  test(`a fault ${what} is ${urgency ?? 'neither urgent nor chronic'}`, t =>
    t.is(urgencyOf({ ...COOLING, kind: 'fault', ...given }, NOW), urgency))
}

test('urgent faults are listed first, and nobody knows of a building whose data ended', t => {
  const chronic = { ...COOLING, finding_id: 'old', rule_id: 'OLD', severity: 2 as const, from: NOW - 9 * DAY }
  const comfort = { ...COOLING, finding_id: 'cold', rule_id: 'COLD', kind: 'comfort' as const, severity: 3 as const }
  const both = [chronic, comfort].map(one => ({ finding: one, note: plain(one.finding_id) }))
  const listed = (hasEnded?: () => boolean) => toRows(both, NOW, hasEnded).map(({ row }) => [row.finding.finding_id, row.urgency])
  t.deepEqual(listed(), [
    ['cold', 'urgent'],
    ['old', 'chronic'],
  ])
  t.deepEqual(
    listed(() => true),
    [
      ['old', undefined],
      ['cold', undefined],
    ],
  )
})
