/** Values as people of the building read them: its unit system, sensible decimals, the unit beside the figure. */
import { nameTable } from '#shared/core/name-table.ts'
import type { UnitSystem } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { conversion, UNITS } from '#shared/core/model/unit.ts'
import { say, sayFigure, sayNumber, words } from '#shared/node/http/language.ts'

export type { UnitSystem }

/** A unit system as a choice of a form. */
export const UNIT_SYSTEM_WORDS: Record<UnitSystem, string> = { si: '°C, kPa, L/s', us: '°F, in. w.c., cfm' }

/** How to show a value: shown = value × scale + offset, rounded to `decimals`, then `label`. */
export type DisplayUnit = { label: string; scale: number; offset: number; decimals: number }

type Shown = { unit: string; label: string; decimals: number }
const PERCENT: Shown = { unit: 'percent', label: '%', decimals: 0 }
const KILOWATT: Shown = { unit: 'kW', label: 'kW', decimals: 1 }
const KILOWATT_HOUR: Shown = { unit: 'kWh', label: 'kWh', decimals: 0 }

/** By dimension; a dimension that is not here is shown in its own unit. */
const AIR: Record<UnitSystem, Record<string, Shown>> = {
  si: {
    temperature: { unit: 'degC', label: '°C', decimals: 1 },
    pressure: { unit: 'Pa', label: 'Pa', decimals: 0 },
    flow: { unit: 'L/s', label: 'L/s', decimals: 0 },
    fraction: PERCENT,
    power: KILOWATT,
    energy: KILOWATT_HOUR,
  },
  us: {
    temperature: { unit: 'degF', label: '°F', decimals: 1 },
    pressure: { unit: 'inwc', label: 'in.w.c.', decimals: 2 },
    flow: { unit: 'cfm', label: 'cfm', decimals: 0 },
    fraction: PERCENT,
    power: KILOWATT,
    energy: KILOWATT_HOUR,
    enthalpy: { unit: 'Btu/lb', label: 'Btu/lb', decimals: 1 },
  },
}
const WATER: Record<UnitSystem, Record<string, Shown>> = {
  si: { pressure: { unit: 'kPa', label: 'kPa', decimals: 1 }, flow: { unit: 'L/s', label: 'L/s', decimals: 1 } },
  us: { pressure: { unit: 'psi', label: 'psi', decimals: 1 }, flow: { unit: 'gpm', label: 'gpm', decimals: 0 } },
}
const WATER_ROLE = /^(chw|cw|hw)_/
export const isWaterRole = (role: string): boolean => WATER_ROLE.test(role)

/** Kelvin and kelvin per hour are differences: they take a scale and no offset. */
const DIFFERENCES = nameTable<string>({ K: '', 'K/h': '/h' })

/**
 * The way to show values of one unit in a building.
 *
 * @param unit a code of `UNITS`; an unknown one is shown as it stands
 * @param role distinguishes water from air where the unit depends on it
 */
export function measureOf(unit: string, system: UnitSystem, role = ''): DisplayUnit {
  const per = DIFFERENCES[unit]
  if (per !== undefined) {
    return system === 'us'
      ? { label: `°F${per}`, scale: 1.8, offset: 0, decimals: 1 }
      : { label: `K${per}`, scale: 1, offset: 0, decimals: 1 }
  }
  const dimension = UNITS[unit]?.dimension ?? 'none'
  const shown = (isWaterRole(role) ? WATER[system][dimension] : undefined) ?? AIR[system][dimension]
  const way = shown && conversion(unit, shown.unit)
  if (!shown || !way) return { label: dimension === 'none' ? '' : unit, scale: 1, offset: 0, decimals: 1 }
  return { label: shown.label, ...way, decimals: shown.decimals }
}

/** Units that people of SI do not use. */
const US_UNITS = new Set(['degF', 'inwc', 'ftwc', 'psi', 'cfm', 'gpm', 'Btu/lb'])

/**
 * The way to show and to type a value whose unit people of a system do not use: °F for K in US units.
 *
 * @returns undefined where they use the unit as it is
 */
