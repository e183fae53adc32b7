/** From waste to kilowatt-hours and money. Every figure is reckoned by hand beside it. */
import test from 'ava'
import fc from 'fast-check'
import type { EnergyPrices, Waste } from '#shared/core/impact/impact.ts'
import { IMPACT_KINDS } from '#shared/core/impact/kinds.ts'
import { priceFinding } from '#shared/core/impact/price.ts'
import { BASIS_WIDTH } from '#shared/core/impact/range.ts'
import { createEquipmentSizes } from '#shared/core/impact/equipment-sizes.ts'
import type { Equipment, EquipmentType } from '#shared/core/model/model.ts'
import { KIND_OF, type Quantity } from '#shared/core/model/quantity.ts'

const equipment = (equipment_id: string, equipment_type: EquipmentType, more: Partial<Equipment> = {}): Equipment => ({
  equipment_id,
  building_id: 'b',
  name: equipment_id,
  equipment_type,
  ...more,
})
const SITE = [equipment('AHU-1', 'ahu', { feeds: ['VAV-1'] }), equipment('VAV-1', 'vav'), equipment('CH-1', 'chiller')]

let made = 0
const quantity = (
  equipment_id: string | undefined,
  property: Quantity['property'],
  numeric_value: number,
  unit_code: string,
  more: Partial<Quantity> = {},
): Quantity => ({
  quantity_id: `q${made++}`,
  ...(equipment_id !== undefined && { equipment_id }),
  building_id: 'b',
  property,
  numeric_value,
  unit_code,
  quantity_kind: KIND_OF[property],
  value_basis: 'TAB',
  source_type: 'report',
  review_status: 'Reviewed',
  ...more,
})

const wasted = (more: Partial<Waste>): Waste => ({
  kind: 'cooling',
  measure: 'kelvin',
  gauge: 'air_speed',
  hours: 10,
  up: 0,
  up_sure: 0,
  up_gauge: 0,
  down: 0,
  down_sure: 0,
  down_gauge: 0,
  ...more,
})
const EUROS: EnergyPrices = { currency: 'EUR', electricity: 0.25, fuel: 0.1 }
const SIZES = [
  quantity('AHU-1', 'designSupplyAirflow', 4, 'm3/s'),
  quantity('CH-1', 'ratedCOP', 4, '1', { value_basis: 'Rated' }),
  quantity(undefined, 'ratedThermalEfficiency', 80, 'percent', { value_basis: 'Measured' }),
]

function price(waste: Waste, quantities = SIZES, prices: EnergyPrices | null = EUROS, equipment_id = 'AHU-1', site = SITE) {
  return priceFinding(
    { waste, equipment_id, duration_secs: waste.hours * 3600 },
    createEquipmentSizes(quantities, site),
    prices ?? undefined,
  )
}
const near = (value: number | undefined, wanted: number): boolean => Math.abs((value ?? Number.NaN) / wanted - 1) < 6e-4

test('excess cooling by fan speed: kelvin, design flow, heat of air, coefficient of performance, price', t => {
  // 10 h at 2 K and a speed of 0.6: up = 12 K·h, surely 1.5 K × 6 = 9, at most 2.5 K × 6 = 15.
  // mid: 12 × 4 m³/s × 1 × 1.2 = 57.6 kWh of heat, / 4 = 14.4 kWh, × 0.25 = 3.60 EUR
  // low: 9 × 3.6 × 0.85 × 1.2 = 33.048; / (4 × 1.15) = 7.184 kWh; 1.796 EUR
  // high: 15 × 4.4 × 1.15 × 1.2 = 91.08; / (4 × 0.85) = 26.79 kWh; 6.697 EUR
  const { impact, not_priced } = price(wasted({ up: 12, up_sure: 9, up_gauge: 6 }))
  t.is(not_priced, undefined)
  t.like(impact, { kind: 'cooling', unit: 'EUR', mid: 3.6 })
  t.true(near(impact?.low, 1.796) && near(impact?.high, 6.697), JSON.stringify(impact))
  t.is(impact!.energy[0]!.mid, 14.4)
  t.deepEqual(impact!.basis, [
    'Temperatures agree within 0.5 K.',
    'Sensible heat alone, 1.2 kW per m³/s and K; what moisture costs is not in it.',
    'designSupplyAirflow of AHU-1: 4 m3/s (TAB, ±10 %)',
    'Air flow goes with the fan speed, within 15 %.',
    'ratedCOP of CH-1: 4 (Rated, ±15 %)',
    'electricity at 0.25 EUR per kWh',
  ])
})

