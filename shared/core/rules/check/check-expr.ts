/** Resolves every name of an expression and checks every dimension; the result is plain data in canonical units. */
import { nameTable } from '#shared/core/name-table.ts'
import { DAY, SECOND } from '#shared/core/time.ts'
import { nearestRoles, ROLES, roleOf } from '#shared/core/model/role.ts'
import {
  asNumber,
  toCanonical,
  describeType,
  factorType,
  multiplyTypes,
  NUMBER_TYPE,
  TIME_TYPE,
  type ValueType,
  typeOfUnit,
  unifyTypes,
  unifySum,
} from '#shared/core/rules/language/dimension.ts'
import {
  type ArgumentKind,
  BASELINE_FUNCTIONS,
  EXPANSIONS,
  FUNCTIONS,
  ZONE_AGGREGATES,
  type FunctionSignature,
  WINDOW_MAX_MS,
} from '#shared/core/rules/language/functions.ts'
import { ExprError } from '#shared/core/rules/language/lex.ts'
import { MACROS } from '#shared/core/rules/language/macros.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { type Expr, parseExpr } from '#shared/core/rules/language/parse-expr.ts'
import type { CheckedExpr, ExprScope, TypedExpr } from './typed-expr.ts'
import { checkSlotFunction, SLOT_FUNCTIONS } from './priority-functions.ts'

const TRUE: TypedExpr = { kind: 'const', value: 1 }
const FALSE: TypedExpr = { kind: 'const', value: 0 }
const op = (name: string, ...args: TypedExpr[]): TypedExpr => ({ kind: 'op', op: name, args })

/** @throws ExprError where a name is unknown or two values do not fit */
export function checkExpr(expr: Expr, scope: ExprScope): CheckedExpr {
  switch (expr.kind) {
    case 'number':
      return checkNumber(expr.value, expr.unit)
    case 'name':
      return checkName(expr, scope)
    case 'call':
      return checkCall(expr, scope)
    case 'unary':
      return checkUnary(expr, scope)
    case 'binary':
      return checkBinary(expr, scope)
  }
}

/** @throws ExprError when the expression is not a condition */
export function checkCondition(expr: Expr, scope: ExprScope): TypedExpr {
  const { typed, type } = checkExpr(expr, scope)
  if (type.kind !== 'bool') throw new ExprError(expr.at, `a condition is expected here, this is ${describeType(type)}`)
  return typed
}

function checkNumber(value: number, unit: string | undefined): CheckedExpr {
  if (unit === undefined) return { typed: { kind: 'const', value }, type: { kind: 'bare' } }
  const type = typeOfUnit(unit, false)
  // A floating literal is converted when it is known whether it is a reading or a difference.
  return { typed: { kind: 'const', value: type.kind === 'floating' ? value : toCanonical(value, unit, false) }, type }
}

function checkName(expr: Expr & { kind: 'name' }, scope: ExprScope): CheckedExpr {
  const { name } = expr
  if (name === 'true' || name === 'false') return { typed: name === 'true' ? TRUE : FALSE, type: { kind: 'bool' } }
  const known = scope.lets.get(name)
  if (known) return known.typed.kind === 'const' ? known : { typed: { kind: 'ref', name }, type: known.type }
  const param = getOwn(scope.params, name)
  if (param) {
    const type: ValueType = param.unit === 'any' ? { kind: 'any' } : asNumber(typeOfUnit(param.unit, false))
    return { typed: { kind: 'param', name, absolute: false }, type }
  }
  if (name === scope.each) return { typed: { kind: 'role', role: 'each', where: 'own' }, type: { kind: 'any' } }
  const unit = getOwn(scope.roles, name)
  if (unit !== undefined) return { typed: { kind: 'role', role: roleOf(name)!, where: 'own' }, type: typeOfUnit(unit, true) }
  if (getOwn(MACROS, name)) return { typed: { kind: 'ref', name }, type: { kind: 'bool' } }
  if (name === 'oaf') {
    scope.oaf = true
    return { typed: { kind: 'ref', name }, type: NUMBER_TYPE }
  }
  throw new ExprError(expr.at, unknownName(name))
}

function unknownName(name: string): string {
  const signature = getOwn(FUNCTIONS, name) ?? getOwn(SLOT_FUNCTIONS, name) ?? getOwn(EXPANSIONS, name)
  if (signature) return `${name} is a function: ${signature.example}`
  if (roleOf(name)) return `the role ${name} is not declared under roles or optional`
  return `${name} is no role, parameter, let or macro (roles like it: ${nearestRoles(name).join(', ')})`
}

