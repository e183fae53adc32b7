/** What the engine sums while a rule holds. Times in minutes, figures reckoned by hand. */
import test from 'ava'
import fc from 'fast-check'
import type { Waste } from '#shared/core/impact/impact.ts'
import { IMPACT_KINDS, impactKindSpec } from '#shared/core/impact/kinds.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { ahu, type Rows, ruleOf, run, yamlOf } from '../../../support/rules/helpers.ts'

const HEATING = "{ kind: heating, waste: 'sa_t - ma_t' }"
/** Twelve samples five minutes apart, then the fault is over. */
const hour = (value: number | string) => `${value}x12 0x12`
const WARM = { sa_t: hour(24), ma_t: '20x24' }

function wasteOf(impact: string, rows: Rows, more: Partial<EquipmentData> = {}, keys: Record<string, string> = {}): Waste {
  const rule = ruleOf(yamlOf({ impact, optional: '{ fan_speed: fraction, sa_flow: m3/s }', ...keys }))
  const [finding] = run([rule], [ahu(rows, 5 * MINUTE, more)], 2 * HOUR).findings
  if (!finding?.waste) throw new Error('the fault has no waste')
  return finding.waste
}

test('kelvin are weighted with the measured flow', t => {
  // 4 K × 2 m³/s for 1 h = 8; surely (4 - 0.5) × 2 = 7; the flow alone 2.
  const waste = wasteOf(HEATING, { ...WARM, sa_flow: '2x24', fan_speed: '0.5x24' })
  t.like(waste, { kind: 'heating', measure: 'kelvin', gauge: 'sa_flow', hours: 1, up: 8, up_sure: 7, up_gauge: 2, down: 0 })
})

test('without a flow meter the fan speed stands for it, and without a speed the design flow', t => {
  t.like(wasteOf(HEATING, { ...WARM, fan_speed: '0.5x24' }), { gauge: 'air_speed', hours: 1, up: 2, up_gauge: 0.5 })
  t.like(wasteOf(HEATING, WARM), { gauge: 'air_full', hours: 1, up: 4, up_gauge: 1 })
})

test('a box without a flow sensor has no gauge, and says which point it lacks', t => {
  const rows = { ...WARM, fan_speed: '0.5x24' }
  const waste = wasteOf(HEATING, rows, { equipment_type: 'vav' }, { equipment: '[vav]' })
  t.like(waste, { hours: 0, up: 0, absent: ['zone_flow'] })
})

test('a point that the expression reads and that is not there is named', t => {
  const waste = wasteOf("{ kind: cooling, waste: 'greatest(ma_t - sa_t, 0 K)' }", { sa_t: hour(24), sa_flow: '2x24' })
  t.like(waste, { hours: 0, absent: ['ma_t'] })
})

test('a fan takes the 2.7th power of its speed', t => {
  // 0.5^2.7 = 0.153893
  const waste = wasteOf('fan', { sa_t: hour(24), fan_speed: '0.5x24' })
  t.like(waste, { gauge: 'fan_speed', measure: 'share', hours: 1 })
  t.is(waste.up.toFixed(6), '0.153893')
})

test('time without the flow is left out, and what lies on both sides of zero is told apart', t => {
  // 30 min at +6 K and 30 min at -2 K, both with 1 m³/s; the flow is not known in the last ten minutes.
  const impact = "{ kind: leak, waste: 'sa_t - ma_t' }"
  const waste = wasteOf(impact, { sa_t: '36x6 28x6 0x12', ma_t: '30x24', sa_flow: '1x10 ?x14' })
  t.is(waste.hours, 0.833333)
  t.like(waste, { up: 3, up_sure: 2.75, up_gauge: 0.5, down: 0.666667, down_sure: 0.5, down_gauge: 0.333333 })
})

test('what a rule takes for granted goes with the waste', t => {
  t.is(wasteOf("{ kind: pump, waste: 0.5, because: 'a guess' }", { sa_t: hour(24) }).because, 'a guess')
})

