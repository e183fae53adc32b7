/** Converts waste to kilowatt-hours: one formula for each kind of impact. */
import type { EnergyUse, PricingGap, Range, Waste } from './impact.ts'
import type { Carrier } from './kinds.ts'
import { exactRange, divideRanges, addRanges, SENSORS_K, multiplyRanges } from './range.ts'
import type { Size, EquipmentSizes } from './equipment-sizes.ts'

/** kW per m³/s and K: dry air of 1.2 kg/m³ with 1.0 kJ/(kg·K). @source ASHRAE Fundamentals 2021, chapter 18, 1.23 at sea level */
const AIR_HEAT = 1.2
/** kW per m³/s and K of water. @source ASHRAE Fundamentals 2021, chapter 33: 4.18 kJ/(kg·K), 1000 kg/m³ */
const WATER_HEAT = 4180

const FLOW_METER: Range = { low: 0.9, mid: 1, high: 1.1 }
const POWER_METER: Range = { low: 0.95, mid: 1, high: 1.05 }
const AIR_BY_SPEED: Range = { low: 0.85, mid: 1, high: 1.15 }
const AIR_UNKNOWN: Range = { low: 0.4, mid: 0.7, high: 1 }
const POWER_BY_SPEED: Range = { low: 0.8, mid: 1, high: 1.2 }
const POWER_UNKNOWN: Range = { low: 0.5, mid: 0.8, high: 1 }
const VALVE_LOAD: Range = { low: 0.5, mid: 1, high: 1.5 }
const CHILLER_LOAD: Range = { low: 0.2, mid: 0.5, high: 1 }
const BOILER_LOAD: Range = { low: 0.1, mid: 0.3, high: 1 }

/** Collected while a fault is priced: every assumption once, and all missing inputs. */
export type PricingNotes = { basis: string[]; gaps: PricingGap[] }
type Side = 'up' | 'down'

/** @returns kWh by carrier; missing inputs are added to the notes, and a carrier may then be absent */
export function energyOf(waste: Waste, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): EnergyUse[] {
  const cooled = (heat: Range | undefined) => cold(heat, equipment_id, sizes, ledger)
  const heated = (heat: Range | undefined) => warm(heat, equipment_id, sizes, ledger)
  const heat = (side: Side) => heatOf(waste, side, equipment_id, sizes, ledger)
  switch (waste.kind) {
    case 'cooling':
      return cooled(heat('up'))
    case 'heating':
      return heated(heat('up'))
    case 'simultaneous': {
      const same = heat('up')
      return [...cooled(same), ...heated(same)]
    }
    case 'outdoor_air':
      return [...cooled(heat('up')), ...heated(heat('down'))]
    case 'leak':
      return [...heated(heat('up')), ...cooled(heat('down'))]
    case 'boiler':
      return boiler(waste, equipment_id, sizes, ledger)
    case 'fan':
    case 'pump':
    case 'chiller':
      return machine(waste, equipment_id, sizes, ledger)
    case 'electricity':
      return use(
        'electricity',
        multiplyRanges(exactRange(waste.up), noted(ledger, POWER_METER, 'The meter is right within 5 %.')),
      )
    default:
      return []
  }
}

const use = (carrier: Carrier, range: Range): EnergyUse[] => [{ carrier, ...range }]

function noted(ledger: PricingNotes, range: Range, basis: string): Range {
  if (!ledger.basis.includes(basis)) ledger.basis.push(basis)
  return range
}

/** The value of a size; adds its assumptions, or the gap when it is missing. */
function taken(size: Size, ledger: PricingNotes): Range | undefined {
  if ('gap' in size) {
    const { gap } = size
    const known = ledger.gaps.some(one => JSON.stringify(one) === JSON.stringify(gap))
    if (!known) ledger.gaps.push(gap)
    return undefined
  }
  for (const line of size.basis) noted(ledger, size.range, line)
  return size.range
}

// ---- heat of air, kWh

function heatOf(waste: Waste, side: Side, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): Range | undefined {
  const sum = waste[side]
  if (sum === 0) return exactRange(0)
  if (waste.measure === 'share') return heatOfShare(waste, sum, equipment_id, sizes, ledger)
  const kelvin = kelvinOf(waste, side)
  noted(ledger, kelvin, `Temperatures agree within ${SENSORS_K} K.`)
  noted(ledger, kelvin, `Sensible heat alone, ${AIR_HEAT} kW per m³/s and K; what moisture costs is not in it.`)
  const flow = airFlow(waste, equipment_id, sizes, ledger)
  return flow && multiplyRanges(multiplyRanges(kelvin, flow), exactRange(AIR_HEAT))
}

/** The sum of kelvin with the error of the sensors; never below zero. */
export function kelvinOf(waste: Waste, side: Side): Range {
  const { [side]: mid, [`${side}_sure` as const]: low, [`${side}_gauge` as const]: gauge } = waste
  return { low, mid, high: mid + SENSORS_K * gauge }
}

