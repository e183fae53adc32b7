/** The shipped rules of overrides: a point that somebody holds is one row of the list, whatever is said of it. */
import test from 'ava'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { HOUR } from '#shared/core/time.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { ahu, run, START } from '../../../../support/rules/helpers.ts'

const { rules } = loadRules([new URL('../../../../../rules/override', import.meta.url).pathname])
const HOURS = 48

/** Hourly visits that see `value` at a level from hour `from` on, and what the program asks for in each hour. */
const held = (value: number, { level = 8, from = 0, asked = (_hour: number): number => 0.8 } = {}): ArraySnapshot[] =>
  Array.from({ length: HOURS + 1 }, (_, hour) => {
    const slots = Array<number | null>(16).fill(null)
    slots[15] = asked(hour)
    if (hour >= from) slots[level - 1] = value
    return { t: START + hour * HOUR, slots, fallback: 0, date: '2026-03-02', overridden: hour >= from }
  })

const unit = (visits: Record<string, ArraySnapshot[]>, more: Parameters<typeof ahu>[2] = {}) => ({
  ...ahu(Object.fromEntries(Object.keys(visits).map(role => [role, `0x${HOURS}`])), HOUR, more),
  visits,
})

/** @returns what each unit says of each of its points: the rules shown, each with those that it covers */
function said(plant: ReturnType<typeof unit>[]): Record<string, string[]> {
  const { findings } = run(rules, plant, HOURS * HOUR)
  const above = (one: Finding) => findings.find(({ finding_id }) => finding_id === one.suppressed_by)
  const topOf = (one: Finding): Finding => (above(one) ? topOf(above(one)!) : one)
  const rows = findings
    .filter(one => !above(one))
    .map(shown => {
      const parts = findings.filter(one => one !== shown && topOf(one) === shown)
      const places = parts.map(({ equipment_id, role }) => `${equipment_id} ${role}`)
      const place = `${shown.equipment_id} ${shown.role}`
      return { place, text: [shown.rule_id, ...parts.map(({ rule_id }) => rule_id).toSorted()].join(' < '), places }
    })
  const elsewhere = rows.filter(({ place, places }) => places.some(one => one !== place))
  if (elsewhere.length > 0) throw new Error(`what is held elsewhere is covered: ${JSON.stringify(elsewhere)}`)
  const places = Object.groupBy(rows, ({ place }) => place)
  return Object.fromEntries(Object.entries(places).map(([place, own]) => [place, own!.map(({ text }) => text).toSorted()]))
}

test('a point that was held for a day is told as left in place, and no longer as held', t => {
  t.deepEqual(said([unit({ clg_valve: held(0) })]), { 'ahu-1 clg_valve': ['OVR-MANUAL-LONG < OVR-HELD'] })
})

test('each point speaks for itself: one held for long does not cover one that was taken today', t => {
  t.deepEqual(said([unit({ clg_valve: held(0), htg_valve: held(0, { from: 30 }) })]), {
    'ahu-1 clg_valve': ['OVR-MANUAL-LONG < OVR-HELD'],
    'ahu-1 htg_valve': ['OVR-HELD'],
  })
})

test('nor does the same point of the equipment above', t => {
  const box = unit({ htg_valve: held(0, { from: 30 }) }, { equipment_id: 'vav-1', equipment_type: 'vav', parent_id: 'ahu-1' })
  t.deepEqual(said([unit({ htg_valve: held(0) }, { feeds: ['vav-1'] }), box]), {
    'ahu-1 htg_valve': ['OVR-MANUAL-LONG < OVR-HELD'],
    'vav-1 htg_valve': ['OVR-HELD'],
  })
})

test('what is said of the set point or the output of a held point stands for all of it', t => {
  t.deepEqual(said([unit({ sa_t_sp: held(20, { asked: () => 13 }) })]), {
    'ahu-1 sa_t_sp': ['OVR-SETPOINT < OVR-HELD < OVR-MANUAL-LONG'],
  })
  t.deepEqual(said([unit({ clg_valve: held(0, { asked: hour => (hour % 4) / 5 }) })]), {
    'ahu-1 clg_valve': ['OVR-OUTPUT-FROZEN < OVR-HELD < OVR-MANUAL-LONG'],
  })
})

test('what life safety holds is not told a second time', t => {
  t.deepEqual(said([unit({ oa_damper: held(0, { level: 2 }) })]), { 'ahu-1 oa_damper': ['OVR-LIFE-SAFETY < OVR-HELD'] })
})

test('none of these rules covers one that is not among them: that a point is held hides no fault', t => {
  const ids = new Set(rules.map(({ id }) => id))
  const named = rules.flatMap(({ program }) => program.suppresses)
  t.true(named.length > 0)
  t.deepEqual(
    named.filter(id => !ids.has(id)),
    [],
  )
})
