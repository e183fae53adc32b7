import test from 'ava'
import fc from 'fast-check'
import { checkExpr } from '#shared/core/rules/check/check-expr.ts'
import { type ExprScope } from '#shared/core/rules/check/typed-expr.ts'
import { describeType } from '#shared/core/rules/language/dimension.ts'
import { ExprError } from '#shared/core/rules/language/lex.ts'
import { type Expr, parseExpr } from '#shared/core/rules/language/parse-expr.ts'

/** The tree as nested brackets, so that precedence can be read. */
function shape(expr: Expr): string {
  if (expr.kind === 'number') return `${expr.value}${expr.unit ? ` ${expr.unit}` : ''}`
  if (expr.kind === 'name') return expr.name
  if (expr.kind === 'call') return `${expr.name}(${expr.args.map(shape).join(', ')})`
  if (expr.kind === 'unary') return `[${expr.op} ${shape(expr.of)}]`
  return `[${shape(expr.left)} ${expr.op} ${shape(expr.right)}]`
}

const SHAPES: [string, string][] = [
  ['a or b and c', '[a or [b and c]]'],
  ['not a and b', '[[not a] and b]'],
  ['not a > b', '[not [a > b]]'],
  ['a + b * c', '[a + [b * c]]'],
  ['a - b - c', '[[a - b] - c]'],
  ['(a - b) * c', '[[a - b] * c]'],
  ['-a ^ 2', '[- [a ^ 2]]'],
  ['a / b ^ 2', '[a / [b ^ 2]]'],
  ['f(a, g(b), 1)', 'f(a, g(b), 1)'],
  ['5K', '5 K'],
  ['0.5 m3/s', '0.5 m3/s'],
  ['10 kW / a', '[10 kW / a]'],
  ['30m', '30 min'],
  ['2 in.w.c.', '2 inwc'],
  ['95%', '95 percent'],
  ['1e-3', '0.001'],
  ['  a>\n b ', '[a > b]'],
]
for (const [text, tree] of SHAPES) {
  test(`"${text.trim()}" reads as ${tree}`, t => t.is(shape(parseExpr(text)), tree))
}

/** Text, offset of the mistake, part of the message. */
const BROKEN: [string, number, RegExp][] = [
  ['', 0, /ends too early/],
  ['a >', 3, /ends too early/],
  ['a > > b', 4, /">" is not expected/],
  ['a b', 2, /"b" is not expected/],
  ['a < b < c', 6, /do not chain/],
  ['f(a', 3, /ends too early/],
  ['(a + b', 6, /ends too early/],
  ['a & b', 2, /"&" means nothing/],
  ['and', 0, /"and" is not expected/],
  ['f(a b)', 4, /"," is expected/],
  [`${'('.repeat(60)}a${')'.repeat(60)}`, 51, /nested deeper/],
  [`${'not '.repeat(60)}a`, 204, /nested deeper/],
  [`a${' + a'.repeat(60)}`, 206, /in one row/],
  ['a'.repeat(5000), 4000, /longer than/],
  ['a > 1e999', 4, /too large/],
]
for (const [text, at, message] of BROKEN) {
  test(`"${text.length > 20 ? `${text.slice(0, 20)}…` : text}" is refused at ${at}`, t => {
    const error = t.throws(() => parseExpr(text), { instanceOf: ExprError, message })
    t.is(error.at, at)
  })
}

const SCOPE: ExprScope = {
  roles: {
    sa_t: 'degC',
    oa_t: 'degF',
    sat: 'degC',
    duct_static: 'Pa',
    oa_damper: 'fraction',
    clg_valve: 'percent',
    fan_status: 'bool',
    sa_flow: 'm3/s',
  },
  params: { tol: { unit: 'K' }, lift: { unit: 'degF' }, share: { unit: 'count' }, window: { unit: 'min' } },
  lets: new Map(),
  baselines: new Map([['rise', { kind: 'quantity', base: 'temperature', absolute: false }]]),
}

