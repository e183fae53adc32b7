import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { FUNCTIONS } from '#shared/core/rules/language/functions.ts'
import type { EquipmentData } from '#shared/core/rules/compile/equipment-data.ts'
import { ahu, evaluate, type Rows } from '../../../../support/rules/helpers.ts'

const _ = null

/** Expression, rows ten minutes apart, values at the same instants. */
const CASES: [string, Rows, (number | null)[]][] = [
  ['avg(sa_t, 20m)', { sa_t: '10 20 20 50' }, [_, _, 15, 20]],
  ['avg(sa_t, 20m)', { sa_t: '10 20 ? 20 20' }, [_, _, _, _, _]],
  ['avg(sa_t, 50m)', { sa_t: '10x5 ? 10x3' }, [_, _, _, _, 10, _, 10, 10, 10]],
  ['min(sa_t, 20m)', { sa_t: '10 20 30 40 15' }, [_, _, 10, 20, 15]],
  ['max(sa_t, 20m)', { sa_t: '40 20 10 10 15' }, [_, _, 40, 20, 15]],
  ['range(sa_t, 20m)', { sa_t: '10 20 30 30 30 30' }, [_, _, 20, 10, 0, 0]],
  ['delta(sa_t, 20m)', { sa_t: '10 12 15 15' }, [_, _, 5, 3]],
  ['lag(sa_t, 10m)', { sa_t: '10 12 ? 15 15' }, [_, 10, _, _, 15]],
  ['median(sa_t, 20m)', { sa_t: '10 10 30 30 30' }, [_, _, 10, 30, 30]],
  ['percentile(sa_t, 20m, 1)', { sa_t: '10 10 30 10 10 10' }, [_, _, 30, 30, 30, 10]],
  // What was known before four fifths of the window were counts as soon as they are.
  ['percentile(sa_t, 20m, 1)', { sa_t: '30 10 10 10' }, [_, _, 30, 10]],
  ['percentile(sa_t, 50m, 1)', { sa_t: '10 10 10 ? 40 10 10 10 10' }, [_, _, _, _, _, 40, 40, 40, 40]],
  ['median(sa_t, 50m)', { sa_t: '40 40 40 10 10 10' }, [_, _, _, _, 40, 40]],
  ['travel(oa_damper, 20m)', { oa_damper: '0 0.5 0.2 0.2 0.2' }, [_, _, 0.8, 0.3, 0]],
  ['changes(oa_damper, 20m)', { oa_damper: '0 0.5 0.2 0.2 0.2' }, [_, _, 2, 1, 0]],
  ['changes(fan_status, 20m)', { fan_status: '0 1 0 0' }, [_, _, 2, 1]],
  ['reversals(oa_damper, 40m, 0.1)', { oa_damper: '0 0.5 0.2 0.6 0.55 0.1 0.1' }, [_, _, _, _, 2, 3, 2]],
  ['sensors()', { sa_t: '10 10', ra_t: '20 20', sa_t_sp: '13 13' }, [2, 2]],
  ['silent_sensors(20m)', { sa_t: '10 ? ? ? ? 10', ra_t: '20 20 20 20 20 20', sa_t_sp: '13 ? ? ? ? ?' }, [0, 0, 0, 0, 1, 0]],
  ['off_set_point(sa_t)', { sa_t: '20 20 ?', sa_t_sp: '18 ? 18', sa_t_sp_cool: '21 ? 21' }, [1, 1e12 - 20, _]],
  ['off_set_point(ra_t)', { ra_t: '20 20' }, [1e12, 1e12]],
  ['coverage(sa_t, 20m)', { sa_t: '10 ? ? 10 10 10' }, [_, _, 0.5, 0, 0.5, 1]],
  ['duty(fan_status, 20m)', { fan_status: '0 1 0 1 1' }, [_, _, 0.5, 0.5, 0.5]],
  ['held(sa_t > 15, 20m)', { sa_t: '10 20 20 20 20 10 20' }, [0, 0, 0, 1, 1, 0, 0]],
  ['held(sa_t > 15, 20m)', { sa_t: '20 20 20 ? 20 20 20' }, [_, _, 1, _, _, _, 1]],
  ['held(sa_t > 15, 20m)', { sa_t: '10 ? 20 20' }, [0, _, 0, _]],
  ['count(sa_t > 15, 20m)', { sa_t: '20 10 20 10 10 10' }, [_, _, 2, 1, 1, 0]],
  ['starts(fan_status, 20m)', { fan_status: '1 0 1 0 1 1 1 1' }, [_, _, 1, 1, 1, 1, 0, 0]],
  ['cusum(sa_t - 20, 1, 20m)', { sa_t: '20 27 27 27 20' }, [_, _, 1, 2, 2]],
  ['cusum(sa_t - 20, 1, 20m)', { sa_t: '27 27 27 27 27' }, [_, _, 2, 2, 2]],
  ['since(sa_t > 15)', { sa_t: '10 20 10 10 20 10' }, [_, 0, 0, 600, 0, 0]],
  ['age(sa_t)', { sa_t: '10 _ _ _ _ ? 10' }, [0, 600, 1200, 1800, 2400, 3000, 0]],
  ['day_median(sa_t)', { sa_t: '10 20 20 30 20' }, [_, 20, 20, 20, 20]],
  ['abs(oa_t - ra_t)', { oa_t: '10 30', ra_t: '20x2' }, [10, 10]],
  ['least(oa_t, ra_t, 15)', { oa_t: '10 30', ra_t: '20x2' }, [10, 15]],
  ['greatest(oa_t, ra_t)', { oa_t: '10 30 ?', ra_t: '20x3' }, [20, 30, _]],
  ['first(oa_t, ra_t)', { oa_t: '10 ? 30', ra_t: '20x3' }, [10, 20, 30]],
  ['if(oa_t > 15, oa_t, ra_t)', { oa_t: '10 20 20 ?', ra_t: '5 ? 7 7' }, [5, 20, 20, _]],
  ['if(has(sa_t), 1, 0)', { sa_t: '10x2', oa_t: '1x2' }, [1, 1]],
  ['if(rests(sa_t), 1, 0)', { sa_t: '10x2' }, [0, 0]],
  ['nominal(sa_t)', { sa_t: '10x2' }, [600, 600]],
  ['lowest(sa_t)', { sa_t: '10x2' }, [-40, -40]],
  ['highest(sa_t)', { sa_t: '10x2' }, [95, 95]],
]

