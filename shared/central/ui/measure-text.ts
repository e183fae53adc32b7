/** Figures inside sentences and conditions, as people of the building read them. */
import type { PointKind } from '#shared/core/model/model.ts'
import type { Evidence } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { formatFigure, formatParam, formatRoleValue, isWaterRole, measureOf, unitLabel, type UnitSystem } from './measure.ts'

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
 * @param roles what the sentence speaks of; tells water from air
 */
export function inUnitsOf(text: string, system: UnitSystem, roles: string[]): string {
  const role = roles.find(isWaterRole)
  return text.replace(FIGURE, (found, figure: string, label: string) => {
    const measure = measureOf(BY_LABEL.get(label)!, system, role)
    return measure.label === label ? found : `${formatFigure(Number(figure.replace('−', '-')), measure)} ${measure.label}`
  })
}

const NAME = /\b[A-Za-z_]\w*\b/g

/** A condition with the value behind each role and threshold: `sa_t 62.3 °F > sa_t_sp 55.0 °F + tolerance 2 °F`. */
export function withValues(text: string, { inputs, params }: Pick<Evidence, 'inputs' | 'params'>, system: UnitSystem): Html {
  const parts: Html[] = []
  let last = 0
  for (const match of text.matchAll(NAME)) {
    const [name] = match
    const end = match.index + name.length
    const param = Object.hasOwn(params, name) ? params[name] : undefined
    const value = param ? formatParam(param.value, param.unit, system) : undefined
    const shown = value ?? (Object.hasOwn(inputs, name) ? formatRoleValue(name, inputs[name], system) : undefined)
    if (shown === undefined) continue
    parts.push(html`${text.slice(last, end)} <span class="value">${shown}</span>`)
    last = end
  }
  return html`${parts}${text.slice(last)}`
}

type RawPoint = { kind: PointKind; unit: string; scale?: number; offset?: number; states?: string[] }

/** A value as the device holds it. @param point undefined when nobody knows what the value measures: it stays as it is */
export function deviceValueText(value: number | boolean | string, point: RawPoint | undefined): string {
  if (typeof value === 'string') return value
  const text = point?.states?.[Number(value)]
  if (text) return `${text} (${Number(value)})`
  if (typeof value === 'boolean' || point?.kind === 'bool') return Number(value) === 0 ? 'off' : 'on'
  const { kind = 'number', unit = 'count', scale = 1, offset = 0 } = point ?? {}
  const figure = String(Number((kind === 'number' ? value * scale + offset : value).toPrecision(7)))
  return kind === 'number' && unit !== 'count' ? `${figure} ${unitLabel(unit)}` : figure
}