function checkUnary(expr: Expr & { kind: 'unary' }, scope: ExprScope): CheckedExpr {
  if (expr.op === 'not') return { typed: op('not', checkCondition(expr.of, scope)), type: { kind: 'bool' } }
  const { typed, type } = checkExpr(expr.of, scope)
  if (typed.kind === 'const') return { typed: { kind: 'const', value: -typed.value }, type: asNumber(type) }
  if (type.kind === 'quantity' && type.absolute) throw new ExprError(expr.at, `${describeType(type)} has no negative`)
  return { typed: op('neg', typed), type: asNumber(type) }
}

const ARITHMETIC = nameTable<string>({ '+': 'add', '-': 'sub', '*': 'mul', '/': 'div' })
const COMPARE = nameTable<string>({ '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge', '==': 'eq', '!=': 'ne' })

function checkBinary(expr: Expr & { kind: 'binary' }, scope: ExprScope): CheckedExpr {
  if (expr.op === 'and' || expr.op === 'or') {
    return {
      typed: op(expr.op, checkCondition(expr.left, scope), checkCondition(expr.right, scope)),
      type: { kind: 'bool' },
    }
  }
  const left = checkExpr(expr.left, scope)
  const right = checkExpr(expr.right, scope)
  if (expr.op === '^') return checkPower(expr, left, right)
  if (COMPARE[expr.op]) {
    const common = unifyTypes(left.type, right.type)
    if (!common) throw mismatch(expr, `cannot compare ${describeType(left.type)} with ${describeType(right.type)}`)
    return { typed: op(COMPARE[expr.op]!, settle(left, common), settle(right, common)), type: { kind: 'bool' } }
  }
  if (expr.op === '+' || expr.op === '-') {
    const sum = unifySum(expr.op, left.type, right.type)
    if (!sum) {
      const [of, what] = [describeType(left.type), describeType(right.type)]
      throw expr.op === '+' ? mismatch(expr, `cannot add ${what} to ${of}`) : mismatch(expr, `cannot subtract ${what} from ${of}`)
    }
    return { typed: fold(expr.op, settle(left, sum.left), settle(right, sum.right)), type: sum.result }
  }
  const type = multiplyTypes(left.type, right.type, expr.op === '*' ? 1 : -1)
  if (!type) throw mismatch(expr, 'a temperature cannot be multiplied or divided: take a difference first')
  return {
    typed: fold(
      expr.op,
      settle(left, factorType(left.type) ?? NUMBER_TYPE),
      settle(right, factorType(right.type) ?? NUMBER_TYPE),
    ),
    type,
  }
}

const mismatch = (expr: Expr & { kind: 'binary' }, message: string) => new ExprError(expr.right.at, message)

function checkPower(expr: Expr & { kind: 'binary' }, left: CheckedExpr, right: CheckedExpr): CheckedExpr {
  const power = right.typed.kind === 'const' ? right.typed.value : 0
  if (power !== 2 && power !== 3) throw new ExprError(expr.right.at, 'a power is 2 or 3')
  let result = left
  for (let times = 1; times < power; times++) {
    const type = multiplyTypes(result.type, left.type, 1)
    if (!type) throw new ExprError(expr.left.at, `${describeType(left.type)} has no power`)
    result = { typed: fold('*', result.typed, left.typed), type }
  }
  return result
}

function fold(sign: string, left: TypedExpr, right: TypedExpr): TypedExpr {
  if (left.kind !== 'const' || right.kind !== 'const') return op(ARITHMETIC[sign]!, left, right)
  const a = left.value
  const b = right.value
  return { kind: 'const', value: sign === '+' ? a + b : sign === '-' ? a - b : sign === '*' ? a * b : a / b }
}

/** Converts a number without a unit, and a temperature literal, to what the other value requires. */
function settle({ typed, type }: CheckedExpr, as: ValueType): TypedExpr {
  if (as.kind !== 'quantity' || (type.kind !== 'bare' && type.kind !== 'floating')) return typed
  if (typed.kind === 'param') return { ...typed, absolute: as.absolute }
  if (typed.kind !== 'const') return typed
  return { kind: 'const', value: toCanonical(typed.value, type.kind === 'floating' ? type.unit : as.unit, as.absolute) }
}

// ---- functions