for (const [expression, rows, values] of CASES) {
  test(`${expression} over ${JSON.stringify(rows)}`, t => {
    t.deepEqual(evaluate(expression, rows, 10 * MINUTE), values)
  })
}

/** Expression and values over two rows; the second row is where a role is missing. */
const ARITHMETIC: [string, Rows, (number | null)[]][] = [
  ['sa_t - oa_t', { sa_t: '20 20', oa_t: '5 ?' }, [15, _]],
  ['(sa_t - oa_t) * 2 / 3', { sa_t: '20 ?', oa_t: '5 5' }, [10, _]],
  ['1 / oa_damper', { oa_damper: '0.5 0' }, [2, _]],
  ['oa_damper ^ 2', { oa_damper: '0.5 ?' }, [0.25, _]],
  ['-(sa_t - oa_t)', { sa_t: '20 20', oa_t: '5 ?' }, [-15, _]],
  ['sa_t > oa_t and oa_t > 10', { sa_t: '20 ?', oa_t: '15 5' }, [1, _]],
  ['sa_t > oa_t or oa_t < 10', { sa_t: '20 ?', oa_t: '15 5' }, [1, _]],
  ['not sa_t > oa_t', { sa_t: '20 20', oa_t: '15 25' }, [0, 1]],
  ['sa_t >= oa_t', { sa_t: '20 20', oa_t: '20 21' }, [1, 0]],
  ['sa_t > oa_t', { sa_t: '20 20', oa_t: '20 19' }, [0, 1]],
  ['sa_t <= oa_t', { sa_t: '20 20', oa_t: '20 19' }, [1, 0]],
  ['sa_t < oa_t', { sa_t: '20 20', oa_t: '20 21' }, [0, 1]],
  ['sa_t == oa_t', { sa_t: '20 20', oa_t: '20 21' }, [1, 0]],
  ['sa_t != oa_t', { sa_t: '20 20', oa_t: '20 21' }, [0, 1]],
  ['fan_cmd != fan_status', { fan_cmd: '1 1', fan_status: '0 1' }, [1, 0]],
  ['oa_damper * 3 >= 0.3', { oa_damper: '0.1 0.0999' }, [1, 0]],
  ['oa_damper * 3 > 0.3', { oa_damper: '0.1 0.1001' }, [0, 1]],
  ['sa_t > 68 degF', { sa_t: '20.1 20' }, [1, 0]],
  ['sa_t - oa_t >= 9 degF', { sa_t: '20 20', oa_t: '15 15.1' }, [1, 0]],
  ['sa_t > oa_t + 9 degF', { sa_t: '20 20.1', oa_t: '15 15' }, [0, 1]],
  ['duct_static < 0.1 inwc', { duct_static: '24 25' }, [1, 0]],
  ['oa_damper > 95 %', { oa_damper: '0.96 0.95' }, [1, 0]],
  ['true and sa_t > 10', { sa_t: '20 ?' }, [1, _]],
]

for (const [expression, rows, values] of ARITHMETIC) {
  test(`${expression} is ${values.join(', ')} over ${JSON.stringify(rows)}`, t => {
    t.deepEqual(evaluate(expression, rows, 10 * MINUTE), values)
  })
}

test('every function of the language has a case', t => {
  const tried = [...CASES, ...ARITHMETIC].map(([expression]) => expression).join(' ')
  const untried = Object.keys(FUNCTIONS).filter(name => !tried.includes(`${name}(`) && name !== 'parent')
  t.deepEqual(untried, [])
})

