/** Priority arrays as BACnet gives them: what is asked of an object, and what its answers say. */
import {
  OUT_OF_SERVICE,
  PRESENT_VALUE,
  PRIORITY_ARRAY,
  RELINQUISH_DEFAULT,
  type Target,
  targetKey,
} from '#shared/core/bacnet/object.ts'
import { formatError, UNKNOWN_OBJECT, UNKNOWN_PROPERTY } from '../../drivers/bacnet/core/refusal.ts'
import type { PropertyResult } from '../../drivers/bacnet/core/reply.ts'
import type { BacnetValue } from '../../drivers/bacnet/core/tag.ts'
import { isInput, LEVELS, type Slot, type SlotValue } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer, ArrayExtras } from './array-answer.ts'
import type { PriorityObject } from './visit-objects.ts'

/** What was said to one target: a result, or why there is none. `declined`: the device refused, as against being silent. */
export type Said = ({ result: PropertyResult } | { reason: string; declined: boolean }) & { at: number }
/** By `targetKey`. */
export type AllSaid = ReadonlyMap<string, Said>

const property = ({ type, instance }: PriorityObject, id: number): Target => ({ type, instance, property: id })
const wholeOf = (object: PriorityObject): Target => property(object, PRIORITY_ARRAY)
const levelsOf = (object: PriorityObject): Target[] =>
  Array.from({ length: LEVELS }, (_, i) => ({ ...wholeOf(object), index: i + 1 }))
const besides = (object: PriorityObject): Target[] =>
  [RELINQUISH_DEFAULT, PRESENT_VALUE, OUT_OF_SERVICE].map(id => property(object, id))

/** The whole array, and what stands beside it; of an input whether it is out of service, and its value. */
export const wholeTargets = (object: PriorityObject): Target[] =>
  isInput(object.target) ? [PRESENT_VALUE, OUT_OF_SERVICE].map(id => property(object, id)) : [wholeOf(object), ...besides(object)]
/** The array level by level, for a device that does not give it whole. */
export const levelTargets = (object: PriorityObject): Target[] => [...levelsOf(object), ...besides(object)]

/**
 * Reads the answers to `wholeTargets`.
 *
 * @returns undefined when the device is there and does not give the array whole: its levels may still be had
 */
export function wholeAnswer(object: PriorityObject, said: AllSaid): ArrayAnswer | undefined {
  if (isInput(object.target)) return inputAnswer(object, said)
  const array = said.get(targetKey(wholeOf(object)))
  if (!array) return { object, state: 'failed', reason: 'it was not asked' }
  if ('reason' in array) return array.declined ? undefined : { object, state: 'failed', reason: array.reason }
  const { result, at } = array
  if ('error' in result) {
    const { errorCode } = result.error
    if (errorCode === UNKNOWN_PROPERTY) return { object, state: 'not_commandable' }
    return errorCode === UNKNOWN_OBJECT ? { object, state: 'failed', reason: formatError(result.error) } : undefined
  }
  if (result.values.length !== LEVELS) return undefined
  const slots = result.values.map((value, i) => slotOf(i + 1, value))
  return { object, state: 'read', observed_at: at, slots, ...fallbackOf(object, said) }
}

/** Nothing commands an input. Its value counts while it is out of service: then somebody has set it. */
function inputAnswer(object: PriorityObject, said: AllSaid): ArrayAnswer {
  const answer = said.get(targetKey(property(object, OUT_OF_SERVICE)))
  if (!answer) return { object, state: 'failed', reason: 'it was not asked' }
  if ('reason' in answer) return { object, state: 'failed', reason: answer.reason }
  const { result, at } = answer
  if ('error' in result) {
    const isWithout = result.error.errorCode === UNKNOWN_PROPERTY
    return isWithout ? { object, state: 'not_commandable' } : { object, state: 'failed', reason: formatError(result.error) }
  }
  const { present_value, out_of_service } = fallbackOf(object, said)
  if (out_of_service === undefined) return { object, state: 'failed', reason: 'it does not say whether it is out of service' }
  const slots = Array.from({ length: LEVELS }, (_, i): Slot => ({ level: i + 1, state: 'null' }))
  const set = out_of_service && present_value !== undefined && { present_value }
  return { object, state: 'read', observed_at: at, slots, ...set, out_of_service }
}

