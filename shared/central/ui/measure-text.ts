/** Figures inside sentences and conditions, as people of the building read them. */
import type { PointKind } from '#shared/core/model/model.ts'
import type { Evidence } from '#shared/core/findings/finding.ts'
import { roleOfColumn } from '#shared/core/priority/array-snapshot.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import {
  formatFigure,
  formatParam,
  formatRoleValue,
  isWaterRole,
  measureOf,
  thresholdUnit,
  unitLabel,
  type UnitSystem,
} from './measure.ts'
import { say, sayFigure, inLanguage, sayMade } from '#shared/node/http/language.ts'

/** Units that stand in the engine's sentences and that a building may not use. */
const CODES = ['degC', 'degF', 'K', 'K/h', 'Pa', 'kPa', 'inwc', 'psi', 'm3/s', 'm3/h', 'L/s', 'cfm', 'gpm']
const BY_LABEL = new Map(CODES.map(code => [unitLabel(code), code]))
const FIGURE = new RegExp(
  `([-−]?\\d+(?:\\.\\d+)?) (${[...BY_LABEL.keys()].map(label => label.replaceAll('.', '\\.')).join('|')})(?![\\w/°³])`,
  'g',
)

/**
 * Turns the figures of a sentence into the building's units: `2.3 K` reads `4.1 °F` in a building of US units.
 *
 * @param roles roles of the sentence; they distinguish water from air
 */
export function inUnitsOf(text: string, system: UnitSystem, roles: string[]): string {
  const role = roles.find(isWaterRole)
  return text.replace(FIGURE, (found, figure: string, label: string) => {
    const measure = measureOf(BY_LABEL.get(label)!, system, role)
    return measure.label === label ? found : `${formatFigure(Number(figure.replace('−', '-')), measure)} ${measure.label}`
  })
}

/** The same in the language of the answer. */
export const sentenceText = (text: string, system: UnitSystem, roles: string[]): string =>
  sayMade(inLanguage(undefined, () => inUnitsOf(text, system, roles)))

/** The thresholds of a finding in the units in which they are shown. */
export const shownParams = ({
  role,
  evidence: { params },
}: {
  role?: string
  evidence: Pick<Evidence, 'params'>
}): Evidence['params'] =>
  Object.fromEntries(Object.entries(params).map(([name, one]) => [name, { ...one, unit: thresholdUnit(one.unit, role) }]))

const NAME = /\b[A-Za-z_]\w*\b/g
/** Functions of a point itself: its value has no part in them. */
const OF_POINT = /\b(?:has|nominal|lowest|highest|rests|age)\($/

/** A piece of a condition with the value of the name at its end; undefined at the end of the condition. */
type ValuedText = { text: string; value: string | undefined }

function valuedTexts(text: string, { inputs, params }: Pick<Evidence, 'inputs' | 'params'>, system: UnitSystem): ValuedText[] {
  const parts: ValuedText[] = []
  let last = 0
  for (const match of text.matchAll(NAME)) {
    const [name] = match
    const end = match.index + name.length
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    const shown = param ? formatParam(param.value, param.unit, system) : undefined
    const value = shown ?? (Object.hasOwn(inputs, name) ? formatRoleValue(name, inputs[name], system) : undefined)
    if (value === undefined || OF_POINT.test(text.slice(last, match.index))) continue
    parts.push({ text: text.slice(last, end), value })
    last = end
  }
  return [...parts, { text: text.slice(last), value: undefined }]
}

/** A condition with the value behind each role and threshold: `sa_t 62.3 °F > sa_t_sp 55.0 °F + tolerance 2 °F`. */
export const withValues = (text: string, evidence: Pick<Evidence, 'inputs' | 'params'>, system: UnitSystem): Html =>
  html`${valuedTexts(text, evidence, system).map(one => html`${one.text}${one.value !== undefined && html` <span class="value">${one.value}</span>`}`)}`

/** The same as plain text, each value in brackets. */
export const withValuesText = (text: string, evidence: Pick<Evidence, 'inputs' | 'params'>, system: UnitSystem): string =>
  valuedTexts(text, evidence, system)
    .map(one => (one.value === undefined ? one.text : `${one.text} [${one.value}]`))
    .join('')

/** Functions of a priority array that answer yes or no, and those that give a value of their role. */
const YES_NO = /^(commanded|overridden)\(/
const OF_ROLE = /^(slot|command|asked|relinquish_default)\(/

/** The value of an input of a rule: of a role, or of a column that a rule makes of its priority array. */
export function inputWords(name: string, value: number | null, system: UnitSystem): string {
  if (YES_NO.test(name)) return value === null ? '–' : value ? say`yes` : say`no`
  return formatRoleValue(OF_ROLE.test(name) ? roleOfColumn(name)! : name, value, system)
}

type RawPoint = { kind: PointKind; unit: string; scale?: number; offset?: number; states?: string[] }

/** More than a sensor has; the rest comes from a conversion of units. */
const VALUE_DIGITS = 5

/** A value as the device holds it. @param point undefined when nobody knows what the value measures: it stays as it is */
export function deviceValueText(value: number | boolean | string, point: RawPoint | undefined): string {
  if (typeof value === 'string') return value
  const text = point?.states?.[Number(value)]
  if (text) return `${text} (${Number(value)})`
  if (typeof value === 'boolean' || point?.kind === 'bool') return Number(value) === 0 ? say`off` : say`on`
  const { kind = 'number', unit = 'count', scale = 1, offset = 0 } = point ?? {}
  const figure = sayFigure(Number((kind === 'number' ? value * scale + offset : value).toPrecision(VALUE_DIGITS)))
  return kind === 'number' && unit !== 'count' ? `${figure} ${unitLabel(unit)}` : figure
}