test('excess heating with a measured flow needs no design flow', t => {
  // 20 K·m³/s·h × 1.2 = 24 kWh of heat, / 0.8 = 30 kWh of fuel, × 0.10 = 3 EUR
  const { impact } = price(wasted({ kind: 'heating', gauge: 'sa_flow', up: 20, up_sure: 18, up_gauge: 4 }), SIZES.slice(2))
  t.like(impact, { unit: 'EUR', mid: 3 })
  t.is(impact!.energy[0]!.carrier, 'fuel')
})

test('the same heat given and taken costs both carriers', t => {
  // 24 kWh of heat: 24 / 4 = 6 kWh × 0.25 = 1.5 EUR and 24 / 0.8 = 30 kWh × 0.1 = 3 EUR
  const { impact } = price(wasted({ kind: 'simultaneous', gauge: 'sa_flow', up: 20, up_sure: 18, up_gauge: 4 }))
  t.like(impact, { mid: 4.5, unit: 'EUR' })
  t.deepEqual(
    impact!.energy.map(({ carrier, mid }) => [carrier, mid]),
    [
      ['electricity', 6],
      ['fuel', 30],
    ],
  )
})

test('two open valves: the smaller coil at the smaller opening', t => {
  // 2 h of full opening × 50 kW = 100 kWh; / 4 = 25 kWh × 0.25 = 6.25; / 0.8 = 125 kWh × 0.1 = 12.5; together 18.75 EUR
  const coils = [quantity('AHU-1', 'ratedCoolingCapacity', 80, 'kW'), quantity('AHU-1', 'ratedHeatingCapacity', 50, 'kW')]
  const { impact } = price(wasted({ kind: 'simultaneous', measure: 'share', gauge: 'plain', up: 2 }), [...SIZES, ...coils])
  t.like(impact, { mid: 18.75 })
})

test('outdoor air that is too warm is cooled, and too cold is heated; a leak is the other way round', t => {
  const sides = { gauge: 'sa_flow', up: 20, up_sure: 20, up_gauge: 1, down: 10, down_sure: 10, down_gauge: 1 } as const
  // up 24 kWh, down 12 kWh of heat
  const uses = (kind: Waste['kind']) =>
    price(wasted({ kind, ...sides })).impact!.energy.map(({ carrier, mid }) => `${carrier} ${mid}`)
  t.deepEqual(uses('outdoor_air'), ['electricity 6', 'fuel 15'])
  t.deepEqual(uses('leak'), ['electricity 3', 'fuel 30'])
})

test('fan energy: rated power times the speed sum; shaft power through motor and drive', t => {
  const fan = wasted({ kind: 'fan', measure: 'share', gauge: 'fan_speed', up: 5 })
  // 5 h × 11 kW = 55 kWh × 0.25 = 13.75 EUR
  const electric = price(fan, [quantity('AHU-1', 'ratedElectricalInputPower', 11, 'kW')])
  t.like(electric.impact, { mid: 13.75 })
  // 5 h × 10 hp × 0.7457 = 37.285 kWh at the shaft, / 0.88 = 42.37 kWh × 0.25 = 10.59 EUR
  const shaft = price(fan, [quantity('AHU-1', 'ratedShaftPower', 10, 'hp')])
  t.true(near(shaft.impact?.mid, 10.592))
})

test('a plant takes what all its pumps take; one without a rating is named', t => {
  const site = [
    equipment('PLANT', 'chw_plant', { feeds: ['P-1'] }),
    equipment('P-1', 'pump'),
    equipment('P-2', 'pump', { parent_id: 'PLANT' }),
  ]
  const one = quantity('P-1', 'ratedElectricalInputPower', 7, 'kW')
  const waste = wasted({ kind: 'pump', measure: 'share', gauge: 'pump_speed', up: 2 })
  t.deepEqual(price(waste, [one], EUROS, 'PLANT', site).not_priced, [
    { what: 'quantity', name: 'ratedElectricalInputPower', equipment_id: 'P-2', why: 'not entered' },
  ])
  // 2 h × (7 + 3) kW = 20 kWh
  const both = price(waste, [one, quantity('P-2', 'ratedElectricalInputPower', 3, 'kW')], null, 'PLANT', site)
  t.like(both.impact, { mid: 20, unit: 'kWh' })
})

