/** Engineering units as BACnet numbers them, and what they are here. */
import { nameTable } from '#shared/core/name-table.ts'
import { unitCode } from '#shared/core/model/unit.ts'

/** Names in the order of the enumeration, 0 to 254 (135-2020 21, BACnetEngineeringUnits). */
const NAMES = `
  square-meters square-feet milliamperes amperes ohms volts kilovolts megavolts volt-amperes kilovolt-amperes
  megavolt-amperes volt-amperes-reactive kilovolt-amperes-reactive megavolt-amperes-reactive degrees-phase power-factor
  joules kilojoules watt-hours kilowatt-hours btus therms ton-hours joules-per-kilogram-dry-air btus-per-pound-dry-air
  cycles-per-hour cycles-per-minute hertz grams-of-water-per-kilogram-dry-air percent-relative-humidity millimeters meters
  inches feet watts-per-square-foot watts-per-square-meter lumens luxes foot-candles kilograms pounds-mass tons
  kilograms-per-second kilograms-per-minute kilograms-per-hour pounds-mass-per-minute pounds-mass-per-hour watts kilowatts
  megawatts btus-per-hour horsepower tons-refrigeration pascals kilopascals bars pounds-force-per-square-inch
  centimeters-of-water inches-of-water millimeters-of-mercury centimeters-of-mercury inches-of-mercury degrees-celsius
  degrees-kelvin degrees-fahrenheit degree-days-celsius degree-days-fahrenheit years months weeks days hours minutes
  seconds meters-per-second kilometers-per-hour feet-per-second feet-per-minute miles-per-hour cubic-feet cubic-meters
  imperial-gallons liters us-gallons cubic-feet-per-minute cubic-meters-per-second imperial-gallons-per-minute
  liters-per-second liters-per-minute us-gallons-per-minute degrees-angular degrees-celsius-per-hour
  degrees-celsius-per-minute degrees-fahrenheit-per-hour degrees-fahrenheit-per-minute no-units parts-per-million
  parts-per-billion percent percent-per-second per-minute per-second psi-per-degree-fahrenheit radians
  revolutions-per-minute currency1 currency2 currency3 currency4 currency5 currency6 currency7 currency8 currency9
  currency10 square-inches square-centimeters btus-per-pound centimeters pounds-mass-per-second delta-degrees-fahrenheit
  delta-degrees-kelvin kilohms megohms millivolts kilojoules-per-kilogram megajoules joules-per-degree-kelvin
  joules-per-kilogram-degree-kelvin kilohertz megahertz per-hour milliwatts hectopascals millibars cubic-meters-per-hour
  liters-per-hour kilowatt-hours-per-square-meter kilowatt-hours-per-square-foot megajoules-per-square-meter
  megajoules-per-square-foot watts-per-square-meter-degree-kelvin cubic-feet-per-second percent-obscuration-per-foot
  percent-obscuration-per-meter milliohms megawatt-hours kilo-btus mega-btus kilojoules-per-kilogram-dry-air
  megajoules-per-kilogram-dry-air kilojoules-per-degree-kelvin megajoules-per-degree-kelvin newton grams-per-second
  grams-per-minute tons-per-hour kilo-btus-per-hour hundredths-seconds milliseconds newton-meters millimeters-per-second
  millimeters-per-minute meters-per-minute meters-per-hour cubic-meters-per-minute meters-per-second-per-second
  amperes-per-meter amperes-per-square-meter ampere-square-meters farads henrys ohm-meters siemens siemens-per-meter
  teslas volts-per-degree-kelvin volts-per-meter webers candelas candelas-per-square-meter degrees-kelvin-per-hour
  degrees-kelvin-per-minute joule-seconds radians-per-second square-meters-per-newton kilograms-per-cubic-meter
  newton-seconds newtons-per-meter watts-per-meter-per-degree-kelvin microsiemens cubic-feet-per-hour us-gallons-per-hour
  kilometers micrometers grams milligrams milliliters milliliters-per-second decibels decibels-millivolt decibels-volt
  millisiemens watt-hours-reactive kilowatt-hours-reactive megawatt-hours-reactive millimeters-of-water per-mille
  grams-per-gram kilograms-per-kilogram grams-per-kilogram milligrams-per-gram milligrams-per-kilogram
  grams-per-milliliter grams-per-liter milligrams-per-liter micrograms-per-liter grams-per-cubic-meter
  milligrams-per-cubic-meter micrograms-per-cubic-meter nanograms-per-cubic-meter grams-per-cubic-centimeter becquerels
  kilobecquerels megabecquerels gray milligray microgray sieverts millisieverts microsieverts microsieverts-per-hour
  decibels-a nephelometric-turbidity-unit ph grams-per-square-meter minutes-per-degree-kelvin ohm-meter-squared-per-meter
  ampere-seconds volt-ampere-hours kilovolt-ampere-hours megavolt-ampere-hours volt-ampere-hours-reactive
  kilovolt-ampere-hours-reactive megavolt-ampere-hours-reactive volt-square-hours ampere-square-hours joule-per-hours
  cubic-feet-per-day cubic-meters-per-day watt-hours-per-cubic-meter joules-per-cubic-meter mole-percent pascal-seconds
  million-standard-cubic-feet-per-minute
`
  .trim()
  .split(/\s+/)

