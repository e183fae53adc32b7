/** Parses the executable part of a rule: expressions, durations, baselines, causes, the sentence. */
import { isScalar } from 'yaml'
import { ROLES, roleOf } from '#shared/core/model/role.ts'
import { READERS, roleOfReaders } from './readers.ts'
import { DAY, HOUR, MINUTE, parseDuration, SECOND } from '#shared/core/time.ts'
import { checkCondition, checkExpr } from './check-expr.ts'
import { type CheckedExpr, type ExprScope, type TypedExpr } from './typed-expr.ts'
import { describeType, type ValueType, unifyTypes, PERCENTAGE_POINTS } from '#shared/core/rules/language/dimension.ts'
import { BASELINE_DAYS_MAX, WINDOW_MAX_MS } from '#shared/core/rules/language/functions.ts'
import { ExprError } from '#shared/core/rules/language/lex.ts'
import { MACROS, OAF_GUARD, OAF_ROLES } from '#shared/core/rules/language/macros.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { type Expr, parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import { readHindsight } from './parse-hindsight.ts'
import { readImpact } from './parse-impact.ts'
import type { BaselineSpec, RuleParam, Program, ConditionTerm } from './rule.ts'
import type { YamlFields, YamlText } from '#shared/core/rules/language/yaml-text.ts'

/** Default share of gated time that must be evaluated before a rule may give "pass". */
const MIN_COVERAGE = 0.8
/** Default time of values that a day needs to count for a baseline. */
const DAY_MINIMUM_MS = 10 * 60_000

/** More drivers than this need more different weather than a month has. */
const DRIVERS_MAX = 4

const NEVER: TypedExpr = { kind: 'const', value: 0 }
type Names = { roles: Record<string, string>; params: Record<string, RuleParam>; each?: string }
type Condition = { typed: TypedExpr; expr: Expr; text: string }
/** The state while a file is read: the scope of names, and every let as it is written, for the terms. */
type Reading = { yaml: YamlText; scope: ExprScope; texts: Map<string, Condition> }

export function parseProgram(root: YamlFields, yaml: YamlText, names: Names, each: Program['each']): Program {
  const scope: ExprScope = { ...names, lets: new Map(), baselines: new Map() }
  const reading: Reading = { yaml, scope, texts: new Map() }
  const baselines = root.fields('baseline')
  const lets = root.fields('let')
  // A let may use a baseline and a baseline may use a let: first all lets without baselines are read, then the baselines,
  // then the other lets.
  const late = readLets(lets, reading, lets?.keys() ?? [], baselines !== undefined)
  const specs = readBaselines(baselines, reading)
  readLets(lets, reading, late, false)
  const gate = condition(root, 'gate', reading)
  if (gate && usesDay(gate.typed, scope))
    yaml.complain(root.node('gate'), 'day_median cannot stand in a gate: it counts what the gate lets through')
  const when = condition(root, 'when', reading)
  if (!root.has('when')) yaml.complain(root.map, 'when is missing')
  const program: Program = {
    ...(each && { each }),
    raw: root.flag('raw'),
    lets: [...scope.lets].map(([name, { typed }]) => ({ name, typed })),
    when: when?.typed ?? NEVER,
    expression: when?.text.trim().replace(/\s+/g, ' ') ?? '',
    terms: when ? termsOf(when, reading) : [],
    smooth: duration(root, 'smooth', scope, yaml),
    settle: duration(root, 'settle', scope, yaml),
    persistence: duration(root, 'persistence', scope, yaml),
    daily_minimum: duration(root, 'daily_minimum', scope, yaml),
    clear: duration(root, 'clear', scope, yaml),
    sampling: duration(root, 'sampling', scope, yaml),
    together: duration(root, 'together', scope, yaml),
    min_coverage: readCoverage(root, yaml),
    baselines: specs,
    causes: readCauses(root.fields('cause'), reading),
    suppresses: readSuppressed(root, names.roles, yaml),
    relabels: readPatterns(root.list('relabels'), yaml),
    explains: readSentence(root, reading),
  }
  if (gate) program.gate = gate.typed
  if (scope.oaf) program.guard = checkCondition(parseExpr(OAF_GUARD), { ...scope, roles: OAF_ROLES })
  const hindsight = readHindsight(
    root,
    yaml,
    specs,
    name => scope.baselines.get(name) ?? { kind: 'any' },
    (fields, key, type) => constant(fields, key, type, reading),
    (fields, text) => conditionOfKey(fields, text, reading),
  )
  if (hindsight) program.hindsight = hindsight
  const impact = readImpact(root, yaml, scope)
  if (impact) program.impact = impact
  return program
}

