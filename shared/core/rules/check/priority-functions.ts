/**
 * The functions of the language that read a priority array: their arguments and results. `priority/visits.ts` calculates
 * them.
 */
import { nameTable } from '#shared/core/name-table.ts'
import { LEVELS } from '#shared/core/priority/priority-record.ts'
import { slotColumn } from '#shared/core/priority/array-snapshot.ts'
import type { CheckedExpr, TypedExpr } from './typed-expr.ts'
import { NUMBER_TYPE, type ValueType } from '#shared/core/rules/language/dimension.ts'
import { ExprError } from '#shared/core/rules/language/lex.ts'
import type { Expr } from '#shared/core/rules/language/parse-expr.ts'

type SlotFunction = { takes: 'role' | 'level' | 'window'; gives: 'number' | 'bool' | 'value' | 'difference'; example: string }

export const SLOT_FUNCTIONS = nameTable<SlotFunction>({
  active_slot: { takes: 'role', gives: 'number', example: 'active_slot(clg_valve)' },
  overridden: { takes: 'role', gives: 'bool', example: 'overridden(clg_valve)' },
  slot: { takes: 'level', gives: 'value', example: 'slot(clg_valve, 8)' },
  commanded: { takes: 'level', gives: 'bool', example: 'commanded(clg_valve, 8)' },
  writers: { takes: 'role', gives: 'number', example: 'writers(clg_valve)' },
  relinquish_default: { takes: 'role', gives: 'value', example: 'relinquish_default(clg_valve)' },
  command: { takes: 'role', gives: 'value', example: 'command(sa_t_sp)' },
  asked: { takes: 'role', gives: 'value', example: 'asked(clg_valve)' },
  flips: { takes: 'window', gives: 'number', example: 'flips(clg_valve, 1d)' },
  asked_travel: { takes: 'window', gives: 'difference', example: 'asked_travel(clg_valve, 1d)' },
  override_days: { takes: 'window', gives: 'number', example: 'override_days(clg_valve, 14d)' },
})

/**
 * @param role the role that the first argument names, with the type of its values
 * @param windowOf checks the second argument as a window
 * @throws ExprError when the arguments do not fit
 */
export function checkSlotFunction(
  expr: Expr & { kind: 'call' },
  fn: SlotFunction,
  role: { role: string; type: ValueType },
  windowOf: (arg: Expr) => TypedExpr,
): CheckedExpr {
  const [, second] = expr.args
  if (expr.args.length !== (fn.takes === 'role' ? 1 : 2)) throw new ExprError(expr.at, `write ${expr.name} as in ${fn.example}`)
  const level = fn.takes === 'level' ? levelOf(second!) : undefined
  const column: TypedExpr = { kind: 'role', role: slotColumn(expr.name, role.role, level), where: 'own' }
  const type = typeOf(fn, role.type)
  if (fn.takes !== 'window') return { typed: column, type }
  return { typed: { kind: 'op', op: 'delta', args: [column, windowOf(second!)] }, type }
}

function typeOf({ gives }: SlotFunction, role: ValueType): ValueType {
  if (gives === 'bool') return { kind: 'bool' }
  if (gives === 'number') return NUMBER_TYPE
  return gives === 'difference' && role.kind === 'quantity' ? { ...role, absolute: false } : role
}

function levelOf(arg: Expr): number {
  const level = arg.kind === 'number' && arg.unit === undefined ? arg.value : Number.NaN
  if (!(Number.isInteger(level) && level >= 1 && level <= LEVELS))
    throw new ExprError(arg.at, `a level from 1 to ${LEVELS} is expected here`)
  return level
}
