/**
 * Every factor of the product against the definition of its unit. Nothing here is taken from the product: factors are reckoned
 * from definitions that are exact, or stand as printed in NIST SP 811 (2008), appendix B.8; numbers of units are those of
 * ASHRAE 135-2020, 21, BACnetEngineeringUnits.
 */
import test from 'ava'
import { engineeringUnit } from '#appliance/core/catalogue/engineering-units.ts'
import { UNITS } from '#shared/core/model/unit.ts'

/** Exact: the international yard and pound of 1959 (NBS), B.6 of SP 811. */
const FOOT = 0.3048
const INCH = FOOT / 12
const POUND = 0.453_592_37
/** Exact: standard acceleration of free fall, 3rd CGPM 1901. */
const GRAVITY = 9.806_65
/** Exact: International Table Btu, J (5th International Conference on the Properties of Steam, 1956; SP 811 note 9). */
const BTU = 1055.055_852_62
/** Exact: 231 cubic inches; the imperial gallon by the Weights and Measures Act 1985. m³. */
const US_GALLON = 231 * INCH ** 3
const IMPERIAL_GALLON = 0.004_546_09
/** Exact: 12,000 Btu/h is a ton of refrigeration. kW. */
const TON = (12_000 * BTU) / 3600 / 1000
/** As printed in SP 811, Pa: inch of water (60 °F), millimeter of mercury and inch of mercury, conventional. */
const INCH_OF_WATER_60F = 248.84
const MM_OF_MERCURY = 133.3224
const INCH_OF_MERCURY = 3386.389
/** Conventional: water of 1000 kg/m³ under standard gravity, SP 811 B.8 "millimeter of water, conventional". Pa. */
const MM_OF_WATER = GRAVITY
const HOUR = 3600
const DAY = 24 * HOUR
/** Exact: a kilowatt hour is 3.6 MJ. */
const KWH = 3.6e6

/** SI value of one unit, and where zero of it lies, both in the canonical unit of the dimension that is named. */
type Defined = [canonical: string, factor: number, zero?: number]

/** Kelvin stands for differences. */
const OURS: Record<string, Defined> = {
  degC: ['degC', 1],
  degF: ['degC', 5 / 9, (-32 * 5) / 9],
  K: ['degC', 1],
  Pa: ['Pa', 1],
  kPa: ['Pa', 1e3],
  bar: ['Pa', 1e5],
  psi: ['Pa', (POUND * GRAVITY) / INCH ** 2],
  inwc: ['Pa', INCH_OF_WATER_60F],
  ftwc: ['Pa', 12 * INCH_OF_WATER_60F],
  'm3/s': ['m3/s', 1],
  'm3/h': ['m3/s', 1 / HOUR],
  'L/s': ['m3/s', 1e-3],
  cfm: ['m3/s', FOOT ** 3 / 60],
  gpm: ['m3/s', US_GALLON / 60],
  kW: ['kW', 1],
  W: ['kW', 1e-3],
  MW: ['kW', 1e3],
  ton: ['kW', TON],
  'Btu/h': ['kW', BTU / HOUR / 1000],
  hp: ['kW', (550 * FOOT * POUND * GRAVITY) / 1000],
  kWh: ['kWh', 1],
  Wh: ['kWh', 1e-3],
  MJ: ['kWh', 1e6 / KWH],
  therm: ['kWh', (100_000 * BTU) / KWH],
  fraction: ['fraction', 1],
  percent: ['fraction', 0.01],
  ppm: ['ppm', 1],
  Hz: ['Hz', 1],
  rpm: ['Hz', 1 / 60],
  A: ['A', 1],
  V: ['V', 1],
  s: ['s', 1],
  min: ['s', 60],
  h: ['s', HOUR],
  d: ['s', DAY],
  'K/h': ['K/h', 1],
  'kJ/kg': ['kJ/kg', 1],
  'Btu/lb': ['kJ/kg', BTU / POUND / 1000],
  bool: ['bool', 1],
  enum: ['bool', 1],
  count: ['bool', 1],
}