function usesDay(typed: TypedExpr, scope: ExprScope): boolean {
  if (typed.kind === 'ref') return usesDay(scope.lets.get(typed.name)?.typed ?? NEVER, scope)
  if (typed.kind !== 'op') return false
  return typed.op === 'day_median' || typed.args.some(arg => usesDay(arg, scope))
}

/** Parses and checks one expression; an error is added with its place. */
function attempt<T>(yaml: YamlText, node: unknown, read: () => T, offset = 0): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ExprError)) throw error
    return void yaml.complain(node, error.message, offset + error.at)
  }
}

function expression(
  fields: YamlFields,
  key: string,
  { yaml, scope }: Reading,
): (CheckedExpr & { expr: Expr; text: string }) | undefined {
  const text = fields.text(key)
  if (text === undefined) return undefined
  return attempt(yaml, fields.node(key), () => {
    const expr = parseExpr(text)
    return { ...checkExpr(expr, scope), expr, text }
  })
}

function condition(fields: YamlFields, key: string, { yaml, scope }: Reading): Condition | undefined {
  const text = fields.text(key)
  if (text === undefined) return undefined
  return attempt(yaml, fields.node(key), () => {
    const expr = parseExpr(text)
    return { typed: checkCondition(expr, scope), expr, text }
  })
}

/** @returns the lets that use a baseline and must be read later (only when `patient`) */
function readLets(fields: YamlFields | undefined, reading: Reading, names: string[], patient: boolean): string[] {
  const late: string[] = []
  for (const name of names) {
    const text = fields!.text(name) ?? ''
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      reading.yaml.complain(fields!.keyNode(name), 'the name of a let is made of letters, digits and _')
      continue
    }
    if (
      patient &&
      (/\b(base|spread|cold|tolerance)\s*\(/.test(text) || late.some(other => new RegExp(`\\b${other}\\b`).test(text)))
    ) {
      late.push(name)
      continue
    }
    if (roleOf(name) || getOwn(reading.scope.params, name))
      reading.yaml.complain(fields!.keyNode(name), `${name} is already a role or a parameter`)
    // A reference to it is read as the macro.
    if (getOwn(MACROS, name) || name === 'oaf') reading.yaml.complain(fields!.keyNode(name), `${name} is already a macro`)
    const checked = expression(fields!, name, reading)
    if (!checked) continue
    reading.scope.lets.set(name, { typed: checked.typed, type: checked.type })
    reading.texts.set(name, { ...checked, text })
  }
  return late
}

function duration(root: YamlFields, key: string, scope: ExprScope, yaml: YamlText): TypedExpr {
  const text = root.text(key)?.trim()
  if (text === undefined || text === '0') return { kind: 'const', value: 0 }
  const ms = parseDuration(text)
  const param = ms === undefined ? getOwn(scope.params, text) : undefined
  const unitMs = param && getOwn(PARAM_MS, param.unit)
  if (ms === undefined && unitMs === undefined) {
    yaml.complain(root.node(key), `${key} is a duration such as 30m, or a parameter in s, min, h or d`)
    return { kind: 'const', value: 0 }
  }
  const longest = ms ?? (param?.max ?? 0) * unitMs!
  if (longest > WINDOW_MAX_MS) yaml.complain(root.node(key), `${key} is at most ${WINDOW_MAX_MS / DAY} d`)
  return ms === undefined ? { kind: 'param', name: text, absolute: false } : { kind: 'const', value: ms / 1000 }
}

/** Units of a parameter that is a duration. */
const PARAM_MS = { s: SECOND, min: MINUTE, h: HOUR, d: DAY }

function readCoverage(root: YamlFields, yaml: YamlText): number {
  const share = root.number('min_coverage') ?? MIN_COVERAGE
  if (!(share >= 0 && share <= 1)) yaml.complain(root.node('min_coverage'), 'min_coverage is a share from 0 to 1')
  return share
}

/** Reads patterns of rule ids, and roles whose readers are meant: these must be roles of the rule. */
function readSuppressed(root: YamlFields, roles: Names['roles'], yaml: YamlText): string[] {
  return root.list('suppresses').flatMap(entry => {
    const role = roleOfReaders(entry.text)
    if (role === undefined) return readPatterns([entry], yaml)
    if (getOwn(roles, role) === undefined) yaml.complain(entry.node, `the role ${role} is not declared under roles or optional`)
    return [`${READERS}(${roleOf(role) ?? role})`]
  })
}