/** Units of the standard that are multiples of supported ones: value × scale + offset in the supported unit. */
const MULTIPLES = nameTable<Omit<KnownUnit, 'name'>>({
  milliamperes: { unit: 'A', scale: 0.001 },
  kilovolts: { unit: 'V', scale: 1000 },
  millivolts: { unit: 'V', scale: 0.001 },
  'power-factor': { unit: 'fraction' },
  joules: { unit: 'MJ', scale: 1e-6 },
  kilojoules: { unit: 'MJ', scale: 0.001 },
  'megawatt-hours': { unit: 'kWh', scale: 1000 },
  btus: { unit: 'Wh', scale: 0.293_071_1 },
  'kilo-btus': { unit: 'kWh', scale: 0.293_071_1 },
  'mega-btus': { unit: 'kWh', scale: 293.0711 },
  'ton-hours': { unit: 'kWh', scale: 3.516_853 },
  milliwatts: { unit: 'W', scale: 0.001 },
  'kilo-btus-per-hour': { unit: 'Btu/h', scale: 1000 },
  'joules-per-kilogram-dry-air': { unit: 'kJ/kg', scale: 0.001 },
  'kilojoules-per-kilogram': { unit: 'kJ/kg' },
  'megajoules-per-kilogram-dry-air': { unit: 'kJ/kg', scale: 1000 },
  'btus-per-pound': { unit: 'Btu/lb' },
  'cycles-per-hour': { unit: 'Hz', scale: 1 / 3600 },
  'cycles-per-minute': { unit: 'Hz', scale: 1 / 60 },
  kilohertz: { unit: 'Hz', scale: 1000 },
  megahertz: { unit: 'Hz', scale: 1e6 },
  hectopascals: { unit: 'Pa', scale: 100 },
  millibars: { unit: 'Pa', scale: 100 },
  'millimeters-of-water': { unit: 'Pa', scale: 9.806_65 },
  'centimeters-of-water': { unit: 'Pa', scale: 98.0665 },
  'millimeters-of-mercury': { unit: 'Pa', scale: 133.3224 },
  'centimeters-of-mercury': { unit: 'kPa', scale: 1.333_224 },
  'inches-of-mercury': { unit: 'kPa', scale: 3.386_389 },
  // Our K is a difference; an absolute temperature is one in °C.
  'degrees-kelvin': { unit: 'degC', offset: -273.15 },
  'delta-degrees-fahrenheit': { unit: 'K', scale: 5 / 9 },
  'degrees-celsius-per-hour': { unit: 'K/h' },
  'degrees-celsius-per-minute': { unit: 'K/h', scale: 60 },
  'degrees-fahrenheit-per-hour': { unit: 'K/h', scale: 5 / 9 },
  'degrees-fahrenheit-per-minute': { unit: 'K/h', scale: 100 / 3 },
  'degrees-kelvin-per-hour': { unit: 'K/h' },
  'degrees-kelvin-per-minute': { unit: 'K/h', scale: 60 },
  weeks: { unit: 'd', scale: 7 },
  'hundredths-seconds': { unit: 's', scale: 0.01 },
  milliseconds: { unit: 's', scale: 0.001 },
  'cubic-feet-per-second': { unit: 'cfm', scale: 60 },
  'cubic-feet-per-hour': { unit: 'cfm', scale: 1 / 60 },
  'cubic-meters-per-minute': { unit: 'm3/h', scale: 60 },
  'cubic-meters-per-day': { unit: 'm3/h', scale: 1 / 24 },
  'milliliters-per-second': { unit: 'L/s', scale: 0.001 },
  'liters-per-minute': { unit: 'L/s', scale: 1 / 60 },
  'liters-per-hour': { unit: 'L/s', scale: 1 / 3600 },
  'us-gallons-per-hour': { unit: 'gpm', scale: 1 / 60 },
  'imperial-gallons-per-minute': { unit: 'L/s', scale: 0.075_768_2 },
  'parts-per-billion': { unit: 'ppm', scale: 0.001 },
  'per-mille': { unit: 'percent', scale: 0.1 },
})

/** `unit` is a supported unit code; absent scale is 1 and absent offset 0. */
export type KnownUnit = { name: string; unit: string; scale?: number; offset?: number }
type UnknownUnit = { name: string; unit?: undefined }

/**
 * @param id number of the unit in the standard
 * @returns its name and, when it is a supported unit or a multiple of one, the unit code
 * @source NIST SP 811 (2008) appendix B for the factors; conventional water (1000 kg/m³) and mercury
 */
export function engineeringUnit(id: number): KnownUnit | UnknownUnit {
  const name = NAMES[id]
  if (name === undefined) return { name: `units ${id}` }
  const multiple = MULTIPLES[name]
  if (multiple) return { name, ...multiple }
  const unit = unitCode(name)
  return unit === undefined ? { name } : { name, unit }
}

/** @returns the note for a point whose unit is not supported */
export const unsupportedUnit = (name: string): string => `the unit "${name}" is not supported; the point is kept without one`