/** Reads the answers to `levelTargets`. A level that the device refuses is an error of that level; one that is lost is not. */
export function levelsAnswer(object: PriorityObject, said: AllSaid): ArrayAnswer {
  const levels = levelsOf(object).map(target => said.get(targetKey(target)))
  const lost = levels.find(one => !one || ('reason' in one && !one.declined))
  if (lost || levels.includes(undefined)) {
    return { object, state: 'failed', reason: lost && 'reason' in lost ? lost.reason : 'not all levels were asked for' }
  }
  const answered = levels.filter(one => one !== undefined)
  const slots = answered.map((one, i) => levelOf(i + 1, one))
  if (slots.some(({ state }) => state !== 'error')) {
    return { object, state: 'read', observed_at: answered.at(-1)!.at, slots, ...fallbackOf(object, said) }
  }
  const isWithout = answered.every(one => errorCodeOf(one) === UNKNOWN_PROPERTY)
  if (isWithout) return { object, state: 'not_commandable' }
  const [first] = slots
  return { object, state: 'failed', reason: first?.state === 'error' ? first.error : '' }
}

const errorCodeOf = (said: Said): number | undefined =>
  'result' in said && 'error' in said.result ? said.result.error.errorCode : undefined

function levelOf(level: number, said: Said): Slot {
  if ('reason' in said) return { level, state: 'error', error: said.reason }
  const { result } = said
  if ('error' in result) return { level, state: 'error', error: formatError(result.error) }
  const [only] = result.values
  if (only && result.values.length === 1) return slotOf(level, only)
  return { level, state: 'error', error: `${result.values.length} values where one is due` }
}

function slotOf(level: number, value: BacnetValue): Slot {
  if (value.type === 'null') return { level, state: 'null' }
  return { level, state: 'value', type: NAMES[value.type] ?? value.type, value: plainValue(value) }
}

/** As 135-2020 20.2.1.4 calls them, where the decoder is shorter. `opaque`: date, time and constructed data. */
const NAMES: Partial<Record<BacnetValue['type'], string>> = {
  text: 'character-string',
  octets: 'octet-string',
  bits: 'bit-string',
  object: 'object-identifier',
  opaque: 'other',
}

/** A text that is longer is cut: one page of the history must fit into a message. */
const TEXT_MAX = 1000
const cut = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)

/** What stands for the value of a level that commands, whatever its type. */
function plainValue(value: Exclude<BacnetValue, { type: 'null' }>): SlotValue {
  switch (value.type) {
    case 'octets':
      return cut(Buffer.from(value.value).toString('hex'))
    case 'bits':
      return cut(value.value.map(bit => (bit ? '1' : '0')).join(''))
    case 'object':
      return `${value.object.type},${value.object.instance}`
    case 'opaque':
      return 'not read'
    default:
      return typeof value.value === 'bigint'
        ? String(value.value)
        : typeof value.value === 'string'
          ? cut(value.value)
          : value.value
  }
}

function fallbackOf(object: PriorityObject, said: AllSaid): ArrayExtras {
  const valueOf = (id: number): SlotValue | undefined => {
    const one = said.get(targetKey(property(object, id)))
    const values = one && 'result' in one && 'values' in one.result ? one.result.values : []
    const [only] = values
    return only && only.type !== 'null' && values.length === 1 ? plainValue(only) : undefined
  }
  const present_value = valueOf(PRESENT_VALUE)
  const relinquish_default = valueOf(RELINQUISH_DEFAULT)
  const out_of_service = valueOf(OUT_OF_SERVICE)
  return {
    ...(present_value !== undefined && { present_value }),
    ...(relinquish_default !== undefined && { relinquish_default }),
    ...(typeof out_of_service === 'boolean' && { out_of_service }),
  }
}