function checkCall(expr: Expr & { kind: 'call' }, scope: ExprScope): CheckedExpr {
  if (expr.name === 'zones') return checkZones(expr)
  const what = BASELINE_FUNCTIONS.find(name => name === expr.name)
  if (what) return checkBaseline(expr, what, scope)
  const slot = getOwn(SLOT_FUNCTIONS, expr.name)
  if (slot) {
    const role = typedRole(expr.args[0] ?? expr, scope)
    return checkSlotFunction(expr, slot, role, arg => checkArg(arg, 'window', expr.name, scope).typed)
  }
  const expansion = getOwn(EXPANSIONS, expr.name)
  if (expansion) {
    const { args, example, of } = expansion
    if (expr.args.length !== args.length)
      throw new ExprError(expr.at, `${expr.name} takes ${args.length} arguments, for example ${example}`)
    const written = args.reduce((tree, name, index) => replaceName(tree, name, expr.args[index]!), parseExpr(of))
    return checkExpr(written, scope)
  }
  const signature = getOwn(FUNCTIONS, expr.name)
  if (!signature) throw new ExprError(expr.at, `there is no function ${expr.name}`)
  const { args, more } = signature
  if (expr.args.length < args.length || (expr.args.length > args.length && !more)) {
    if (expr.args.length < args.length && args.includes('window'))
      throw new ExprError(expr.at, `${expr.name} needs a window, for example ${signature.example}`)
    throw new ExprError(expr.at, `${expr.name} takes ${args.length} arguments, for example ${signature.example}`)
  }
  if (args[0] === 'role') return checkOfRole(expr, scope, signature)
  return checkPlain(expr, scope, signature)
}

/** Puts `by` in the place of a name; places of errors remain those of what is put in. */
function replaceName(expr: Expr, name: string, by: Expr): Expr {
  const replaced = (of: Expr): Expr => replaceName(of, name, by)
  if (expr.kind === 'name' && expr.name === name) return by
  if (expr.kind === 'call') return { ...expr, args: expr.args.map(replaced) }
  if (expr.kind === 'unary') return { ...expr, of: replaced(expr.of) }
  if (expr.kind === 'binary') return { ...expr, left: replaced(expr.left), right: replaced(expr.right) }
  return expr
}

function checkPlain(expr: Expr & { kind: 'call' }, scope: ExprScope, signature: FunctionSignature): CheckedExpr {
  const wanted = (index: number): ArgumentKind => signature.args[Math.min(index, signature.args.length - 1)]!
  const args = expr.args.map((arg, index) => ({
    ...checkArg(arg, wanted(index), expr.name, scope),
    at: arg.at,
    wanted: wanted(index),
  }))
  const values = args.filter(arg => VALUES.includes(arg.wanted))
  let common: ValueType = values[0]?.type ?? NUMBER_TYPE
  for (const { type, at } of values) {
    const joined = unifyTypes(common, type)
    if (!joined) throw new ExprError(at, `${describeType(type)} does not fit ${describeType(common)}`)
    common = joined
  }
  const step = differenceOf(common)
  const typed = args.map(arg => {
    if (arg.wanted === 'step') return settleStep(arg, step, arg.at)
    return VALUES.includes(arg.wanted) ? settle(arg, common) : arg.typed
  })
  return { typed: op(expr.name, ...typed), type: resultOf(signature, common) }
}

/** Kinds of arguments that must have a common type. */
const VALUES: readonly ArgumentKind[] = ['value', 'either', 'like']

const differenceOf = (type: ValueType): ValueType => (type.kind === 'quantity' ? { ...type, absolute: false } : type)

/** @throws ExprError when the argument is not such a difference */
function settleStep(checked: CheckedExpr, step: ValueType, at: number): TypedExpr {
  if (!unifyTypes(step, checked.type))
    throw new ExprError(at, `${describeType(step)} is expected here, this is ${describeType(checked.type)}`)
  return settle(checked, step)
}

function resultOf({ gives }: FunctionSignature, value: ValueType): ValueType {
  if (gives === 'same') return value
  if (gives === 'bool') return { kind: 'bool' }
  if (gives === 'number') return NUMBER_TYPE
  if (gives === 'time') return TIME_TYPE
  const number = asNumber(value)
  if (number.kind !== 'quantity') return number
  if (gives === 'difference') return differenceOf(number)
  return { kind: 'quantity', base: `hour ${number.base}`.trim(), absolute: false }
}

