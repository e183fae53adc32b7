import { nameTable } from '#shared/core/name-table.ts'
import { conversion } from '#shared/core/model/unit.ts'

/**
 * Units of Haystack servers by code. Case matters: `mW` is not `MW`, and `C` and `F` are coulomb and farad.
 *
 * @source project-haystack.org/doc/docHaystack/Units: each unit has a name and symbols
 */
const NAMES = nameTable<readonly string[]>({
  degC: ['celsius', '°C'],
  degF: ['fahrenheit', '°F'],
  K: ['kelvin', 'K', 'celsius_degrees', 'Δ°C', 'kelvin_degrees', 'ΔK'],
  Pa: ['pascal', 'Pa'],
  kPa: ['kilopascal', 'kPa'],
  bar: ['bar'],
  psi: ['pounds_per_square_inch', 'psi'],
  inwc: ['inches_of_water', 'in/wc', 'inH₂O'],
  'm3/s': ['cubic_meters_per_second', 'm³/s'],
  'm3/h': ['cubic_meters_per_hour', 'm³/h'],
  'L/s': ['liters_per_second', 'litre_per_second', 'L/s'],
  cfm: ['cubic_feet_per_minute', 'cfm', 'ft³/min'],
  gpm: ['gallons_per_minute', 'gal/min', 'gpm'],
  kW: ['kilowatt', 'kW'],
  W: ['watt', 'W'],
  MW: ['megawatt', 'MW'],
  ton: ['tons_refrigeration', 'tonref'],
  'Btu/h': ['btus_per_hour', 'BTU/h'],
  hp: ['horsepower', 'hp'],
  kWh: ['kilowatt_hour', 'kWh'],
  Wh: ['watt_hour', 'Wh'],
  MJ: ['megajoule', 'MJ'],
  therm: ['therm', 'therms'],
  percent: ['percent', '%', 'percent_relative_humidity', '%RH'],
  ppm: ['parts_per_million', 'ppm'],
  Hz: ['hertz', 'Hz'],
  rpm: ['revolutions_per_minute', 'rpm'],
  A: ['ampere', 'amp', 'A'],
  V: ['volt', 'V'],
  s: ['second', 'sec', 's'],
  min: ['minute', 'min'],
  h: ['hour', 'hr', 'h'],
  d: ['day'],
  'kJ/kg': ['kilojoules_per_kilogram', 'kJ/kg'],
  'Btu/lb': ['btu_per_pound', 'BTU/lb'],
})

const CODES = new Map(Object.entries(NAMES).flatMap(([code, names]) => names.map(name => [name, code] as const)))

/** @returns the code of a unit as servers write it: its name or a symbol; undefined for an unknown one */
export const haystackUnit = (text: string): string | undefined => CODES.get(text)

/**
 * Converts a number of a server into the unit of an entry.
 *
 * @param given the server's text @param unit code of the entry
 * @returns value × scale + offset, or undefined when the unit is unknown or of another quantity
 */
export function haystackConversion(given: string, unit: string): { scale: number; offset: number } | undefined {
  const code = CODES.get(given)
  // K is the unit of temperature differences here, which cannot be converted to temperatures.
  if (code === undefined || (code === 'K') !== (unit === 'K')) return undefined
  return conversion(code, unit)
}