/** Reads patterns of rule ids. The number of `*` is limited because each multiplies the work of matching. */
function readPatterns(list: ReturnType<YamlFields['list']>, yaml: YamlText): string[] {
  return list.map(({ text, node }) => {
    const fine = /^[A-Za-z0-9._*-]{1,128}$/.test(text) && text.split('*').length <= 4
    if (!fine) yaml.complain(node, `${text} is neither a rule's id, with at most three *, nor readers`)
    return text
  })
}

// ---- the condition, term by term

/** @returns terms whose expressions are parts of `typed` itself, so that they share its nodes */
function termsOf({ expr, typed, text }: Condition, reading: Reading): ConditionTerm[] {
  if (expr.kind === 'binary' && typed.kind === 'op' && (typed.op === 'and' || typed.op === 'or')) {
    const [left, right] = typed.args as [TypedExpr, TypedExpr]
    return [
      ...termsOf({ expr: expr.left, typed: left, text }, reading),
      ...termsOf({ expr: expr.right, typed: right, text }, reading),
    ]
  }
  const named = expr.kind === 'name' ? reading.texts.get(expr.name) : undefined
  if (named) return termsOf(named, reading)
  const term: ConditionTerm = { text: text.slice(expr.at, expr.end).replace(/\s+/g, ' '), typed, measures: false }
  if (typed.kind === 'op' && ['lt', 'le', 'gt', 'ge', 'ne', 'eq'].includes(typed.op)) {
    term.sides = [typed.args[0]!, typed.args[1]!]
    term.measures = measures(expr, reading)
  }
  return [term]
}

/** Whether an expression contains a measured value: such a term has a degree of severity. */
function measures(expr: Expr, reading: Reading): boolean {
  if (expr.kind === 'number') return false
  if (expr.kind === 'call') return expr.name === 'base' || expr.args.some(arg => measures(arg, reading))
  if (expr.kind === 'unary') return measures(expr.of, reading)
  if (expr.kind === 'binary') return measures(expr.left, reading) || measures(expr.right, reading)
  const named = reading.texts.get(expr.name)
  if (named) return measures(named.expr, reading)
  const role = roleOf(expr.name)
  return expr.name === 'oaf' || expr.name === reading.scope.each || (role !== undefined && !ROLES[role]!.rests)
}

// ---- baselines, causes, sentence

function readBaselines(fields: YamlFields | undefined, reading: Reading): BaselineSpec[] {
  const specs: BaselineSpec[] = []
  for (const name of fields?.keys() ?? []) {
    const field = fields!.fields(name)
    if (!field) continue
    field.need('of')
    const of = expression(field, 'of', reading)
    const spec: BaselineSpec = {
      name,
      of: of?.typed ?? NEVER,
      ...readableUnit(of?.type ?? { kind: 'any' }),
      on: readDrivers(field, reading),
      stat: readStat(field, reading.yaml),
      days: readDays(field, 'days', reading.yaml),
      min_days: readDays(field, 'min_days', reading.yaml),
      minimum: field.duration('minimum') ?? DAY_MINIMUM_MS,
    }
    const when = condition(field, 'when', reading)
    if (when) spec.when = when.typed
    const type: ValueType = of?.type ?? { kind: 'any' }
    const fallback = constant(field, 'fallback', type, reading)
    if (fallback) spec.fallback = fallback
    const step: ValueType = type.kind === 'quantity' ? { ...type, absolute: false } : type
    const cold = constant(field, 'tolerance_cold', step, reading)
    if (cold) spec.tolerance_cold = cold
    if (spec.min_days > spec.days) reading.yaml.complain(field.node('min_days'), 'min_days is at most days')
    field.close()
    reading.scope.baselines.set(name, type)
    specs.push(spec)
  }
  return specs
}

/** The expressions that a baseline depends on, at most `DRIVERS_MAX`. */
function readDrivers(field: YamlFields, { yaml, scope }: Reading): TypedExpr[] {
  const list = field.list('on')
  if (list.length > DRIVERS_MAX) yaml.complain(field.node('on'), `a baseline depends on at most ${DRIVERS_MAX} expressions`)
  if (list.length > 0 && field.has('stat'))
    yaml.complain(field.node('stat'), 'a baseline with on is fitted to all values of a day and has no stat')
  return list.flatMap(({ text, node }) => {
    const checked = attempt(yaml, node, () => checkExpr(parseExpr(text), scope))
    return checked ? [checked.typed] : []
  })
}

