/** The figures of a rule: what `sources` has to give a reason for. */
import { tokenize } from '#shared/core/rules/language/lex.ts'

/** Keys of a rule that are durations or shares. */
const TIMES = ['smooth', 'settle', 'persistence', 'daily_minimum', 'clear', 'sampling', 'together', 'min_coverage']
/** Keys of a baseline that are figures. */
const OF_BASELINE = ['days', 'min_days', 'minimum', 'fallback', 'tolerance_cold']

/** Keys of `hindsight` that are figures, unless they name a parameter. */
const OF_HINDSIGHT = ['usual', 'limit']

type Body = Record<string, unknown>

/**
 * @param body a rule as it is written, parsed from YAML
 * @returns once each, in the order of the file: the names of parameters; literals of expressions as they are written, without
 *   blanks (`2.8K`); keys that hold a figure (`settle`, `min_days`); `cause` where components have weights. Zero and a plain one
 *   are left out, since they are the ends of a share, and so are exponents and keys that name a parameter.
 */
export function ruleFigures(body: Body): string[] {
  const params = Object.keys(mapOf(body.params))
  const baselines = Object.values(mapOf(body.baseline)).map(mapOf)
  const given = (of: Body, keys: string[]): string[] =>
    keys.filter(key => key in of && !isZero(of[key]) && !params.includes(String(of[key]).trim()))
  return [
    ...new Set([
      ...params,
      ...expressionsOf(body, baselines).flatMap(literalsOf),
      ...given(body, TIMES),
      ...baselines.flatMap(spec => given(spec, OF_BASELINE)),
      ...given(mapOf(body.hindsight), OF_HINDSIGHT),
      ...(Object.keys(mapOf(body.cause)).length > 0 ? ['cause'] : []),
    ]),
  ]
}

const mapOf = (value: unknown): Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {}

const isZero = (value: unknown): boolean => Number.parseFloat(String(value)) === 0

function expressionsOf(body: Body, baselines: Body[]): string[] {
  const { waste } = mapOf(body.impact)
  const wasted = typeof waste === 'number' ? String(waste) : waste
  const ofBaselines = baselines.flatMap(({ of, when, on }) => [of, when, ...(Array.isArray(on) ? on : [on])])
  const ofCauses = Object.values(mapOf(body.cause)).flatMap(cases => Object.keys(mapOf(cases)))
  return [body.gate, ...Object.values(mapOf(body.let)), body.when, ...ofBaselines, ...ofCauses, wasted].filter(
    text => typeof text === 'string',
  )
}

function literalsOf(text: string): string[] {
  try {
    const tokens = tokenize(text)
    return tokens.flatMap((token, index) => {
      const before = tokens[index - 1]
      const isExponent = before?.kind === 'sign' && before.text === '^'
      if (token.kind !== 'number' || isExponent || token.value === 0 || (token.value === 1 && token.unit === undefined)) return []
      return [text.slice(token.at, token.end).replace(/\s+/g, '')]
    })
  } catch {
    // The error of an expression is reported where it is read.
    return []
  }
}