/** The factor that converts a sum over the gauge to one over m³/s. */
function airFlow({ gauge }: Waste, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): Range | undefined {
  if (gauge === 'sa_flow' || gauge === 'zone_flow') {
    return noted(ledger, FLOW_METER, `Air flow as measured (${gauge}), within 10 %.`)
  }
  const design = taken(sizes.own(equipment_id, 'designSupplyAirflow'), ledger)
  if (!design) return undefined
  if (gauge === 'air_speed')
    return multiplyRanges(design, noted(ledger, AIR_BY_SPEED, 'Air flow goes with the fan speed, within 15 %.'))
  return multiplyRanges(design, noted(ledger, AIR_UNKNOWN, 'No fan speed is known: 70 % (40 to 100 %) of the design flow.'))
}

/** Takes a valve's opening as the share of the coil's capacity; where both coils are open, of the smaller one. */
function heatOfShare(
  { kind }: Waste,
  hours: number,
  equipment_id: string,
  sizes: EquipmentSizes,
  ledger: PricingNotes,
): Range | undefined {
  const cooling = kind === 'heating' ? undefined : taken(sizes.own(equipment_id, 'ratedCoolingCapacity'), ledger)
  const heating = kind === 'cooling' ? undefined : taken(sizes.own(equipment_id, 'ratedHeatingCapacity'), ledger)
  if ((kind !== 'heating' && !cooling) || (kind !== 'cooling' && !heating)) return undefined
  const coil = cooling && heating ? (cooling.mid < heating.mid ? cooling : heating) : (cooling ?? heating)!
  const load = noted(ledger, VALVE_LOAD, "A valve's opening is taken as the coil's share of its capacity, within a half.")
  return multiplyRanges(multiplyRanges(exactRange(hours), coil), load)
}

function cold(heat: Range | undefined, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): EnergyUse[] {
  if (heat?.high === 0) return []
  const cop = taken(sizes.cop(equipment_id), ledger)
  return heat && cop ? use('electricity', divideRanges(heat, cop)) : []
}

function warm(heat: Range | undefined, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): EnergyUse[] {
  if (heat?.high === 0) return []
  const efficiency = taken(sizes.efficiency(equipment_id), ledger)
  return heat && efficiency ? use('fuel', divideRanges(heat, efficiency)) : []
}

// ---- machines, kWh

function machine({ kind, gauge, up }: Waste, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): EnergyUse[] {
  if (up === 0) return []
  if (gauge.endsWith('_kw')) {
    return use('electricity', multiplyRanges(exactRange(up), noted(ledger, POWER_METER, 'Power as measured (kw), within 5 %.')))
  }
  const rated = taken(sizes.power(equipment_id, kind === 'pump' ? 'pump' : kind === 'chiller' ? 'chiller' : 'fan'), ledger)
  if (!rated) return []
  return use('electricity', multiplyRanges(multiplyRanges(exactRange(up), rated), loadOf(gauge, ledger)))
}

function loadOf(gauge: string, ledger: PricingNotes): Range {
  if (gauge.endsWith('_speed')) return noted(ledger, POWER_BY_SPEED, 'Power goes with the 2.7th power of the speed, within 20 %.')
  if (gauge === 'chiller_full') {
    return noted(ledger, CHILLER_LOAD, 'No power is measured: half (20 to 100 %) of what the chiller takes at its rating.')
  }
  return noted(ledger, POWER_UNKNOWN, 'No speed is known: 80 % (50 to 100 %) of the rated power.')
}

function boiler({ gauge, up }: Waste, equipment_id: string, sizes: EquipmentSizes, ledger: PricingNotes): EnergyUse[] {
  if (up === 0) return []
  if (gauge === 'hot_water') {
    const heat = multiplyRanges(
      exactRange(up * WATER_HEAT),
      noted(ledger, FLOW_METER, 'Heat of the water as measured, within 10 %.'),
    )
    return warm(heat, equipment_id, sizes, ledger)
  }
  const rated = taken(sizes.own(equipment_id, 'ratedFuelInputPower'), ledger)
  if (!rated) return []
  const load = noted(ledger, BOILER_LOAD, 'No heat is measured: 30 % (10 to 100 %) of the rated fuel input.')
  return use('fuel', multiplyRanges(multiplyRanges(exactRange(up), rated), load))
}

/** Adds up uses of the same carrier. */
export function sumByCarrier(uses: EnergyUse[]): EnergyUse[] {
  const sums = new Map<Carrier, Range>()
  for (const { carrier, ...range } of uses) sums.set(carrier, addRanges(sums.get(carrier) ?? exactRange(0), range))
  return [...sums].map(([carrier, range]) => ({ carrier, ...range })).toSorted((a, b) => (a.carrier < b.carrier ? -1 : 1))
}