export function foreignMeasure(unit: string, system: UnitSystem): DisplayUnit | undefined {
  const shown = measureOf(unit, system)
  const isForeign = US_UNITS.has(unit) !== (system === 'us')
  return isForeign && shown.label !== measureOf(unit, system === 'us' ? 'si' : 'us').label ? shown : undefined
}

/** More digits than anybody types. */
const TYPED_DIGITS = 8
/** Of a number in JavaScript. */
const DIGITS_MAX = 15

/** @returns a value as a form shows it */
export const toTyped = (value: number, { scale, offset }: DisplayUnit): number =>
  Number((value * scale + offset).toPrecision(TYPED_DIGITS))

/** @returns the shortest value that a form shows as what was typed, so that a bound that is shown can be typed */
export function fromTyped(typed: number, measure: DisplayUnit): number {
  const value = (typed - measure.offset) / measure.scale
  for (let digits = 1; digits < DIGITS_MAX; digits++) {
    const short = Number(value.toPrecision(digits))
    if (toTyped(short, measure) === typed) return short
  }
  return value
}

/** The way to show a role's value, which arrives in the role's canonical unit. */
export const measureOfRole = (role: string, system: UnitSystem): DisplayUnit =>
  measureOf(ROLES[role]?.unit ?? 'count', system, role)

/** @returns the figure alone: `62.3`, `1,450`; no value is an en dash */
export function formatFigure(value: number | null | undefined, { scale, offset, decimals }: DisplayUnit): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  return sayNumber(value * scale + offset, decimals)
}

/** @returns figure and unit: `62.3 °F`, `40 %`, `on` */
export function formatValue(
  value: number | null | undefined,
  measure: DisplayUnit,
  kind: 'number' | 'bool' | 'enum' = 'number',
): string {
  if (value === null || value === undefined || Number.isNaN(value)) return say`no value`
  if (kind === 'bool') return value >= 0.5 ? say`on` : say`off`
  if (kind === 'enum') return String(value)
  return measure.label ? `${formatFigure(value, measure)} ${measure.label}` : formatFigure(value, measure)
}

/** @returns a role's value in words, in the building's unit */
export const formatRoleValue = (role: string, value: number | null | undefined, system: UnitSystem): string =>
  formatValue(value, measureOfRole(role, system), ROLES[role]?.kind ?? 'number')

/**
 * The unit in which a threshold is shown. A rule over every role has thresholds in the unit of the role and compares with them how far
 * values are apart: in °C it is a difference, which takes no offset.
 *
 * @param role of the finding or of the setting, for a rule over every role
 */
export const thresholdUnit = (unit: string, role: string | undefined): string =>
  role !== undefined && unit === 'degC' ? 'K' : unit

/** @returns a parameter in words: `2.0 °F` for 1.1 K in a building of US units */
export function formatParam(value: number, unit: string, system: UnitSystem): string {
  if (UNITS[unit]?.dimension === 'time') return `${trimmed(value)} ${unit}`
  const measure = measureOf(unit, system)
  return [trimmed(value * measure.scale + measure.offset), measure.label].filter(Boolean).join(' ')
}

/** A role's label as words of a sentence. */
export const roleLabelText = (label: string): string =>
  label
    .replaceAll('_', ' ')
    .replace(/ sensor$/i, '')
    .toLowerCase()

/** @returns for example `supply air temperature`: the role in words */
export function roleWords(role: string): string {
  const label = ROLES[role]?.label
  return label === undefined ? role : say(roleLabelText(label))
}

const LABELS = words(
  nameTable<string>({
    degC: '°C',
    degF: '°F',
    percent: '%',
    fraction: '0 to 1',
    inwc: 'in.w.c.',
    'm3/s': 'm³/s',
    'm3/h': 'm³/h',
    bool: 'on/off',
    enum: 'state',
    count: 'none',
  }),
)

/** @returns a unit's code as people write it: `°F`, `%`, `cfm` */
export const unitLabel = (unit: string): string => LABELS[unit] ?? unit

/** Three significant digits, or all before the point, without idle zeros. */
const trimmed = (value: number) => (Math.abs(value) >= 100 ? sayNumber(value, 0) : sayFigure(Number(value.toPrecision(3))))