test('a meter needs no rating: chiller, boiler water, kilowatts', t => {
  t.like(price(wasted({ kind: 'chiller', measure: 'share', gauge: 'chiller_kw', up: 40 }), []).impact, { mid: 10 })
  t.like(price(wasted({ kind: 'electricity', measure: 'kilowatt', gauge: 'plain', up: 40 }), []).impact, { mid: 10 })
  // 0.02 m³·K/s·h × 4180 kW = 83.6 kWh of heat, / 0.8 = 104.5 kWh × 0.1 = 10.45 EUR
  const water = wasted({ kind: 'boiler', measure: 'share', gauge: 'hot_water', up: 0.02 })
  t.like(price(water).impact, { mid: 10.45 })
})

const FAN = [quantity('AHU-1', 'ratedElectricalInputPower', 10, 'kW')]
const COIL = [...SIZES, quantity('AHU-1', 'ratedHeatingCapacity', 10, 'kW')]
/** Kilowatt-hours of ten hours at full load of 10 kW; a rating of a balancing report is right within 10 %, an efficiency of 0.8 within 5 %. */
const WIDTHS: [assumption: string, Partial<Waste>, Quantity[], low: number, mid: number, high: number][] = [
  ['power as measured, within 5 %', { kind: 'fan', gauge: 'fan_kw', up: 100 }, [], 95, 100, 105],
  ['power by speed, within 20 %', { kind: 'fan', gauge: 'fan_speed' }, FAN, 90 * 0.8, 100, 110 * 1.2],
  ['power without a speed, 50 to 100 %', { kind: 'fan', gauge: 'fan_full' }, FAN, 90 * 0.5, 80, 110],
  ['a chiller without a meter, 20 to 100 %', { kind: 'chiller', gauge: 'chiller_full' }, FAN, 90 * 0.2, 50, 110],
  [
    'a boiler without a meter, 10 to 100 %',
    { kind: 'boiler', gauge: 'boiler_full' },
    [quantity('AHU-1', 'ratedFuelInputPower', 10, 'kW')],
    90 * 0.1,
    30,
    110,
  ],
  [
    'a coil by its valve, within a half',
    { kind: 'heating', gauge: 'plain' },
    COIL,
    (90 * 0.5) / (0.8 * 1.05),
    125,
    (110 * 1.5) / (0.8 * 0.95),
  ],
]
for (const [assumption, waste, quantities, low, mid, high] of WIDTHS) {
  test(`energy is as uncertain as its assumption: ${assumption}`, t => {
    const { impact } = price(wasted({ measure: 'share', up: 10, ...waste }), quantities, null)
    t.is(impact?.energy.length, 1)
    const [use] = impact!.energy
    t.true(near(use!.low, low) && near(use!.mid, mid) && near(use!.high, high), JSON.stringify(use))
  })
}

test('comfort has degree-hours and no money', t => {
  const { impact, not_priced } = price(wasted({ kind: 'comfort', gauge: 'plain', up: 12, up_sure: 7, up_gauge: 10 }), [])
  t.is(not_priced, undefined)
  t.like(impact, { kind: 'comfort', low: 7, mid: 12, high: 17, unit: 'K·h', energy: [] })
})

test('without a price there is energy, and the price is named', t => {
  const waste = wasted({ kind: 'simultaneous', gauge: 'sa_flow', up: 20, up_sure: 18, up_gauge: 4 })
  const half = price(waste, SIZES, { currency: 'EUR', electricity: 0.2 })
  t.like(half.impact, { unit: 'kWh', mid: 36 })
  t.deepEqual(half.not_priced, [{ what: 'price', name: 'fuel' }])
  t.deepEqual(price(waste, SIZES, null).not_priced, [
    { what: 'price', name: 'electricity' },
    { what: 'price', name: 'fuel' },
  ])
})