test('a window that turns over many times keeps its sums exact', t => {
  const row = Array.from({ length: 2000 }, (_, i) => ((i * 37) % 101) / 10).join(' ')
  const values = row.split(' ').map(Number)
  const found = evaluate('avg(sa_t, 60m)', { sa_t: row }, 10 * MINUTE)
  for (const i of [100, 999, 1998]) {
    const window = values.slice(i - 6, i)
    t.is(found[i], Math.round((window.reduce((sum, value) => sum + value, 0) / 6) * 1e6) / 1e6)
  }
})

test('zones join what the equipment feeds and need four fifths of it', t => {
  const plant = [zone('z1', '0.1 0.1 ?'), zone('z2', '0.3 0.5 0.3'), zone('z3', '0.8 0.9 0.8')]
  const at = (how: string) => evaluate(`zones(damper, ${how})`, { sa_t: '10x3' }, 10 * MINUTE, plant)
  t.deepEqual(at('avg'), [0.4, 0.5, _])
  t.deepEqual(at('max'), [0.8, 0.9, _])
  t.deepEqual(at('min'), [0.1, 0.1, _])
  t.deepEqual(at('sum'), [1.2, 1.5, _])
  t.deepEqual(at('median'), [0.3, 0.5, _])
})

const STAGES: [string, string, boolean][] = [
  ['two stages', '0x2 0.5x2 1x2 0x4', true],
  ['one stage of 15 %', '0x7 0.15x3', true],
  ['a move by 14 %', '0x7 0.14x3', false],
  ['noise of 1 %', '0x7 0.5 0.51 0.5', true],
  ['a move by 2 %', '0x7 0.5 0.52 0.5', false],
  ['closed at 1 %', '0.01x7 0.5x3', true],
  ['never closed', '0.02x7 0.5x3', false],
  ['without a move', '0x10', false],
  ['three hours of history', '0x2 0.5x2', false],
  ['a small move five hours ago, without more than a day', '0 0.05 0x2 0.5x4', true],
  ['a small move 20 h ago', '0x9 0.05 0x5 0.5x15', false],
  ['a small move 27 h ago, without more than two days', '0x2 0.05 0x12 0.5x15', true],
  ['a small move six days ago', '0x60 0.05 0x5 0.5x140', false],
  ['a small move eight days ago', '0x8 0.05 0x60 0.5x140', true],
]

for (const [name, rows, expected] of STAGES) {
  test(`an output with ${name} ${expected ? 'comes' : 'does not come'} in stages`, t => {
    t.is(evaluate('staged(htg_valve)', { htg_valve: rows }, HOUR).at(-1), expected ? 1 : 0)
  })
}

test('an output without a value does not come in stages, and more than one argument is an error', t => {
  t.deepEqual(evaluate('staged(htg_valve)', { htg_valve: '? ?' }, HOUR), [0, 0])
  t.throws(() => evaluate('staged(htg_valve, 1h)', { htg_valve: '0 0.5' }, HOUR), { message: /staged takes 1 arguments/ })
})

const SHARES: [string, string, boolean][] = [
  ['that goes to half of its stroke', '0x5 0.5x5', true],
  ['that goes to 1.1 %', '0x5 0.011x5', true],
  ['of 0 to 1 that is said to be percent', '0x5 0.003x5', false],
  ['of which its seat alone is seen', '0x10', true],
  ['that rests at 0.8 %', '0.008x10', true],
  ['that moves by a tenth of a percent', '0x5 0.001x5', true],
  ['that moves by a little more', '0x5 0.0012x5', false],
  ['of three hours of history', '0 0.003x2', true],
  ['that rests at one half of its stroke for seven hours', '0x5 0.005x7', false],
  ['that rests so for fourteen hours', '0x8 0.005x14', false],
  ['that rests so for two days of the first week', '0x30 0.005x48', true],
  ['that rests so for two days of the second week', '0x130 0.005x48', false],
  ['that rests so for more than a week', '0x30 0.005x170', true],
  ['that was seen at 2 % five days ago', '0.02x10 0 0.005x120', true],
  ['that was seen at 2 % eight days ago', '0.02x10 0x20 0.005x20 0x20 0.005x140', false],
]

for (const [name, rows, expected] of SHARES) {
  test(`an output ${name} ${expected ? 'may be' : 'is not known to be'} a percentage`, t => {
    t.is(evaluate('scaled(clg_valve)', { clg_valve: rows }, HOUR).at(-1), expected ? 1 : 0)
  })
}

test('a status that differs from its command for longer than 20 min proves neither that a fan runs nor that it rests', t => {
  const on = (fan_status: string, fan_cmd: string) => evaluate('fan_on', { fan_status, fan_cmd }, 5 * MINUTE)
  t.deepEqual(on('0 1x6', '0x7'), [0, 1, 1, 1, 1, _, _])
  t.deepEqual(on('1 0x6', '1x7'), [1, 0, 0, 0, 0, _, _])
  t.deepEqual(on('1 0x5 1', '1x7'), [1, 0, 0, 0, 0, _, 1])
  t.deepEqual(on('0x7', '0x7'), [0, 0, 0, 0, 0, 0, 0])
})

function zone(equipment_id: string, damper: string): EquipmentData {
  return ahu({ damper }, 10 * MINUTE, { equipment_id, equipment_type: 'vav' })
}
