/** Small mistakes that somebody could make in a rule: every operator and every figure altered once. */
import { type Expr, parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import type { WrittenRule } from '#shared/core/rules/check/rule.ts'
import { parseDuration } from '#shared/core/time.ts'

/** Place of a text or figure in the rule's YAML. */
export type Path = (string | number)[]
type Mutant = {
  /** The key that is altered; lines of a file are found by it. */
  path: Path
  /** The altered text, `when: above > tolerance -> above >= tolerance`; no two of one rule are alike. */
  words: string
  /** The whole rule with the mistake in it, without its tests. */
  body: Body
}
type Body = Record<string, unknown>
/** One text in place of another; `said` is what of it people need to see. */
type Edit = { text: string; said: string }

/** Figures are multiplied and divided by it: tests must lie closer to a limit than a quarter of it. */
export const FACTOR = 1.25

const TURNED: Record<string, string[]> = {
  '<': ['<=', '>'],
  '<=': ['<', '>='],
  '>': ['>=', '<'],
  '>=': ['>', '<='],
  '==': ['!='],
  '!=': ['=='],
  and: ['or'],
  or: ['and'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
}
const DURATIONS = ['smooth', 'settle', 'persistence', 'daily_minimum', 'clear', 'sampling']
const DAYS = ['days', 'min_days']

/**
 * Every comparison made strict or loose and turned round, `and` and `or` swapped, `not` and minus dropped, signs of
 * arithmetic swapped, every figure, duration and default up and down by `FACTOR` (counts by one at least), a gate and each of its guards dropped, a
 * cause's condition dropped, a flag dropped. What only the sentence shows (`explains`) is not judged by tests, nor is what a
 * let brings to it alone. Sources are left out: they name figures as they were.
 *
 * @returns in the order of the keys; one that is no valid rule any more is still in it
 */
export function mutantsOf({ body }: WrittenRule): Mutant[] {
  const { tests: _, test_base: _base, sources: _sources, ...rule } = body
  const found = [
    ...paramMutants(rule),
    ...texts(rule, 'let', name => judged(rule).has(name)),
    ...texts(rule, 'gate'),
    ...guardMutants(rule),
    ...texts(rule, 'when'),
    ...DURATIONS.flatMap(key => figureAt(rule, [key], durations)),
    ...figureAt(rule, ['min_coverage'], figures),
    ...(rule.raw === true ? [altered(rule, ['raw'], false, 'raw: dropped')] : []),
    ...baselineMutants(rule),
    ...causeMutants(rule),
  ]
  return numbered(found)
}

function paramMutants(rule: Body): Mutant[] {
  return Object.entries(mapOf(rule.params)).flatMap(([name, param]) => {
    const { default: value, unit, perRole } = param as { default: number; unit: string; perRole?: Record<string, number> }
    const places: [Path, number][] = [
      [['params', name, 'default'], value],
      ...Object.entries(perRole ?? {}).map(([role, own]): [Path, number] => [['params', name, 'perRole', role], own]),
    ]
    return places.flatMap(([path, own]) =>
      figures(own, unit === 'count').map(({ text, said }) => {
        const wide = altered(rule, ['params', name], widened(param as Body), '').body
        return { ...altered(wide, path, Number(text), `${path.filter(key => key !== 'default').join('.')}: ${said}`), path }
      }),
    )
  })
}

/** A figure beyond its bounds would be refused instead of tried. */
const widened = (param: Body): Body => ({ ...param, min: -1e9, max: 1e9 })

function baselineMutants(rule: Body): Mutant[] {
  return Object.entries(mapOf(rule.baseline)).flatMap(([name, spec]) => {
    const at = (key: string): Path => ['baseline', name, key]
    return Object.keys(spec as Body).flatMap(key => {
      if (DAYS.includes(key)) return figureAt(rule, at(key), wholeDays)
      if (key === 'minimum') return figureAt(rule, at(key), durations)
      return key === 'stat' ? [] : textAt(rule, at(key))
    })
  })
}

function causeMutants(rule: Body): Mutant[] {
  return Object.entries(mapOf(rule.cause)).flatMap(([component, cases]) =>
    Object.entries(mapOf(cases)).flatMap(([text, weight]) => {
      const others = Object.entries(cases as Body).filter(([key]) => key !== text)
      const edits = [...editsOf(text), { text: '0 < 1', said: `${text} -> always` }]
      return edits.map(edit =>
        altered(
          rule,
          ['cause', component],
          Object.fromEntries([...others, [edit.text, weight]]),
          `cause.${component}: ${edit.said}`,
        ),
      )
    }),
  )
}

/** The gate left out, and each of the conditions that it joins. */
function guardMutants(rule: Body): Mutant[] {
  if (typeof rule.gate !== 'string') return []
  const text = rule.gate.trim()
  const { gate: _, ...open } = rule
  const parts = guardsOf(parseExpr(text)).map(({ at, end }) => text.slice(at, end))
  const fewer = parts.map((part, index) =>
    altered(rule, ['gate'], parts.filter((_, other) => other !== index).join(' and '), `gate: without ${part}`),
  )
  return [{ path: ['gate'], words: 'gate: dropped', body: open }, ...(parts.length > 1 ? fewer : [])]
}

function guardsOf(expr: Expr): Expr[] {
  return expr.kind === 'binary' && expr.op === 'and' ? [...guardsOf(expr.left), ...guardsOf(expr.right)] : [expr]
}

// ---- one text

function texts(rule: Body, key: string, wanted: (name: string) => boolean = () => true): Mutant[] {
  if (typeof rule[key] !== 'object') return textAt(rule, [key])
  return Object.keys(mapOf(rule[key]))
    .filter(wanted)
    .flatMap(name => textAt(rule, [key, name]))
}

function textAt(rule: Body, path: Path): Mutant[] {
  const text = valueAt(rule, path)
  if (typeof text === 'number') return figureAt(rule, path, figures)
  if (typeof text !== 'string') return []
  return editsOf(text.trim()).map(edit => altered(rule, path, edit.text, `${path.join('.')}: ${edit.said}`))
}

function figureAt(rule: Body, path: Path, edits: (value: string | number) => Edit[]): Mutant[] {
  const value = valueAt(rule, path)
  if (typeof value !== 'string' && typeof value !== 'number') return []
  return edits(value).map(({ text, said }) =>
    altered(rule, path, typeof value === 'number' ? Number(text) : text, `${path.join('.')}: ${said}`),
  )
}

/** Every way to alter one sign or figure of an expression. */
export function editsOf(text: string): Edit[] {
  return walk(parseExpr(text), text)
}

function walk(expr: Expr, text: string): Edit[] {
  const replace = (at: number, end: number, by: string): Edit => {
    const from = Math.min(at, expr.at)
    const to = Math.max(end, expr.end)
    const after = text.slice(0, at) + by + text.slice(end)
    return { text: after, said: `${text.slice(from, to)} -> ${after.slice(from, to + after.length - text.length)}` }
  }
  switch (expr.kind) {
    case 'name':
      return []
    case 'number': {
      const written = text.slice(expr.at, expr.end)
      const [digits] = /[\d.]+(?:e[+-]?\d+)?/.exec(written)!
      return figures(digits, digits === written).map(edit => replace(expr.at, expr.end, written.replace(digits, edit.text)))
    }
    case 'call':
      return expr.args.flatMap((arg, index) => {
        const standIn = expr.name === 'first' && arg.kind === 'number' && index > 0
        return standIn ? [replace(expr.args[index - 1]!.end, arg.end, '')] : walk(arg, text)
      })
    case 'unary': {
      const { op, of, at } = expr
      return [replace(at, at + op.length, ''), ...walk(of, text)]
    }
    case 'binary': {
      const { op, left, right } = expr
      if (op === '^') return walk(left, text)
      const at = left.end + text.slice(left.end, right.at).indexOf(op)
      const turned = TURNED[op]!.map(other => replace(at, at + op.length, other))
      return [...walk(left, text), ...turned, ...walk(right, text)]
    }
  }
}

// ---- figures

/** @param counts whether it has no unit: whole numbers then move by one at least */
function figures(value: string | number, counts = false): Edit[] {
  const number = Number(value)
  const least = counts && Number.isInteger(number) ? 1 : 0
  const up = number + Math.max(Math.abs(number) * (FACTOR - 1), least)
  const down = number - Math.max(Math.abs(number) * (1 - 1 / FACTOR), least)
  return (number === 0 ? [1] : [up, down]).map(other => said(value, rounded(other)))
}

const durations = (value: string | number): Edit[] => {
  const ms = parseDuration(String(value))
  return ms ? [ms * FACTOR, ms / FACTOR].map(other => said(value, `${rounded(other / 1000)}s`)) : []
}

const wholeDays = (value: string | number): Edit[] =>
  [Math.ceil(Number(value) * FACTOR), Math.floor(Number(value) / FACTOR)].map(other => said(value, String(Math.max(other, 1))))

/** Twelve digits: what is left of a binary fraction is not written. */
const rounded = (value: number): string => String(Number(value.toPrecision(12)))
const said = (before: string | number, text: string): Edit => ({ text, said: `${before} -> ${text}` })

// ---- the rule's map

const mapOf = (value: unknown): Body => (typeof value === 'object' && value !== null ? (value as Body) : {})
const valueAt = (body: Body, path: Path): unknown => path.reduce<unknown>((part, key) => mapOf(part)[key], body)

function altered(body: Body, path: Path, value: unknown, words: string): Mutant {
  return { path, words, body: withValue(body, path, value) }
}

function withValue(body: Body, [key, ...rest]: Path, value: unknown): Body {
  return { ...body, [key!]: rest.length > 0 ? withValue(mapOf(body[key!]), rest, value) : value }
}

/** Lets that the gate, the condition, a baseline or a cause reads, directly or by another let. */
function judged(rule: Body): Set<string> {
  const lets = mapOf(rule.let)
  const seen = new Set<string>()
  const read = (text: string): void => {
    for (const name of Object.keys(lets)) {
      if (seen.has(name) || !new RegExp(`\\b${name}\\b`).test(text)) continue
      seen.add(name)
      read(String(lets[name]))
    }
  }
  read(JSON.stringify([rule.gate, rule.when, rule.baseline, rule.cause]))
  return seen
}

/** Equal texts are distinguished by their number. */
function numbered(mutants: Mutant[]): Mutant[] {
  const counts = new Map<string, number>()
  return mutants.map(mutant => {
    const count = (counts.get(mutant.words) ?? 0) + 1
    counts.set(mutant.words, count)
    return count === 1 ? mutant : { ...mutant, words: `${mutant.words} (${count})` }
  })
}