test('kilowatts need no gauge', t => {
  const roles = { roles: '{ sa_t: degC, kw: kW }' }
  const waste = wasteOf("{ kind: electricity, waste: 'greatest(kw - 10 kW, 0 kW)' }", { sa_t: hour(24), kw: '25x24' }, {}, roles)
  t.like(waste, { measure: 'kilowatt', gauge: 'plain', hours: 1, up: 15 })
})

test('a rule that names no impact, or none, has no waste', t => {
  for (const impact of [{}, { impact: 'none' }] as Record<string, string>[]) {
    const [finding] = run([ruleOf(yamlOf(impact))], [ahu({ sa_t: hour(24) })], 2 * HOUR).findings
    t.truthy(finding)
    t.false('waste' in finding!)
  }
})

test('what impact lacks does not keep the rule from running, nor does it stand among its inputs', t => {
  const rule = ruleOf(yamlOf({ impact: "{ kind: cooling, waste: 'ma_t - parent(sa_t)' }" }))
  const { findings, results } = run([rule], [ahu({ sa_t: hour(24) })], 2 * HOUR)
  t.deepEqual(Object.keys(findings[0]!.evidence.inputs), ['sa_t'])
  t.is(results[0]!.status, 'fault')
  t.deepEqual(findings[0]!.waste!.absent, ['ma_t', 'parent sa_t'])
})

for (const [impact, message] of [
  ['gas', /impact is one of cooling, heating/],
  ['cooling', /impact cooling needs waste: an expression in kelvin or share/],
  ['{ kind: fan, waste: sa_t - ma_t }', /impact fan takes waste in share, this is a temperature difference/],
  ['{ kind: cooling, waste: sa_t }', /this is a temperature/],
  ['{ kind: cooling, waste: sa_tt - 2 }', /sa_tt/],
  ['{ kind: fan, wate: 1 }', /unknown key wate/],
] as const) {
  test(`impact: ${impact} is refused with its place`, t => {
    const parsed = parseRule(yamlOf({ impact }), 'r.yaml')
    t.false(parsed.ok)
    if (!parsed.ok) t.regex(parsed.errors.map(error => error.message).join('\n'), message)
  })
}

test('every shipped rule says what its fault wastes, or that nothing can be said', t => {
  const { rules, errors } = loadRules(['rules'])
  t.deepEqual(errors, [])
  const words = rules.map(({ program, filename }) => program.impact?.kind ?? `nothing in ${filename}`)
  t.true(words.length > 150)
  t.deepEqual(
    words.filter(word => !IMPACT_KINDS.some(kind => kind === word)),
    [],
  )
  const priced = words.filter(word => word !== 'none').length
  t.true(priced >= 40, `${priced} say something`)
})

test('every kind that measures something wastes a carrier or is comfort', t => {
  for (const name of IMPACT_KINDS) {
    const { measures, carriers, words } = impactKindSpec(name)
    t.is(measures.length === 0, name === 'none')
    t.is(carriers.length === 0, name === 'none' || name === 'comfort')
    t.truthy(words)
  }
})

test('how a fault is cut by samples and midnight changes nothing', t => {
  const step = fc.constantFrom(1, 2, 3, 4, 5, 10)
  fc.assert(
    fc.property(step, fc.integer({ min: 1, max: 30 }), (minutes, kelvin) => {
      const rule = ruleOf(yamlOf({ impact: HEATING }))
      const rows = { sa_t: `${21 + kelvin}x${120 / minutes}`, ma_t: `21x${120 / minutes}`, sa_flow: `1.5x${120 / minutes}` }
      const late = Date.UTC(2026, 2, 2, 23)
      const plant = [ahu(rows, minutes * MINUTE, {}, late)]
      const [finding] = run([rule], plant, 0, { from: late, to: late + 2 * HOUR }).findings
      return Math.abs(finding!.waste!.up - 2 * 1.5 * kelvin) < 1e-4
    }),
    { numRuns: 25 },
  )
  t.pass()
})
