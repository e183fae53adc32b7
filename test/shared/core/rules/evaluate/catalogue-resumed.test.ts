/** The shipped rules, as they are, in runs that resume from one to the next. */
import { deserialize, serialize } from 'node:v8'
import test from 'ava'
import { createRun, runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { outlineOf } from '#shared/core/rules/compile/topology.ts'
import type { EquipmentState } from '#shared/core/rules/evaluate/equipment-state.ts'
import { inputOf } from '#shared/core/rules/testing/test-rule.ts'
import type { TestCase } from '#shared/core/rules/check/rule.ts'
import type { RunOutput, RunInput } from '#shared/core/rules/evaluate/run-types.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { nextDay } from '#shared/core/time-zone.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { chainOf, diceOf, type Plan, wholeRun, worldOf } from '../../../../support/rules/world.ts'

const { rules: SHIPPED } = loadRules([new URL('../../../../../rules', import.meta.url).pathname])
const words = (text: string) => text.split(' ')
const PLAN: Plan = {
  ahu: {
    type: 'ahu',
    roles: words(
      'oa_t ma_t ra_t sa_t sa_t_sp* duct_static duct_static_sp fan_cmd fan_status fan_speed sa_flow oa_damper* clg_valve* htg_valve occ ra_rh',
    ),
    feeds: ['vav'],
  },
  vav: { type: 'vav', roles: words('zone_t zone_t_sp_cool zone_t_sp_heat damper zone_flow zone_flow_sp reheat_valve sa_t occ') },
  wx: { type: 'weather', roles: words('wx_oa_t wx_wb_t wx_dp_t') },
}
/** The night on which clocks go forward is among the days. */
const FROM = Date.UTC(2026, 2, 27, 6)

test('shipped rules of air handlers, boxes and weather go on as if they had never stopped', t => {
  const dice = diceOf(2026)
  const types = new Set<string>(['any', ...Object.values(PLAN).map(({ type }) => type)])
  const rules = SHIPPED.filter(({ equipment }, i) => i % 2 === 1 && equipment.some(type => types.has(type)))
  const world = worldOf(PLAN, 'Europe/Berlin', FROM, 4, dice)
  const setting = { world, rules, dice }
  const chain = chainOf(setting)
  const found = new Set<string>()
  for (let now = FROM + 20 * HOUR; now <= FROM + 3 * DAY; now += 12 * HOUR) {
    const whole = wholeRun(setting, now, world.from)
    t.is(JSON.stringify(chain.runTo(now, world.from)), JSON.stringify(whole))
    for (const { rule_id } of whole.findings) found.add(rule_id)
  }
  t.true(chain.counts.resumed >= 6)
  t.true(found.size >= 3, `${[...found].join(' ')} were found`)
})

/** Longest test that is tried: those of a month of baselines are slow. */
const DAYS_MAX = 8

/** The same run, stopped at the end of every building day. */
function resumed(input: RunInput): RunOutput {
  const states = new Map<string, EquipmentState>()
  for (let at = input.from; ; ) {
    at = Math.min(nextDay(at, input.timezone), input.to)
    const run = createRun({ ...input, to: at, equipment: input.equipment.map(outlineOf), saveStatesAt: [at] })
    for (const equipment_id of run.order) {
      const evaluated = run.evaluate(equipment_id, input.equipment, states.get(equipment_id))
      if (evaluated.outdated !== undefined) throw new Error(evaluated.outdated)
      for (const state of evaluated.states) states.set(equipment_id, deserialize(serialize(state)) as EquipmentState)
    }
    if (at === input.to) return run.finish()
  }
}

test('what the shipped rules say in their own tests of several days, they say day by day', t => {
  const isLong = ({ start, timezone, lengthMs }: TestCase) =>
    nextDay(start, timezone) < start + lengthMs && lengthMs < DAYS_MAX * DAY
  // One for each rule: all of them take minutes.
  const long = SHIPPED.flatMap(rule =>
    rule.tests
      .filter(isLong)
      .slice(0, 1)
      .map(one => ({ rule, one })),
  )
  for (const { rule, one } of long) {
    const input = inputOf(rule, one, false)
    t.is(JSON.stringify(resumed(input)), JSON.stringify(runRules(input)), `${rule.id}: ${one.name}`)
  }
  t.true(long.length > 30, `${long.length} of ${SHIPPED.length}`)
})