const AIR = wasted({ up: 12, up_sure: 9, up_gauge: 6 })
for (const [what, quantities, why] of [
  ['nothing is known', [], 'not entered'],
  [
    'it was not reviewed',
    [quantity('AHU-1', 'designSupplyAirflow', 4, 'm3/s', { review_status: 'NeedsReview' })],
    'not reviewed',
  ],
  ['it was rejected', [quantity('AHU-1', 'designSupplyAirflow', 4, 'm3/s', { review_status: 'Rejected' })], 'rejected'],
  ['it is of other equipment', [quantity('VAV-1', 'designSupplyAirflow', 4, 'm3/s')], 'not entered'],
  [
    'its unit is none of a flow',
    [quantity('AHU-1', 'designSupplyAirflow', 4, 'kW')],
    'unit_code kW is no unit of designSupplyAirflow',
  ],
  ['it is zero', [quantity('AHU-1', 'designSupplyAirflow', 0, 'm3/s')], 'numeric_value 0: designSupplyAirflow is above zero'],
] as const) {
  test(`the missing quantity is named when ${what}`, t => {
    const { impact, not_priced } = price(AIR, [...SIZES.slice(1), ...quantities])
    t.is(impact, undefined)
    t.deepEqual(not_priced, [{ what: 'quantity', name: 'designSupplyAirflow', equipment_id: 'AHU-1', why }])
  })
}

test('a coefficient of performance of zero is refused', t => {
  const { impact, not_priced } = price(AIR, [SIZES[0]!, quantity('CH-1', 'ratedCOP', 0, '1')])
  t.is(impact, undefined)
  t.deepEqual(not_priced, [
    { what: 'quantity', name: 'ratedCOP', equipment_id: 'AHU-1', why: 'numeric_value 0: ratedCOP is above zero' },
  ])
})

for (const [property, value, unit, same, canonical] of [
  ['designSupplyAirflow', 8475.5, 'cfm', 4, 'm3/s'],
  ['designSupplyAirflow', 4000, 'L/s', 4, 'm3/s'],
  ['designSupplyAirflow', 8475.5, 'unit:FT3-PER-MIN', 4, 'm3/s'],
  ['ratedCOP', 0.8792, 'kW/ton', 4, '1'],
  ['ratedEER', 13.6486, 'Btu/(W·h)', 4, '1'],
] as const) {
  test(`${value} ${unit} of ${property} are ${same} ${canonical}`, t => {
    const rest = SIZES.filter(one => one.property !== property && !(property === 'ratedEER' && one.property === 'ratedCOP'))
    const holder = property === 'designSupplyAirflow' ? 'AHU-1' : 'CH-1'
    const basis = property === 'designSupplyAirflow' ? 'TAB' : 'Rated'
    const { impact } = price(AIR, [...rest, quantity(holder, property, value, unit, { value_basis: basis })])
    t.true(near(impact?.mid, 3.6), JSON.stringify(impact))
  })
}

for (const [value, unit, kW] of [
  [10, 'ton', 35.16853],
  [100_000, 'Btu/h', 29.30711],
  [20, 'kW', 20],
] as const) {
  test(`${value} ${unit} of capacity are ${kW} kW`, t => {
    // 1 h of full opening: kW / 4 kWh
    const waste = wasted({ measure: 'share', gauge: 'plain', up: 1 })
    const { impact } = price(waste, [...SIZES, quantity('AHU-1', 'ratedCoolingCapacity', value, unit)], null)
    t.true(near(impact?.mid, kW / 4), JSON.stringify(impact))
  })
}

test('of several reviewed figures the best known one counts, whatever their order', t => {
  const guess = quantity('AHU-1', 'designSupplyAirflow', 9, 'm3/s', { value_basis: 'Assumed' })
  for (const order of [
    [...SIZES, guess],
    [guess, ...SIZES],
  ])
    t.like(price(AIR, order).impact, { mid: 3.6 })
})

