/** The shipped rules, as they are, in runs that go on from one to the next. */
import test from 'ava'
import { DAY, HOUR } from '#shared/core/time.ts'
import { loadRules } from '#shared/node/rule-files.ts'
import { chainOf, diceOf, type Plan, wholeRun, worldOf } from './world.ts'

const { rules: SHIPPED } = loadRules([new URL('../../../rules', import.meta.url).pathname])
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

test('every shipped rule of air handlers, boxes and weather goes on as if it had never stopped', t => {
  const dice = diceOf(2026)
  const types = new Set<string>(['any', ...Object.values(PLAN).map(({ type }) => type)])
  const rules = SHIPPED.filter(({ equipment }) => equipment.some(type => types.has(type)))
  const world = worldOf(PLAN, 'Europe/Berlin', FROM, 5, dice)
  const setting = { world, rules, dice }
  const chain = chainOf(setting)
  const found = new Set<string>()
  for (let now = FROM + 20 * HOUR; now <= FROM + 4 * DAY; now += 11 * HOUR) {
    const whole = wholeRun(setting, now, world.from)
    t.is(JSON.stringify(chain.runTo(now, world.from)), JSON.stringify(whole))
    for (const { rule_id } of whole.findings) found.add(rule_id)
  }
  t.true(chain.counts.resumed >= 9)
  t.true(found.size > 10, `${[...found].join(' ')} were found`)
})
