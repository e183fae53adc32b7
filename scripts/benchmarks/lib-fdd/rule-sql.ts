/**
 * Says a rule in SQL, as one would write it by hand for a table with one row a minute: a column for each role, a window
 * function over rows for each function of time. What SQL has no words for is left out, with the reason.
 */
import { ROLES } from '#shared/core/model/role.ts'
import { setPointsOf } from '#shared/core/model/set-point.ts'
import { checkExpr } from '#shared/core/rules/check/check-expr.ts'
import { type TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import type { CompiledRule } from '#shared/core/rules/compile/compile-rule.ts'
import { toCanonical } from '#shared/core/rules/language/dimension.ts'
import { MACROS, OAF, OAF_ROLES } from '#shared/core/rules/language/macros.ts'
import { parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type Sql, type Translator, windowSql } from './window-sql.ts'

/** The faulty minutes of one rule on one equipment, as a condition over the last layer. */
export type Watch = { rule_id: string; role: string; fault: string; minutes: number }
export type Translation = {
  /** Layer by layer: the SQL of each window column, with its name. */
  layers: Map<string, string>[]
  watches: Watch[]
}

/** Figures closer than 1e-9 are equal, as in the engine. */
const COMPARE: Record<string, (difference: string) => string> = {
  lt: d => `${d} < -1e-9`,
  le: d => `${d} <= 1e-9`,
  gt: d => `${d} > 1e-9`,
  ge: d => `${d} >= -1e-9`,
  eq: d => `abs(${d}) <= 1e-9`,
  ne: d => `abs(${d}) > 1e-9`,
}
const ARITHMETIC: Record<string, string> = { add: '+', sub: '-', mul: '*' }
const CONDITIONS = new Set([...Object.keys(COMPARE), 'and', 'or', 'not', 'held', 'has', 'rests'])
/** Of functions whose first argument is a condition. */
const OF_CONDITION = new Set(['if', 'duty', 'since'])
/** Farther than any set point, as in the engine; and after how many of its intervals a sensor is silent. */
const FAR = 1e12
const SILENT_INTERVALS = 3
const OAF_TYPED = checkExpr(parseExpr(OAF), { roles: OAF_ROLES, params: {}, lets: new Map(), baselines: new Map() }).typed

/** Translates rules that share their window columns. @throws Error that says what cannot be said */
export function translate(instances: CompiledRule[], roles: readonly string[]): Translation {
  const layers: Map<string, string>[] = []
  const column = (text: string, layer: number): Sql => {
    const columns = (layers[layer] ??= new Map<string, string>())
    const name = columns.get(text) ?? `w${layer}_${columns.size}`
    columns.set(text, name)
    return { text: name, layer: layer + 1 }
  }
  const watches = instances.map(instance => watch({ instance, roles, column }))
  return { layers, watches }
}

function watch(words: Translator): Watch {
  const { rule, role = '', persistenceMs } = words.instance
  const { gate, guard, when, settle } = rule.program
  const parts = [condition(when, words)]
  if (gate) parts.push(condition(gate, words))
  if (gate && constant(settle, words) > 0) parts.push(windowSql('settled', condition(gate, words), rows(settle, words), words))
  if (guard) parts.push(condition(guard, words))
  const fault = parts.map(({ text }) => text).join(' AND ')
  return { rule_id: rule.id, role, fault, minutes: Math.max(1, persistenceMs / MINUTE) }
}

const sql = (text: string, ...parts: Sql[]): Sql => ({ text, layer: Math.max(0, ...parts.map(({ layer }) => layer)) })

/** A number, or NULL where it is not evaluated. */
function value(typed: TypedExpr, words: Translator): Sql {
  switch (typed.kind) {
    case 'const':
    case 'param':
      return sql(`(${constant(typed, words)})`)
    case 'role':
      if (typed.where === 'parent') throw new Error('it reads other equipment')
      return ownRole(typed.role, words)
    case 'ref':
      return MACROS[typed.name] ? asNumber(macro(typed.name, words)) : value(named(typed.name, words), words)
    case 'zones':
      throw new Error('it reads other equipment')
    case 'baseline':
      throw new Error('a baseline leaves out the days on which its own rule was active, which needs recursion over days')
    case 'op':
      return CONDITIONS.has(typed.op) ? asNumber(condition(typed, words)) : operation(typed.op, typed.args, words)
  }
}

const asNumber = (of: Sql): Sql => sql(`CAST(${of.text} AS DOUBLE)`, of)

/** TRUE, FALSE or NULL. */
function condition(typed: TypedExpr, words: Translator): Sql {
  if (typed.kind === 'const') return sql(typed.value === 1 ? 'TRUE' : 'FALSE')
  if (typed.kind === 'ref' && MACROS[typed.name]) return macro(typed.name, words)
  if (typed.kind === 'ref' && typed.name !== 'oaf') return condition(named(typed.name, words), words)
  if (typed.kind !== 'op' || !CONDITIONS.has(typed.op)) {
    const number = value(typed, words)
    return sql(`(${number.text} = 1)`, number)
  }
  const { op, args } = typed
  if (op === 'has') return sql(isThere(args[0]!, words) ? 'TRUE' : 'FALSE')
  if (op === 'rests') return sql(ROLES[bound(args[0]!, words)]?.rests ? 'TRUE' : 'FALSE')
  if (op === 'held') return windowSql('held', condition(args[0]!, words), rows(args[1]!, words), words)
  const compare = COMPARE[op]
  const [a, b] = args.map(arg => (compare ? value(arg, words) : condition(arg, words))) as [Sql, Sql]
  if (compare) return sql(`(${compare(`(${a.text} - ${b.text})`)})`, a, b)
  return op === 'not' ? sql(`(NOT ${a.text})`, a) : sql(`(${a.text} ${op.toUpperCase()} ${b.text})`, a, b)
}

function operation(op: string, args: TypedExpr[], words: Translator): Sql {
  if (['lowest', 'highest', 'nominal', 'age'].includes(op)) return ofRole(op, bound(args[0]!, words), words)
  if (op === 'off_set_point') return offSetPoint(bound(args[0]!, words), words)
  if (op === 'sensors') return sql(`(${sensorsOf(words).length})`)
  if (op === 'silent_sensors') return silentSensors(constant(args[0]!, words), words)
  // What the table has is known before a row is read, so that the other branch need not be sayable.
  const asked = args[0]!
  if (op === 'if' && asked.kind === 'op' && asked.op === 'has') return value(args[isThere(asked.args[0]!, words) ? 1 : 2]!, words)
  const of = args.map((arg, i) => (i === 0 && OF_CONDITION.has(op) ? condition(arg, words) : value(arg, words)))
  const [a, b, c] = of as [Sql, Sql, Sql]
  if (ARITHMETIC[op]) return sql(`(${a.text} ${ARITHMETIC[op]} ${b.text})`, a, b)
  if (op === 'div') return sql(`(${a.text} / nullif(${b.text}, 0))`, a, b)
  if (op === 'neg') return sql(`(-${a.text})`, a)
  if (op === 'abs') return sql(`abs(${a.text})`, a)
  if (op === 'if') return sql(`CASE WHEN ${a.text} THEN ${b.text} WHEN NOT ${a.text} THEN ${c.text} END`, a, b, c)
  if (op === 'first') return sql(`coalesce(${of.map(({ text }) => text).join(', ')})`, ...of)
  if (op === 'least' || op === 'greatest') {
    return of.reduce((left, right) =>
      sql(
        `CASE WHEN ${left.text} IS NOT NULL AND ${right.text} IS NOT NULL THEN ${op}(${left.text}, ${right.text}) END`,
        left,
        right,
      ),
    )
  }
  if (op === 'since') return since(a, words)
  if (op === 'day_median') throw new Error('day_median goes over a day while its gate is open, which is not written for the peer')
  return windowSql(op, a, rows(args[1]!, words), words)
}

/** A row in which it held holds until the next one. */
function since(held: Sql, words: Translator): Sql {
  const last = words.column(`max(CASE WHEN ${held.text} THEN ts END) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING)`, held.layer)
  return sql(`CASE WHEN ${held.text} THEN 0 WHEN NOT ${held.text} THEN (ts - ${last.text} - ${MINUTE}) / 1000.0 END`, held, last)
}

/** `least` passes over set points without a value. */
function offSetPoint(role: string, { roles }: Translator): Sql {
  const distances = setPointsOf(role)
    .filter(name => roles.includes(name))
    .map(name => `abs(${role} - ${name})`)
  return sql(`CASE WHEN ${role} IS NOT NULL THEN least(${[...distances, FAR].join(', ')}) END`)
}

const sensorsOf = ({ roles }: Translator): string[] => roles.filter(role => ROLES[role]!.rests === false)

function silentSensors(longestSecs: number, words: Translator): Sql {
  const limit = Math.max(longestSecs, (SILENT_INTERVALS * MINUTE) / 1000)
  const ages = sensorsOf(words).map(role => ofRole('age', role, words))
  return sql(`(${ages.map(({ text }) => `CASE WHEN ${text} > ${limit} THEN 1 ELSE 0 END`).join(' + ')})`, ...ages)
}

function ofRole(op: string, role: string, words: Translator): Sql {
  if (op === 'lowest') return sql(`(${ROLES[role]!.range[0]})`)
  if (op === 'highest') return sql(`(${ROLES[role]!.range[1]})`)
  if (op === 'nominal') return sql(`(${MINUTE / 1000})`)
  const last = words.column(`max(CASE WHEN raw_${role} IS NOT NULL THEN ts END) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING)`, 0)
  return sql(`((ts - ${last.text}) / 1000.0)`, last)
}

function ownRole(name: string, words: Translator): Sql {
  const role = name === 'each' ? words.instance.role! : name
  if (!words.roles.includes(role)) return sql('CAST(NULL AS DOUBLE)')
  const { raw, smooth } = words.instance.rule.program
  const column = sql(raw ? `raw_${role}` : role)
  const smoothed = constant(smooth, words) > 0 && ROLES[role]?.kind === 'number'
  return smoothed ? windowSql('avg', column, rows(smooth, words), words) : column
}

function bound(typed: TypedExpr, { instance }: Translator): string {
  if (typed.kind !== 'role') throw new Error('not a role')
  return typed.role === 'each' ? instance.role! : typed.role
}

/** The first proof that the table has, as the engine takes it. */
function macro(name: string, { roles }: Translator): Sql {
  const proof = MACROS[name]!.proofs.find(({ role }) => roles.includes(role))
  if (!proof) throw new Error(`there is no proof of ${name}`)
  return sql(`(${proof.role} > ${proof.above})`)
}

const isThere = (of: TypedExpr, words: Translator): boolean =>
  of.kind === 'ref'
    ? MACROS[of.name]!.proofs.some(({ role }) => words.roles.includes(role))
    : words.roles.includes(bound(of, words))

function named(name: string, { instance }: Translator): TypedExpr {
  if (name === 'oaf') return OAF_TYPED
  return instance.rule.program.lets.find(each => each.name === name)!.typed
}

/** The value of an expression of constants and parameters, in canonical units. */
function constant(typed: TypedExpr, words: Translator): number {
  if (typed.kind === 'const') return typed.value
  if (typed.kind === 'param') {
    const { value: given, unit } = words.instance.params[typed.name]!
    return toCanonical(given, unit, typed.absolute)
  }
  if (typed.kind !== 'op') throw new Error('not a constant')
  const [a, b] = typed.args.map(arg => constant(arg, words)) as [number, number]
  return typed.op === 'add' ? a + b : typed.op === 'sub' ? a - b : typed.op === 'mul' ? a * b : a / b
}

function rows(window: TypedExpr, words: Translator): number {
  const minutes = (constant(window, words) * 1000) / MINUTE
  if (!Number.isInteger(minutes)) throw new Error('a window of broken minutes is no number of rows')
  return minutes
}
