import test from 'ava'
import { buildFrames } from '#shared/flow/fdd/build-frames.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { journalSnapshots } from '#appliance/priority/journal-snapshots.ts'
import { BUILDING, EQUIPMENT, NOW, POINTS, samplesOf } from '../../support/page-fixture.ts'
import { CATALOGUE, HISTORY, journalOf, reading, LEVEL_NAMES, SITE } from '../../support/overrides-fixture.ts'

const source = (readings = HISTORY, state = {}) =>
  journalSnapshots({
    journal: () => journalOf(readings, state),
    catalogue: () => CATALOGUE,
    building: SITE.building,
    levels: LEVEL_NAMES,
  })
const span = { from: NOW - 2 * DAY, to: NOW }

test('snapshots of the span are returned by point, ascending, without unlisted points', async t => {
  const visits = await source().snapshots('school', span)
  t.deepEqual(Object.keys(visits).toSorted(), ['ahu-1.clg_valve', 'ahu-1.fan_cmd', 'ahu-1.oa_damper', 'ahu-1.sa_t_sp', 'exhaust'])
  const valve = visits['ahu-1.clg_valve']!
  t.is(valve.length, 48)
  t.true(valve.every(({ t: at }, i) => i === 0 || at > valve[i - 1]!.t))
  t.is(valve[0]!.slots[7], 100)
  t.true(valve[0]!.overridden)
  t.deepEqual(await source().snapshots('elsewhere', span), {})
})

test('scale and offset of the point are applied', async t => {
  const [device] = CATALOGUE.devices
  const points = device!.points.map(point => ({ ...point, scale: 0.1, offset: 1 }))
  const journal = journalOf([reading(NOW - HOUR, 'analog-output,4', { 8: 50 })])
  const catalogue = { devices: [{ ...device!, points }] }
  const visits = await journalSnapshots({
    journal: () => journal,
    catalogue: () => catalogue,
    building: SITE.building,
    levels: LEVEL_NAMES,
  }).snapshots('school', span)
  t.is(visits['ahu-1.clg_valve']![0]!.slots[7], 6)
  t.is(visits['ahu-1.clg_valve']![0]!.fallback, 1)
})

test('an input has no snapshots for rules', async t => {
  const input = reading(NOW - HOUR, 'analog-input,2', {}, { out_of_service: true })
  t.false('ahu-1.oa_t' in (await source([...HISTORY, input]).snapshots('school', span)))
})

test('a disabled journal has no snapshots', async t => {
  t.deepEqual(await source(HISTORY, { journal: 'disabled' }).snapshots('school', span), {})
})

test('a week of visits raises the override rules, in the units of the roles', async t => {
  const { rules } = loadRules([new URL('../../../rules/override', import.meta.url).pathname])
  const visits = await source().snapshots('school', { from: NOW - 10 * DAY, to: NOW })
  const historian = {
    read: async ({ point_ids }: { point_ids: string[] }) =>
      point_ids.map(id => samplesOf(POINTS.find(one => one.point_id === id)!)),
  }
  const from = NOW - 3 * DAY
  const equipment = await buildFrames('school', EQUIPMENT, POINTS, { from: from - 7 * DAY, to: NOW }, historian as never, visits)
  const { timezone } = BUILDING
  const { findings, failed } = runRules({ building_id: 'school', timezone, from, to: NOW, rules, equipment })
  t.deepEqual(failed, [])
  const found = findings.map(({ rule_id, role, state }) => `${rule_id} ${role} ${state}`)
  t.true(found.includes('OVR-MANUAL-LONG clg_valve active'), found.join('\n'))
  t.true(found.includes('OVR-HELD sa_t_sp cleared'), found.join('\n'))
  t.true(found.includes('OVR-HELD sa_t_sp active'), found.join('\n'))
  const valve = findings.find(({ rule_id }) => rule_id === 'OVR-MANUAL-LONG')!
  t.is(valve.evidence.inputs['commanded(clg_valve, 8)'], 1)
})