function checkArg(arg: Expr, wanted: ArgumentKind, name: string, scope: ExprScope): CheckedExpr {
  const checked = checkExpr(arg, scope)
  const { type, typed } = checked
  if (wanted === 'cond' && type.kind !== 'bool')
    throw new ExprError(arg.at, `${name} takes a condition here, not ${describeType(type)}`)
  if (wanted === 'window' && !(type.kind === 'quantity' && type.base === 'time' && isConstant(typed))) {
    throw new ExprError(arg.at, `${name} needs a window here, such as 30m, not ${describeType(type)}`)
  }
  if (wanted === 'window' && typed.kind === 'const' && !(typed.value > 0 && typed.value * SECOND <= WINDOW_MAX_MS)) {
    throw new ExprError(arg.at, `${name} takes a window of more than 0 and at most ${WINDOW_MAX_MS / DAY} d`)
  }
  if (wanted === 'share' && !(type.kind === 'bare' || (type.kind === 'quantity' && type.base === '' && isConstant(typed)))) {
    throw new ExprError(arg.at, `${name} needs a constant from 0 to 1 here`)
  }
  return wanted === 'value' ? { typed, type: asNumber(type) } : checked
}

const isConstant = (typed: TypedExpr): boolean =>
  typed.kind === 'const' ||
  typed.kind === 'param' ||
  (typed.kind === 'op' && ['add', 'sub', 'mul', 'div'].includes(typed.op) && typed.args.every(isConstant))

function typedRole(arg: Expr, scope: ExprScope, elsewhere = false): { role: string; type: ValueType } {
  const { role, unit } = roleArg(arg, scope, elsewhere)
  return { role, type: unit === undefined ? { kind: 'any' } : typeOfUnit(unit, true) }
}

function checkOfRole(expr: Expr & { kind: 'call' }, scope: ExprScope, signature: FunctionSignature): CheckedExpr {
  const [of] = expr.args
  if (expr.name === 'has' && of?.kind === 'name' && !(of.name in scope.roles) && getOwn(MACROS, of.name)) {
    return { typed: op('has', { kind: 'ref', name: of.name }), type: { kind: 'bool' } }
  }
  const { role, type } = typedRole(expr.args[0]!, scope, expr.name === 'parent')
  const typed: TypedExpr = { kind: 'role', role, where: expr.name === 'parent' ? 'parent' : 'own' }
  if (expr.name === 'parent') return { typed, type }
  return { typed: op(expr.name, typed), type: resultOf(signature, type) }
}

/** Resolves a role. A role of another equipment needs no declaration and is read in its canonical unit. */
function roleArg(arg: Expr, scope: ExprScope, elsewhere: boolean): { role: string; unit?: string } {
  if (arg.kind !== 'name') throw new ExprError(arg.at, "a role's name is expected here")
  if (arg.name === scope.each && !elsewhere) return { role: 'each' }
  const role = roleOf(arg.name)
  if (!role) throw new ExprError(arg.at, `${arg.name} is no role (roles like it: ${nearestRoles(arg.name).join(', ')})`)
  const unit = getOwn(scope.roles, arg.name) ?? (elsewhere ? ROLES[role]!.unit : undefined)
  if (unit === undefined) throw new ExprError(arg.at, unknownName(arg.name))
  return { role, unit }
}

function checkZones(expr: Expr & { kind: 'call' }): CheckedExpr {
  const [name, join] = expr.args
  const how = join?.kind === 'name' ? ZONE_AGGREGATES.find(known => known === join.name) : undefined
  if (!name || !how || expr.args.length !== 2)
    throw new ExprError(expr.at, `zones takes a role and one of ${ZONE_AGGREGATES.join(', ')}: zones(damper, avg)`)
  const { role, unit } = roleArg(name, { roles: {}, params: {}, lets: new Map(), baselines: new Map() }, true)
  const type = asNumber(typeOfUnit(how === 'share' ? 'fraction' : unit!, true))
  return {
    typed: { kind: 'zones', role, join: how },
    type: how === 'sum' ? differenceOf(type) : type,
  }
}

function checkBaseline(expr: Expr & { kind: 'call' }, what: (typeof BASELINE_FUNCTIONS)[number], scope: ExprScope): CheckedExpr {
  const [first, second] = expr.args
  const name = first?.kind === 'name' ? first.name : ''
  const type = scope.baselines.get(name)
  if (!type) throw new ExprError(first?.at ?? expr.at, `${name || 'this'} is not declared under baseline`)
  if (expr.args.length !== (what === 'tolerance' ? 2 : 1))
    throw new ExprError(expr.at, `write ${what === 'tolerance' ? 'tolerance(name, warm)' : `${what}(name)`}`)
  const step = differenceOf(type)
  if (what === 'cold') return { typed: { kind: 'baseline', what, name, args: [] }, type: { kind: 'bool' } }
  if (what !== 'tolerance') return { typed: { kind: 'baseline', what, name, args: [] }, type: what === 'base' ? type : step }
  const warm = settleStep(checkExpr(second!, scope), step, second!.at)
  return { typed: { kind: 'baseline', what, name, args: [warm] }, type: step }
}
