/** One line of a plot: its name, its buckets, the stretches that it is drawn in, and the gaps that it is not drawn across. */
import type { Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import type { Buckets } from '#shared/core/series/series.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { gapsOf, type Span } from '#shared/core/series/spans.ts'
import { say } from '#shared/node/http/language.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import {
  type DisplayUnit,
  formatRoleValue,
  formatValue,
  measureOf,
  measureOfRole,
  roleWords,
  type UnitSystem,
} from './measure.ts'
import { formatMoment, type Here } from './moment.ts'

/** A role in words with its code behind them, or what people call a point; `note` says that it has ended. */
export type LineName = { words: string; code?: string; note?: string }
/** A line of text; the code follows the words. */
export type NameRow = { words: string; code?: string }

/** Height of a line of text, and the estimated width of a bold character of 12 px. */
export const ROW_HEIGHT = 14
export const NAME_CHARACTER = 7.6
/** Most characters of a name beside a line where the key below the plot has it in full. */
const SHORT_MAX = 14

export function roleName(role: string): LineName {
  const words = roleWords(role)
  return words === role ? { words } : { words, code: role }
}

export const nameText = ({ words, code }: LineName): string => (code === undefined ? words : `${words} ${code}`)

/** Breaks a text between words. @param most characters of a line; a longer word has a line of its own */
export function wrapWords(text: string, most: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The whole name in lines of at most `most` characters. */
export function nameRows({ words, code, note = '' }: LineName, most: number): NameRow[] {
  const rowsOf = (text: string): NameRow[] => (text === '' ? [] : wrapWords(text, most).map(line => ({ words: line })))
  const rows = rowsOf(words)
  const last = rows.at(-1)!
  if (code !== undefined) {
    if (last.words.length + 1 + code.length > most) rows.push({ words: '', code })
    else last.code = code
  }
  return [...rows, ...rowsOf(note)]
}

/** One line beside a narrow drawing, and a second for a line that has ended. */
export function shortRow({ words, code, note }: LineName): NameRow[] {
  const text = code ?? words
  const name = { words: text.length > SHORT_MAX ? `${text.slice(0, SHORT_MAX - 1)}…` : text }
  return note === undefined ? [name] : [name, { words: say`ended` }]
}

export const rowLength = ({ words, code }: NameRow): number => [words, code].filter(Boolean).join(' ').length

/** @param y middle of the rows together */
export function rowsText(rows: readonly NameRow[], kind: string, x: number, y: number): Html {
  const first = y + 4 - ((rows.length - 1) * ROW_HEIGHT) / 2
  const codeText = (code: string | undefined) => code !== undefined && html`<tspan class="code">${code}</tspan>`
  return html`<text class="${kind}" x="${x}" y="${first}">${rows.map(({ words, code }, i) => {
    const inner = html`${words}${words !== '' && code !== undefined && ' '}${codeText(code)}`
    return i === 0 ? inner : html`<tspan x="${x}" dy="${ROW_HEIGHT}">${inner}</tspan>`
  })}</text>`
}

export type Trace = {
  /** Empty for a point without a role. */
  role: string
  /** In the role's canonical unit, or in the unit of `point`. */
  buckets: Buckets
  /** On a plot of points instead of roles: the point, and the name at its end. */
  point?: Pick<Point, 'unit' | 'kind'> & { name: LineName }
  /** Nominal time between samples, ms. */
  nominalMs: number
  /** The newest sample of a point that has sent none for longer than a sample holds, ms. */
  ended_at?: number
  /** Of an earlier time, drawn over the present one: the number of the trace whose colour it has, from 0. */
  earlierOf?: number
}
/** A trace with its number on the plot, from 1, which gives it colour and dashes. */
export type DrawnTrace = Trace & { style: number; gaps: Span[]; label: LineName }

export const traceName = ({ role, point }: Trace): LineName => point?.name ?? roleName(role)

export const traceMeasure = ({ role, point }: Trace, system: UnitSystem): DisplayUnit =>
  point ? measureOf(point.unit, system, role) : measureOfRole(role, system)

/** @returns the unit family that shares an axis: `°F`, `%`, `on/off` */
export function traceFamily(trace: Trace, system: UnitSystem): string {
  const kind = trace.point?.kind ?? ROLES[trace.role]?.kind ?? 'number'
  if (kind === 'bool') return 'on/off'
  return kind === 'enum' ? 'state' : traceMeasure(trace, system).label
}

/** @returns a value of the trace in words, in the building's unit */
export const traceValue = (trace: Trace, value: number, system: UnitSystem): string =>
  trace.point
    ? formatValue(value, traceMeasure(trace, system), trace.point.kind === 'string' ? 'enum' : trace.point.kind)
    : formatRoleValue(trace.role, value, system)

/** @param plot `until`: end of what can have data by now */
export function drawnTrace(trace: Trace, index: number, plot: Here & Span & { until: number }): DrawnTrace {
  const note = hasEnded(trace, plot) ? endedWords(trace.ended_at, plot) : undefined
  return {
    ...trace,
    style: (trace.earlierOf ?? index) + 1,
    gaps: gapsOf(trace.buckets, trace.nominalMs, plot.until),
    label: { ...traceName(trace), ...(note !== undefined && { note }) },
  }
}

/** Whether a trace ended within a time. */
export const hasEnded = <T extends Pick<Trace, 'ended_at'>>(trace: T, { from, to }: Span): trace is T & { ended_at: number } =>
  trace.ended_at !== undefined && trace.ended_at >= from && trace.ended_at < to

export const endedWords = (ended_at: number, here: Here): string => say`no value since ${formatMoment(ended_at, here)}`

/** @returns value × scale + offset, bucket by bucket */
export function scaled(buckets: Buckets, { scale, offset }: { scale: number; offset: number }): Buckets {
  const shown = (column: Float64Array) => column.map(value => value * scale + offset)
  return { ...buckets, min: shown(buckets.min), max: shown(buckets.max), mean: shown(buckets.mean), last: shown(buckets.last) }
}

/** Turns a point's history into its role's canonical unit. @returns undefined when the units do not fit */
export function toCanonical(buckets: Buckets, unit: string, role: string): Buckets | undefined {
  const way = conversion(unit, ROLES[role]?.unit ?? unit)
  return way && scaled(buckets, way)
}

/** Numbers of the filled buckets, in one list for each unbroken stretch: a line never crosses a gap. */
export function stretches({ buckets: { from, step, count }, gaps }: Pick<DrawnTrace, 'buckets' | 'gaps'>): number[][] {
  const runs: number[][] = []
  let open: number[] | undefined
  let passed = 0
  for (const [i, samples] of count.entries()) {
    if (!samples) continue
    while (passed < gaps.length && gaps[passed]!.to <= from + i * step) {
      passed++
      open = undefined
    }
    if (!open) runs.push((open = []))
    open.push(i)
  }
  return runs
}