/** Expression and what it measures. */
const TYPES: [string, string][] = [
  ['sa_t', 'a temperature'],
  ['sa_t - oa_t', 'a temperature difference'],
  ['sa_t + tol', 'a temperature'],
  ['sa_t - 2 degF', 'a temperature'],
  ['55 degF - sa_t', 'a temperature difference'],
  ['sa_t + lift', 'a temperature'],
  ['avg(sa_t, 30m)', 'a temperature'],
  ['range(sa_t, 30m)', 'a temperature difference'],
  ['abs(sa_t - oa_t) * 2', 'a temperature difference'],
  ['2 * lift', 'a temperature difference'],
  ['duct_static / oa_damper ^ 2', 'a pressure'],
  ['(sa_t - oa_t) / (oa_t - sa_t)', 'a number or fraction'],
  ['oa_damper / (sa_t - oa_t)', 'temperature^-1'],
  ['sa_flow * (sa_t - oa_t)', 'flow temperature'],
  ['since(fan_status)', 'a time'],
  ['duty(fan_status, window)', 'a number or fraction'],
  ['held(sa_t > 20, 2 * window)', 'a condition'],
  ['base(rise) + 1', 'a temperature difference'],
  ['parent(sa_t) - sa_t', 'a temperature difference'],
  ['zones(damper, max)', 'a number or fraction'],
  ['fan_on and occ', 'a condition'],
  ['oaf', 'a number or fraction'],
  ['first(fan_status, true)', 'a condition'],
  ['fan_status > 0', 'a condition'],
  ['sa_t - oa_t > 10 degF', 'a condition'],
]
for (const [text, type] of TYPES) {
  test(`${text} is ${type}`, t => t.is(describeType(checkExpr(parseExpr(text), SCOPE).type), type))
}

/** Expression, offset, part of the message. */
const MISFITS: [string, number, RegExp][] = [
  ['sa_t + oa_t', 7, /cannot add a temperature to a temperature/],
  ['sa_t + duct_static', 7, /cannot add a pressure to a temperature/],
  ['tol - sa_t', 6, /cannot subtract a temperature from a temperature difference/],
  ['oa_damper > sa_t', 12, /cannot compare a number or fraction with a temperature/],
  ['sa_t > tol', 7, /cannot compare a temperature with a temperature difference/],
  ['sa_t > 5 K', 7, /cannot compare/],
  ['sa_t * 2', 7, /cannot be multiplied/],
  ['fan_status and oa_damper', 15, /a condition is expected here, this is a number or fraction/],
  ['not sa_t', 4, /a condition is expected/],
  ['chw_flow > 1', 0, /not declared/],
  ['sa_tt > 1', 0, /no role, parameter, let or macro .*sa_t/],
  ['avg(sa_t)', 0, /needs a window, for example avg/],
  ['avg(sa_t, 5)', 10, /needs a window here/],
  ['avg(sa_t, sa_t)', 10, /needs a window here/],
  ['avg(sa_t, 0h)', 10, /avg takes a window of more than 0 and at most 31 d/],
  ['avg(sa_t, -1h)', 10, /avg takes a window of more than 0 and at most 31 d/],
  ['held(sa_t > 20 degC, 100000000000000h)', 21, /held takes a window of more than 0 and at most 31 d/],
  ['avg(sa_t, 5m, 3)', 0, /takes 2 arguments/],
  ['duty(sa_t, 30m)', 5, /takes a condition/],
  ['mean(sa_t, 5m)', 0, /no function mean/],
  ['avg > 3', 0, /is a function/],
  ['base(fall)', 5, /not declared under baseline/],
  ['base(rise) > duct_static', 13, /cannot compare/],
  ['tolerance(rise, 5 Pa)', 16, /a temperature difference is expected/],
  ['age(5)', 4, /role's name/],
  ['zones(damper)', 0, /zones takes a role and one of/],
  ['least(sa_t, duct_static)', 12, /does not fit/],
  ['percentile(sa_t, 1h, oa_damper)', 21, /constant from 0 to 1/],
  ['oa_damper ^ 5', 12, /a power is 2 or 3/],
  ['reversals(oa_damper, 1h, 2 K)', 25, /is expected here/],
]
for (const [text, at, message] of MISFITS) {
  test(`${text} does not check: ${message.source}`, t => {
    const error = t.throws(() => checkExpr(parseExpr(text), SCOPE), { instanceOf: ExprError, message })
    t.is(error.at, at)
  })
}

const WORDS = [
  'sa_t',
  'tol',
  'oa_damper',
  'fan_on',
  'avg',
  'held',
  '(',
  ')',
  ',',
  '+',
  '-',
  '*',
  '/',
  '^',
  '<',
  '>=',
  'and',
  'or',
  'not',
  '5',
  '30m',
  '2 K',
  'é',
  '"',
]

test('any text either reads and checks or is refused with a place inside it', t => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(fc.constantFrom(...WORDS), { maxLength: 25 }).map(words => words.join(' ')),
  )
  fc.assert(
    fc.property(text, source => {
      try {
        checkExpr(parseExpr(source), SCOPE)
      } catch (error) {
        if (!(error instanceof ExprError)) throw error
        return error.at >= 0 && error.at <= source.length
      }
      return true
    }),
    { numRuns: 3000 },
  )
  t.pass()
})