/** By the number of the standard; those that are not here have no unit of ours. */
const STANDARD: [id: number, name: string, ...Defined][] = [
  [2, 'milliamperes', 'A', 1e-3],
  [3, 'amperes', 'A', 1],
  [5, 'volts', 'V', 1],
  [6, 'kilovolts', 'V', 1e3],
  [15, 'power-factor', 'fraction', 1],
  [16, 'joules', 'kWh', 1 / KWH],
  [17, 'kilojoules', 'kWh', 1e3 / KWH],
  [18, 'watt-hours', 'kWh', 1e-3],
  [19, 'kilowatt-hours', 'kWh', 1],
  [20, 'btus', 'kWh', BTU / KWH],
  [21, 'therms', 'kWh', (1e5 * BTU) / KWH],
  [22, 'ton-hours', 'kWh', TON],
  [23, 'joules-per-kilogram-dry-air', 'kJ/kg', 1e-3],
  [24, 'btus-per-pound-dry-air', 'kJ/kg', BTU / POUND / 1000],
  [25, 'cycles-per-hour', 'Hz', 1 / HOUR],
  [26, 'cycles-per-minute', 'Hz', 1 / 60],
  [27, 'hertz', 'Hz', 1],
  [29, 'percent-relative-humidity', 'fraction', 0.01],
  [47, 'watts', 'kW', 1e-3],
  [48, 'kilowatts', 'kW', 1],
  [49, 'megawatts', 'kW', 1e3],
  [50, 'btus-per-hour', 'kW', BTU / HOUR / 1000],
  [51, 'horsepower', 'kW', (550 * FOOT * POUND * GRAVITY) / 1000],
  [52, 'tons-refrigeration', 'kW', TON],
  [53, 'pascals', 'Pa', 1],
  [54, 'kilopascals', 'Pa', 1e3],
  [55, 'bars', 'Pa', 1e5],
  [56, 'pounds-force-per-square-inch', 'Pa', (POUND * GRAVITY) / INCH ** 2],
  [57, 'centimeters-of-water', 'Pa', 10 * MM_OF_WATER],
  [58, 'inches-of-water', 'Pa', INCH_OF_WATER_60F],
  [59, 'millimeters-of-mercury', 'Pa', MM_OF_MERCURY],
  [60, 'centimeters-of-mercury', 'Pa', 10 * MM_OF_MERCURY],
  [61, 'inches-of-mercury', 'Pa', INCH_OF_MERCURY],
  [62, 'degrees-celsius', 'degC', 1],
  [63, 'degrees-kelvin', 'degC', 1, -273.15],
  [64, 'degrees-fahrenheit', 'degC', 5 / 9, (-32 * 5) / 9],
  [69, 'weeks', 's', 7 * DAY],
  [70, 'days', 's', DAY],
  [71, 'hours', 's', HOUR],
  [72, 'minutes', 's', 60],
  [73, 'seconds', 's', 1],
  [84, 'cubic-feet-per-minute', 'm3/s', FOOT ** 3 / 60],
  [85, 'cubic-meters-per-second', 'm3/s', 1],
  [86, 'imperial-gallons-per-minute', 'm3/s', IMPERIAL_GALLON / 60],
  [87, 'liters-per-second', 'm3/s', 1e-3],
  [88, 'liters-per-minute', 'm3/s', 1e-3 / 60],
  [89, 'us-gallons-per-minute', 'm3/s', US_GALLON / 60],
  [91, 'degrees-celsius-per-hour', 'K/h', 1],
  [92, 'degrees-celsius-per-minute', 'K/h', 60],
  [93, 'degrees-fahrenheit-per-hour', 'K/h', 5 / 9],
  [94, 'degrees-fahrenheit-per-minute', 'K/h', (60 * 5) / 9],
  [95, 'no-units', 'bool', 1],
  [96, 'parts-per-million', 'ppm', 1],
  [97, 'parts-per-billion', 'ppm', 1e-3],
  [98, 'percent', 'fraction', 0.01],
  [104, 'revolutions-per-minute', 'Hz', 1 / 60],
  [117, 'btus-per-pound', 'kJ/kg', BTU / POUND / 1000],
  [120, 'delta-degrees-fahrenheit', 'degC', 5 / 9],
  [121, 'delta-degrees-kelvin', 'degC', 1],
  [124, 'millivolts', 'V', 1e-3],
  [125, 'kilojoules-per-kilogram', 'kJ/kg', 1],
  [126, 'megajoules', 'kWh', 1e6 / KWH],
  [129, 'kilohertz', 'Hz', 1e3],
  [130, 'megahertz', 'Hz', 1e6],
  [132, 'milliwatts', 'kW', 1e-6],
  [133, 'hectopascals', 'Pa', 100],
  [134, 'millibars', 'Pa', 100],
  [135, 'cubic-meters-per-hour', 'm3/s', 1 / HOUR],
  [136, 'liters-per-hour', 'm3/s', 1e-3 / HOUR],
  [142, 'cubic-feet-per-second', 'm3/s', FOOT ** 3],
  [146, 'megawatt-hours', 'kWh', 1e3],
  [147, 'kilo-btus', 'kWh', (1e3 * BTU) / KWH],
  [148, 'mega-btus', 'kWh', (1e6 * BTU) / KWH],
  [149, 'kilojoules-per-kilogram-dry-air', 'kJ/kg', 1],
  [150, 'megajoules-per-kilogram-dry-air', 'kJ/kg', 1e3],
  [157, 'kilo-btus-per-hour', 'kW', BTU / HOUR],
  [158, 'hundredths-seconds', 's', 0.01],
  [159, 'milliseconds', 's', 1e-3],
  [165, 'cubic-meters-per-minute', 'm3/s', 1 / 60],
  [181, 'degrees-kelvin-per-hour', 'K/h', 1],
  [182, 'degrees-kelvin-per-minute', 'K/h', 60],
  [191, 'cubic-feet-per-hour', 'm3/s', FOOT ** 3 / HOUR],
  [192, 'us-gallons-per-hour', 'm3/s', US_GALLON / HOUR],
  [198, 'milliliters-per-second', 'm3/s', 1e-6],
  [206, 'millimeters-of-water', 'Pa', MM_OF_WATER],
  [207, 'per-mille', 'fraction', 1e-3],
  [249, 'cubic-meters-per-day', 'm3/s', 1 / DAY],
]