test('what serves a box is found up the chain, then the building', t => {
  const box = wasted({ gauge: 'zone_flow', up: 20, up_sure: 18, up_gauge: 4 })
  const ofUnit = quantity('AHU-1', 'ratedCOP', 3, '1')
  const ofBuilding = quantity(undefined, 'ratedCOP', 2, '1')
  const electric = (quantities: Quantity[]) => price(box, quantities, null, 'VAV-1').impact?.mid
  t.is(electric([ofUnit, ofBuilding]), 8)
  t.is(electric([ofBuilding]), 12)
  // Two chillers: which of them serves it is not known.
  const two = [...SITE, equipment('CH-2', 'chiller')]
  t.is(price(box, [SIZES[1]!], null, 'VAV-1', two).impact, undefined)
})

test('a point that is missing, and inputs that said nothing, are named', t => {
  t.deepEqual(price(wasted({ hours: 0, absent: ['ma_t'] })).not_priced, [{ what: 'point', name: 'ma_t', equipment_id: 'AHU-1' }])
  t.deepEqual(price(wasted({ hours: 0 })).not_priced, [{ what: 'data', name: 'inputs', equipment_id: 'AHU-1' }])
})

test('time for which the inputs were not known is told and not made up', t => {
  const told = priceFinding(
    { waste: AIR, equipment_id: 'AHU-1', duration_secs: 20 * 3600 },
    createEquipmentSizes(SIZES, SITE),
    EUROS,
  )
  t.is(told.impact!.mid, 3.6)
  t.is(told.impact!.basis[0], 'Reckoned over 10.0 h of 20.0 h in fault; for the rest its inputs were not known.')
})

test('what the rule takes for granted stands among the assumptions', t => {
  t.true(price({ ...AIR, because: 'Half of it is a guess.' }).impact!.basis.includes('Half of it is a guess.'))
})

test('a longer fault never costs less, and low, mid and high keep their order', t => {
  const positive = fc.double({ min: 0, max: 1e4, noNaN: true })
  const kinds = IMPACT_KINDS.filter(kind => kind !== 'none')
  const gauge = { fan: 'fan_speed', pump: 'pump_speed', chiller: 'chiller_full', boiler: 'hot_water' } as Record<string, string>
  const basis = fc.constantFrom(...(Object.keys(BASIS_WIDTH) as Quantity['value_basis'][]))
  const all = (value_basis: Quantity['value_basis']) => [
    ...SIZES.map(one => ({ ...one, value_basis })),
    quantity('AHU-1', 'ratedElectricalInputPower', 9, 'kW', { value_basis }),
    quantity('AHU-1', 'ratedFuelInputPower', 90, 'kW', { value_basis }),
  ]
  fc.assert(
    fc.property(fc.constantFrom(...kinds), basis, positive, positive, positive, positive, (kind, of, up, sure, more, surer) => {
      const at = (x: number, y: number) =>
        wasted({
          kind,
          gauge: gauge[kind] ?? 'air_speed',
          up: x + y,
          up_sure: x,
          up_gauge: x + y,
          down: x + y,
          down_sure: x,
          down_gauge: x + y,
        })
      const less = price(at(Math.min(up, sure), Math.abs(up - sure)), all(of)).impact!
      const longer = price(at(Math.min(up, sure) + more, Math.abs(up - sure) + surer), all(of)).impact!
      const ordered = [less, longer].every(({ low, mid, high }) => low >= 0 && low <= mid && mid <= high)
      return ordered && longer.low >= less.low && longer.mid >= less.mid && longer.high >= less.high
    }),
  )
  t.pass()
})

test('a side without heat asks for no figure of its machine', t => {
  // 20 K·m³/s·h × 1.2 = 24 kWh of heat on one side, none on the other.
  const [chiller, boiler] = [SIZES[1]!, SIZES[2]!]
  const flows = { gauge: 'sa_flow', up: 20, up_sure: 18, up_gauge: 4 } as const
  const leak = price(wasted({ kind: 'leak', ...flows }), [boiler])
  t.deepEqual([leak.not_priced, leak.impact!.energy.map(({ carrier }) => carrier)], [undefined, ['fuel']])
  const outdoor = price(wasted({ kind: 'outdoor_air', ...flows }), [chiller])
  t.deepEqual([outdoor.not_priced, outdoor.impact!.energy.map(({ carrier }) => carrier)], [undefined, ['electricity']])
})
