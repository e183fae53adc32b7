/** What a record of a Haystack server means for a point of the catalogue. */
import type { PointKind } from '#shared/core/model/model.ts'
import { convertNumber } from '../../../core/poll/conversion.ts'
import type { Quality, Value } from '#shared/core/telemetry/reading.ts'
import type { HaystackAddress } from './address.ts'
import { type Dict, kindOf, numberOf, textOf } from './grid.ts'
import { haystackConversion } from './unit.ts'

export type HaystackPoint = { address: HaystackAddress; kind: PointKind; unit: string; states: readonly string[] | undefined }

/** `reason` says why a value is not good. */
type PointState = { value: Value; quality: Quality; reason?: string }

/** What the server's own connectors say of the value; another word leaves it uncertain. */
const QUALITY_OF_STATUS: Record<string, Quality> = {
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
}

const bad = (reason: string): PointState => ({ value: null, quality: 'bad', reason })

/**
 * The current value of a point: its `curVal`, in the unit of the catalogue's entry.
 *
 * @param record tags of the record; `curStatus` and `curErr` are of the server's connector to the equipment
 * @source project-haystack.org/doc/lib-phIoT: curVal, curStatus, curErr
 */
export function pointState(record: Dict, point: HaystackPoint): PointState {
  const status = textOf(record.curStatus)
  const quality = status === undefined ? 'good' : (QUALITY_OF_STATUS[status] ?? 'uncertain')
  const said = textOf(record.curErr)
  const why = status === undefined || status === 'ok' ? said : `curStatus is ${status}${said === undefined ? '' : `: ${said}`}`
  if (quality === 'bad') return bad(why!)
  const value = valueOf(record, point)
  if (typeof value === 'object') return bad(why === undefined ? value.reason : `${value.reason}; ${why}`)
  return quality === 'good' ? { value, quality } : { value, quality, reason: why! }
}

/** @returns the value, or in words why there is none */
function valueOf(record: Dict, point: HaystackPoint): Exclude<Value, null> | { reason: string } {
  const { curVal } = record
  const { kind } = point
  const number = numberOf(curVal)
  if (number)
    return kind === 'number' ? inUnit(number.value, number.unit ?? textOf(record.unit), point) : asState(number.value, kind)
  if (typeof curVal === 'boolean' && kind !== 'string') return kind === 'bool' ? curVal : Number(curVal)
  if (typeof curVal === 'string') return ofText(curVal, point)
  const found = kindOf(curVal)
  return { reason: found === 'null' ? 'the record has no curVal' : `curVal is of type ${found}, which fits no ${kind}` }
}

function asState(raw: number, kind: PointKind): Exclude<Value, null> | { reason: string } {
  return convertNumber(raw, { kind, scale: 1, offset: 0 }) ?? { reason: `curVal is ${raw}, which fits no ${kind}` }
}

/** A number without a unit is taken in the entry's: there is nothing to check it by. */
function inUnit(raw: number, given: string | undefined, { unit }: HaystackPoint): number | { reason: string } {
  if (!Number.isFinite(raw)) return { reason: `curVal is ${raw}` }
  if (given === undefined) return raw
  const way = haystackConversion(given, unit)
  return way ? raw * way.scale + way.offset : { reason: `curVal is in ${given}, which does not measure what ${unit} does` }
}

function ofText(text: string, { kind, states }: HaystackPoint): Exclude<Value, null> | { reason: string } {
  if (kind === 'string') return text
  if (kind === 'number') return { reason: `curVal is the text "${textOf(text) ?? ''}", which fits no number` }
  const state = states?.indexOf(text) ?? -1
  if (kind === 'enum')
    return states === undefined || state >= 0 ? text : { reason: `"${textOf(text) ?? ''}" is none of the states` }
  return state === 0 || state === 1 ? state === 1 : { reason: `curVal is the text "${textOf(text) ?? ''}", which fits no bool` }
}