/** Seven digits, as the sources print them. */
const isNear = (found: number, defined: number): boolean => Math.abs(found - defined) <= 1e-6 * Math.abs(defined)

for (const [code, [canonical, factor, zero = 0]] of Object.entries(OURS)) {
  test(`one ${code} is ${factor} ${canonical}`, t => {
    const unit = UNITS[code]!
    t.is(unit.dimension, UNITS[canonical]!.dimension)
    t.true(isNear(unit.scale, factor), `${unit.scale} instead of ${factor}`)
    t.true(isNear(unit.offset, zero), `${unit.offset} instead of ${zero}`)
  })
}

for (const [id, name, canonical, factor, zero = 0] of STANDARD) {
  test(`unit ${id} of BACnet is ${name}, ${factor} ${canonical}`, t => {
    const found = engineeringUnit(id)
    t.is(found.name, name)
    if (found.unit === undefined) return t.fail('no unit of ours')
    const { dimension, scale, offset } = UNITS[found.unit]!
    const { scale: times = 1, offset: plus = 0 } = found
    t.is(dimension, UNITS[canonical]!.dimension)
    t.true(isNear(times * scale, factor), `${times * scale} instead of ${factor}`)
    t.true(isNear(plus * scale + offset, zero), `${plus * scale + offset} instead of ${zero}`)
  })
}

test('no factor is without its definition', t => {
  t.deepEqual(Object.keys(UNITS).toSorted(), Object.keys(OURS).toSorted())
  const known = Array.from({ length: 1000 }, (_, id) => id).filter(id => engineeringUnit(id).unit !== undefined)
  t.deepEqual(
    known,
    STANDARD.map(([id]) => id),
  )
})
