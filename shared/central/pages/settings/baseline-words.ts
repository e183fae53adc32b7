/** A baseline as people read it: figures in the building's units, its days, and the value that is used before it has enough days. */
import type { BaselineView } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { RESET } from '#shared/core/rules/evaluate/baseline.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { formatValue, measureOf, type UnitSystem } from '#shared/central/ui/measure.ts'
import { say, sayCountOf, sayFigure } from '#shared/node/http/language.ts'

/** @param value canonical; one that is a difference, such as a spread, takes no offset whatever the baseline measures */
function baselineFigure(
  value: number | null | undefined,
  { unit = '', absolute = false }: Pick<BaselineView, 'unit' | 'absolute'>,
  system: UnitSystem,
  isDifference = false,
): string {
  const known = UNITS[unit]
  if (value === null || value === undefined) return say`no value`
  if (!known) return sayFigure(Number(value.toPrecision(3)))
  if (known.dimension === 'temperature') return formatValue(value, measureOf(absolute && !isDifference ? 'degC' : 'K', system))
  return formatValue(value / known.scale, measureOf(unit, system))
}

/** @returns for example `4.2 °F, spread 0.5 °F` */
export function valueWords(view: BaselineView, system: UnitSystem): string {
  if (view.value === null) return say`not evaluated yet`
  const value = baselineFigure(view.value, view, system)
  return view.spread === null ? value : say`${value}, spread ${baselineFigure(view.spread, view, system, true)}`
}

/** Text on the value that applies while there are too few days; undefined once there are enough. */
export function coldWords(view: BaselineView, system: UnitSystem): string | undefined {
  const { cold, days_used, min_days, fallback, tolerance_cold } = view
  if (!cold) return undefined
  const wanted =
    min_days === undefined ? say`too few days yet` : say`${days_used} of the ${sayCountOf(min_days, 'day')} that it needs`
  if (fallback === undefined) return say`${wanted}, so the physical limit counts`
  const stands =
    fallback === null ? say`the rule is not evaluated until then` : say`${baselineFigure(fallback, view, system)} stands in`
  const wider =
    tolerance_cold === null || tolerance_cold === undefined
      ? ''
      : say`, with a tolerance of ${baselineFigure(tolerance_cold, view, system, true)}`
  return say`${wanted}, so ${stands}${wider}`
}

const leftOutWords = (why: string): string => (why === RESET ? say`before it was begun anew` : say`${why} was active`)

/** The days that count, and those that do not with the reason. */
export const dayLists = ({ dates, left_out }: Pick<BaselineView, 'dates' | 'left_out'>): Html =>
  html`${
    dates.length > 0 &&
    html`<details class="figures"><summary>${sayCountOf(dates.length, 'day')} used</summary><p>${dates.join(', ')}</p></details>`
  }${
    left_out.length > 0 &&
    html`<details class="figures"><summary>${sayCountOf(left_out.length, 'day')} left out</summary><ul>${[
      ...Map.groupBy(left_out, ({ why }) => why),
    ].map(([why, days]) => html`<li>${leftOutWords(why)}: ${days.map(({ date }) => date).join(', ')}</li>`)}</ul></details>`
  }`
