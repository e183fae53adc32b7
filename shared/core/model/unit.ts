import { nameTable } from '#shared/core/name-table.ts'

/** Units, each with its dimension and its way to the canonical unit: canonical = value × scale + offset. */
export const DIMENSIONS = [
  'temperature',
  'pressure',
  'flow',
  'power',
  'energy',
  'fraction',
  'concentration',
  'frequency',
  'current',
  'voltage',
  'time',
  'rate_of_change',
  'enthalpy',
  'none',
] as const
type Dimension = (typeof DIMENSIONS)[number]

type Unit = { dimension: Dimension; scale: number; offset: number; aliases: readonly string[] }

const unit = (dimension: Dimension, scale: number, offset: number, ...aliases: string[]): Unit => ({
  dimension,
  scale,
  offset,
  aliases,
})

/**
 * By code. The first unit of a dimension is its canonical one (scale 1, offset 0).
 *
 * @source NIST SP 811 (2008) appendix B for the factors; 1 in.w.c., and so 1 ft.w.c., is taken at 60 °F, a therm as therm (EC)
 */
export const UNITS = nameTable<Unit>({
  degC: unit('temperature', 1, 0, '°C', 'celsius', 'C', 'degrees-celsius', 'deg C', 'deg_C'),
  degF: unit('temperature', 5 / 9, -160 / 9, '°F', 'fahrenheit', 'F', 'degrees-fahrenheit', 'deg F', 'deg_F'),
  K: unit('temperature', 1, 0, 'kelvin', 'delta-degrees-kelvin', 'delta_degC'),

  Pa: unit('pressure', 1, 0, 'pascal', 'pascals'),
  kPa: unit('pressure', 1000, 0, 'kilopascal', 'kilopascals'),
  bar: unit('pressure', 100_000, 0, 'bars'),
  psi: unit('pressure', 6894.757, 0, 'pounds-force-per-square-inch', 'lbf/in2'),
  inwc: unit('pressure', 248.84, 0, 'inH2O', 'in.w.c.', 'in_wc', 'inches-of-water', 'inwg', 'in/wc', 'in wc'),
  ftwc: unit('pressure', 2986.08, 0, 'ftH2O', 'feet-of-water'),

  'm3/s': unit('flow', 1, 0, 'm³/s', 'cubic-meters-per-second'),
  'm3/h': unit('flow', 1 / 3600, 0, 'm³/h', 'cubic-meters-per-hour'),
  'L/s': unit('flow', 0.001, 0, 'l/s', 'liters-per-second'),
  cfm: unit('flow', 0.000_471_947_4, 0, 'cubic-feet-per-minute', 'ft3/min', 'CFM'),
  gpm: unit('flow', 0.000_063_090_2, 0, 'us-gallons-per-minute', 'GPM'),

  kW: unit('power', 1, 0, 'kilowatt', 'kilowatts'),
  W: unit('power', 0.001, 0, 'watt', 'watts'),
  MW: unit('power', 1000, 0, 'megawatts'),
  ton: unit('power', 3.516_853, 0, 'tons-refrigeration', 'TR'),
  'Btu/h': unit('power', 0.000_293_071_1, 0, 'btus-per-hour', 'BTU/h', 'Btuh'),
  hp: unit('power', 0.745_699_9, 0, 'horsepower'),

  kWh: unit('energy', 1, 0, 'kilowatt-hours'),
  Wh: unit('energy', 0.001, 0, 'watt-hours'),
  MJ: unit('energy', 1 / 3.6, 0, 'megajoules'),
  therm: unit('energy', 29.3071, 0, 'therms'),

  fraction: unit('fraction', 1, 0, 'frac', 'ratio', '0..1', '0-1', '1'),
  percent: unit('fraction', 0.01, 0, '%', 'pct', '0-100', '%RH', 'percent-relative-humidity'),

  ppm: unit('concentration', 1, 0, 'parts-per-million'),
  Hz: unit('frequency', 1, 0, 'hertz'),
  rpm: unit('frequency', 1 / 60, 0, 'revolutions-per-minute'),
  A: unit('current', 1, 0, 'amperes', 'amps'),
  V: unit('voltage', 1, 0, 'volts'),

  s: unit('time', 1, 0, 'seconds', 'sec'),
  min: unit('time', 60, 0, 'minutes'),
  h: unit('time', 3600, 0, 'hours', 'hr'),
  d: unit('time', 86_400, 0, 'days'),
  'K/h': unit('rate_of_change', 1, 0),
  'kJ/kg': unit('enthalpy', 1, 0, 'kilojoules-per-kilogram-dry-air'),
  'Btu/lb': unit('enthalpy', 2.326, 0, 'btus-per-pound-dry-air'),

  bool: unit('none', 1, 0, 'boolean', 'on/off', '0/1', 'binary'),
  enum: unit('none', 1, 0, 'state', 'multistate'),
  count: unit('none', 1, 0, 'no-units', 'none', ''),
})

const CODES = new Map(
  Object.entries(UNITS).flatMap(([code, { aliases }]) => [code, ...aliases].map(name => [name.toLowerCase(), code] as const)),
)

/** @returns the code of a unit written in any known way (`°F`, `degrees-fahrenheit`, `degF`), or undefined */
export const unitCode = (text: string): string | undefined => CODES.get(text.trim().toLowerCase())

/** @returns the canonical unit of a dimension: °C, Pa, m³/s, kW, kWh, fraction … */
export function canonicalUnit(dimension: Dimension): string {
  for (const [code, { dimension: d }] of Object.entries(UNITS)) if (d === dimension) return code
  throw new RangeError(`no unit of ${dimension}`)
}

/**
 * How to turn values in one unit into another of the same dimension.
 *
 * @param from, to codes of `UNITS`
 * @returns value × scale + offset, or undefined when the dimensions differ or a code is unknown
 */
export function conversion(from: string, to: string): { scale: number; offset: number } | undefined {
  const a = UNITS[from]
  const b = UNITS[to]
  if (!a || !b || a.dimension !== b.dimension) return undefined
  return { scale: a.scale / b.scale, offset: (a.offset - b.offset) / b.scale }
}