function readStat(field: YamlFields, yaml: YamlText): number | 'avg' {
  const text = field.text('stat') ?? 'median'
  if (text === 'median') return 0.5
  if (text === 'avg') return 'avg'
  const percent = /^p(\d{1,2})$/.exec(text)?.[1]
  if (percent === undefined) yaml.complain(field.node('stat'), 'stat is median, avg or a percentile such as p05')
  return Number(percent) / 100
}

function readDays(field: YamlFields, key: string, yaml: YamlText): number {
  const days = field.number(key)
  if (days !== undefined && Number.isInteger(days) && days >= 1 && days <= BASELINE_DAYS_MAX) return days
  yaml.complain(field.node(key) ?? field.map, `${key} is a number of days from 1 to ${BASELINE_DAYS_MAX}`)
  return 1
}

function constant(field: YamlFields, key: string, type: ValueType, reading: Reading): TypedExpr | undefined {
  const text = field.text(key)
  if (text === undefined) return undefined
  return attempt(reading.yaml, field.node(key), () => {
    const expr = parseExpr(text)
    // A comparison with the baseline's value determines the unit.
    const other = `__${key}`
    const scope = { ...reading.scope, lets: new Map([[other, { typed: { kind: 'ref', name: other } as TypedExpr, type }]]) }
    const found = checkExpr(expr, scope)
    if (!unifyTypes(type, found.type))
      throw new ExprError(expr.at, `${describeType(type)} is expected here, this is ${describeType(found.type)}`)
    const { typed } = checkExpr(
      { kind: 'binary', op: '==', left: { kind: 'name', name: other, at: 0, end: 0 }, right: expr, at: 0, end: 0 },
      scope,
    )
    return typed.kind === 'op' ? typed.args[1] : undefined
  })
}

function readCauses(fields: YamlFields | undefined, reading: Reading): Program['causes'] {
  return (fields?.keys() ?? []).flatMap((component): Program['causes'] => {
    if (isScalar(fields!.node(component))) return [{ component, weight: fields!.number(component) ?? 0 }]
    const cases = fields!.fields(component)
    return (cases?.keys() ?? []).map(text => {
      const when = conditionOfKey(cases!, text, reading)
      return { component, weight: cases!.number(text) ?? 0, when: when ?? NEVER }
    })
  })
}

const conditionOfKey = (fields: YamlFields, text: string, { yaml, scope }: Reading): TypedExpr | undefined =>
  attempt(yaml, fields.keyNode(text), () => checkCondition(parseExpr(text), scope))

/** `{expression}` in a sentence stands for its value at the worst moment; `{duration}` and `{role}` have their own meaning. */
function readSentence(root: YamlFields, reading: Reading): Program['explains'] {
  const text = root.text('explains') ?? ''
  const parts: Program['explains'] = []
  let last = 0
  for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
    parts.push(text.slice(last, match.index))
    last = match.index + match[0].length
    const word = match[1]!.trim()
    if (word === 'duration' || word === 'role') parts.push({ word })
    else {
      const figure = attempt(
        reading.yaml,
        root.node('explains'),
        () => checkExpr(parseExpr(match[1]!), reading.scope),
        match.index + 1,
      )
      if (!figure) continue
      const isPoints = figure.type.kind === 'quantity' && figure.type.isPoints
      parts.push({ typed: figure.typed, ...readableUnit(figure.type), ...(isPoints && { unit: PERCENTAGE_POINTS }) })
    }
  }
  parts.push(text.slice(last))
  return parts.filter(part => part !== '')
}

function readableUnit(type: ValueType): { unit: string; absolute: boolean } {
  if (type.kind === 'bool') return { unit: 'bool', absolute: false }
  if (type.kind === 'any') return { unit: 'any', absolute: false }
  if (type.kind !== 'quantity') return { unit: type.kind === 'floating' ? type.unit : '', absolute: type.kind === 'floating' }
  if (type.base === 'temperature' && !type.absolute && type.unit === 'degC') return { unit: 'K', absolute: false }
  return { unit: type.unit ?? (type.base === 'temperature' ? 'K' : ''), absolute: type.absolute }
}
