import test from 'ava'
import fc from 'fast-check'
import { isMeasured, nearestRoles, ROLES, readAs, roleOf } from '#shared/core/model/role.ts'
import { canonicalUnit, conversion, UNITS, unitCode } from '#shared/core/model/unit.ts'

const CONVERSIONS: [number, string, string, number][] = [
  [32, 'degF', 'degC', 0],
  [-40, 'degF', 'degC', -40],
  [55, 'degF', 'degC', 12.7778],
  [1, 'inwc', 'Pa', 248.84],
  [1000, 'cfm', 'm3/s', 0.471947],
  [1000, 'L/s', 'm3/s', 1],
  [1, 'ton', 'kW', 3.516853],
  [12_000, 'Btu/h', 'ton', 1],
  [50, 'percent', 'fraction', 0.5],
  [14.5038, 'psi', 'bar', 1],
  [1, 'h', 'min', 60],
]
for (const [value, from, to, expected] of CONVERSIONS) {
  test(`${value} ${from} is ${expected} ${to}`, t => {
    t.true(Math.abs(convert(value, from, to) - expected) <= 1e-4 * Math.max(1, Math.abs(expected)))
  })
}

const convert = (value: number, from: string, to: string): number => {
  const { scale, offset } = conversion(from, to)!
  return value * scale + offset
}

test('converting there and back gives the value again, for every pair of one dimension', t => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(UNITS)),
      fc.constantFrom(...Object.keys(UNITS)),
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
      (a, b, value) => {
        if (!conversion(a, b)) return UNITS[a]!.dimension !== UNITS[b]!.dimension
        return Math.abs(convert(convert(value, a, b), b, a) - value) <= 1e-6 * Math.max(1, Math.abs(value))
      },
    ),
  )
  t.is(conversion('degC', 'Pa'), undefined)
})

test('a unit is known by its code and by every alias, and no alias means two units', t => {
  const names = Object.entries(UNITS).flatMap(([code, { aliases }]) => [code, ...aliases].map(name => [name, code] as const))
  for (const [name, code] of names) t.is(unitCode(` ${name.toUpperCase()} `), code, name)
  t.is(unitCode('furlong'), undefined)
})

test('the first unit of a dimension leaves values as they are', t => {
  for (const { dimension } of Object.values(UNITS)) {
    const { scale, offset } = UNITS[canonicalUnit(dimension)]!
    t.deepEqual({ dimension, scale, offset }, { dimension, scale: 1, offset: 0 })
  }
})

test('every role is declared in a canonical unit, with a range that is not empty', t => {
  for (const [name, { unit, range }] of Object.entries(ROLES)) {
    t.true(UNITS[unit]?.scale === 1 && UNITS[unit].offset === 0, `${name} in ${unit}`)
    t.true(range[0] < range[1], name)
  }
})

/** Canonical unit: what equipment can show at its extremes, and what a sensor shows that is broken or scaled wrong. */
const PLAUSIBLE: [role: string, possible: number[], impossible: number[]][] = [
  // Lowest and highest air temperature ever measured where people live; −157 °C is a −250 °F sensor that is open.
  ['oa_t', [-49, 57], [-157, -60, 70, 121]],
  ['ra_t', [-30, 45], [-157, 121]],
  // Behind an electric heater at its limit of 200 °F.
  ['sa_t', [-30, 93], [-157, 150, 3276.7]],
  // 22 °C taken for °F, and 72 °F taken for °C.
  ['zone_t', [1, 49], [-6, 72, 100]],
  // Ice is made with glycol below zero, and its set point says so.
  ['chw_supply_t', [-8, 40], [-40, 150]],
  ['chw_supply_t_sp', [-6, 7], [-40, 99]],
  ['hw_supply_t', [-5, 5, 115, 120], [-40, 200]],
  ['cond_refr_t', [40, 105], [200]],
  ['system_pressure', [-20_000, 2_400_000], [-100_000, 5_000_000]],
  ['mode', [0, 101, 255], [-1, 65_535]],
  // A wet capacitive element reads 104 %; a percentage taken for a share reads 50.
  ['sa_rh', [0, 1, 1.04], [-0.05, 1.1, 1.5, 50]],
  ['oa_damper', [-0.08, 0, 1, 1.08], [-0.2, 1.2, 2, 50]],
  ['filter_dp', [-1000, 2500], [-5000, 10_000]],
]
test('what equipment can show lies in the range of its role, and what a broken sensor shows does not', t => {
  for (const [role, possible, impossible] of PLAUSIBLE) {
    const [low, high] = ROLES[role]!.range
    const inside = (value: number) => value >= low && value <= high
    t.deepEqual(
      possible.filter(value => !inside(value)),
      [],
      role,
    )
    t.deepEqual(impossible.filter(inside), [], role)
  }
})

test('a role is found by name and alias in any case, and no alias means two roles', t => {
  const seen = new Map<string, string>()
  for (const [name, { aliases }] of Object.entries(ROLES)) {
    for (const alias of [name, ...aliases]) {
      t.is(seen.get(alias.toLowerCase()) ?? name, name, alias)
      seen.set(alias.toLowerCase(), name)
      t.is(roleOf(`${alias.toUpperCase()}  `), name)
    }
  }
})

test('a misspelt role is answered with the three nearest', t => {
  t.is(nearestRoles('zone_temp').length, 3)
  t.is(nearestRoles('clg_valv')[0], 'clg_valve')
  t.is(nearestRoles('duct_statc_sp')[0], 'duct_static_sp')
})

test('a signal within 10 % of its end stops is read at the stop, and beyond it as it is', t => {
  for (const [value, read] of [
    [-0.1, 0],
    [-0.03, 0],
    [0, 0],
    [0.4, 0.4],
    [1.03, 1],
    [1.1, 1],
    [1.11, 1.11],
    [-0.11, -0.11],
  ] as const) {
    t.is(readAs('oa_damper', value), read)
  }
  t.true(Number.isNaN(readAs('oa_damper', Number.NaN)))
  t.is(readAs('sa_rh', 1.03), 1.03)
  t.is(readAs('constructor', 1.03), 1.03)
})

test('every role whose name ends in the words of a command or a set point is none that a sensor tells', t => {
  const measured = Object.keys(ROLES).filter(isMeasured)
  t.deepEqual(
    measured.filter(role => /_cmd$|_sp(_|$)|_min$|_max$|_requests$/.test(role)),
    [],
  )
  for (const role of ['sa_t', 'kw', 'clg_valve_pos', 'fan_status', 'sa_rh']) t.true(isMeasured(role), role)
  for (const role of ['oa_damper', 'clg_valve', 'fan_speed', 'sa_t_sp', 'mode', 'toString']) t.false(isMeasured(role), role)
})

test('set points, commands, switches, modes, signals and currents rest for days; what else is measured does not', t => {
  for (const [name, { kind, unit, stops, rests }] of Object.entries(ROLES)) {
    t.is(rests, !isMeasured(name) || kind !== 'number' || unit === 'A' || stops !== undefined, name)
  }
  for (const role of ['hw_dp_sp', 'chw_dp_sp', 'fan_cmd', 'oa_damper_pos', 'fan_current']) t.true(ROLES[role]!.rests, role)
  for (const role of ['hw_dp', 'sa_t', 'kw', 'zone_flow', 'sa_rh']) t.false(ROLES[role]!.rests, role)
})
