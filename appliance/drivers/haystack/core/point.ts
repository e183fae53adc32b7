/** Turns a record of a Haystack server into the value of a point in the catalogue. */
import { nameTable } from '#shared/core/name-table.ts'
import type { PointKind } from '#shared/core/model/model.ts'
import { convertNumber } from '../../../core/poll/conversion.ts'
import type { Quality, Value } from '#shared/core/telemetry/reading.ts'
import type { HaystackAddress } from './address.ts'
import { type Dict, cellKind, numberOf, textOf } from './grid.ts'
import { haystackConversion } from './unit.ts'

export type HaystackPoint = { address: HaystackAddress; kind: PointKind; unit: string; states: readonly string[] | undefined }

/** `reason`: why the quality is not good. */
type PointState = { value: Value; quality: Quality; reason?: string }

/** Quality by `curStatus`, the state of the server's connector; any other text is uncertain. */
const QUALITY_OF_STATUS = nameTable<Quality>({
  ok: 'good',
  stale: 'stale',
  down: 'bad',
  fault: 'bad',
  disabled: 'bad',
  unknown: 'bad',
  remoteDown: 'bad',
  remoteFault: 'bad',
  remoteDisabled: 'bad',
  remoteUnknown: 'bad',
})

const bad = (reason: string): PointState => ({ value: null, quality: 'bad', reason })

/**
 * The current value of a point: its `curVal`, in the unit of the catalogue's entry.
 *
 * @param record tags of the record; `curStatus` and `curErr` come from the server's connector to the equipment
 * @source project-haystack.org/doc/lib-phIoT: curVal, curStatus, curErr
 */
export function pointState(record: Dict, point: HaystackPoint): PointState {
  const status = textOf(record.curStatus)
  const quality = status === undefined ? 'good' : (QUALITY_OF_STATUS[status] ?? 'uncertain')
  const error = textOf(record.curErr)
  const why = status === undefined || status === 'ok' ? error : `curStatus is ${status}${error === undefined ? '' : `: ${error}`}`
  if (quality === 'bad') return bad(why!)
  const value = valueOf(record, point)
  if (typeof value === 'object') return bad(why === undefined ? value.reason : `${value.reason}; ${why}`)
  return quality === 'good' ? { value, quality } : { value, quality, reason: why! }
}

/** @returns the value, or the reason why there is none */
function valueOf(record: Dict, point: HaystackPoint): Exclude<Value, null> | { reason: string } {
  const { curVal } = record
  const { kind } = point
  const number = numberOf(curVal)
  if (number)
    return kind === 'number' ? convertUnit(number.value, number.unit ?? textOf(record.unit), point) : stateOf(number.value, kind)
  if (typeof curVal === 'boolean' && kind !== 'string') return kind === 'bool' ? curVal : Number(curVal)
  if (typeof curVal === 'string') return valueOfText(curVal, point)
  const found = cellKind(curVal)
  return { reason: found === 'null' ? 'the record has no curVal' : `curVal is a ${found}, which cannot be a ${kind}` }
}

function stateOf(raw: number, kind: PointKind): Exclude<Value, null> | { reason: string } {
  return convertNumber(raw, { kind, scale: 1, offset: 0 }) ?? { reason: `curVal is ${raw}, which cannot be a ${kind}` }
}

/** A number without a unit is taken to be in the unit of the entry, because nothing contradicts it. */
function convertUnit(raw: number, given: string | undefined, { unit }: HaystackPoint): number | { reason: string } {
  if (!Number.isFinite(raw)) return { reason: `curVal is ${raw}` }
  if (given === undefined) return raw
  const conversion = haystackConversion(given, unit)
  if (!conversion) return { reason: `curVal is in ${given}, which cannot be converted to ${unit}` }
  return raw * conversion.scale + conversion.offset
}

function valueOfText(text: string, { kind, states }: HaystackPoint): Exclude<Value, null> | { reason: string } {
  if (kind === 'string') return text
  if (kind === 'number') return { reason: `curVal is the text "${textOf(text) ?? ''}", which cannot be a number` }
  const state = states?.indexOf(text) ?? -1
  if (kind === 'enum')
    return states === undefined || state >= 0 ? text : { reason: `"${textOf(text) ?? ''}" is not one of the states` }
  return state === 0 || state === 1
    ? state === 1
    : { reason: `curVal is the text "${textOf(text) ?? ''}", which cannot be a bool` }
}
