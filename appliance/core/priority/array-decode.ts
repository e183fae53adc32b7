/** Decodes priority arrays: which properties of an object are read, and what their values mean. */
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

/** The answer to one target: a result, or why there is none. `declined`: the device refused; otherwise it did not answer. */
export type TargetAnswer = ({ result: PropertyResult } | { reason: string; declined: boolean }) & { at: number }
/** By `targetKey`. */
export type TargetAnswers = ReadonlyMap<string, TargetAnswer>

const property = ({ type, instance }: PriorityObject, id: number): Target => ({ type, instance, property: id })
const wholeOf = (object: PriorityObject): Target => property(object, PRIORITY_ARRAY)
const levelsOf = (object: PriorityObject): Target[] =>
  Array.from({ length: LEVELS }, (_, i) => ({ ...wholeOf(object), index: i + 1 }))
const besides = (object: PriorityObject): Target[] =>
  [RELINQUISH_DEFAULT, PRESENT_VALUE, OUT_OF_SERVICE].map(id => property(object, id))

/** The whole array with the other properties; of an input, out-of-service and present value. */
export const wholeTargets = (object: PriorityObject): Target[] =>
  isInput(object.target) ? [PRESENT_VALUE, OUT_OF_SERVICE].map(id => property(object, id)) : [wholeOf(object), ...besides(object)]
/** The array level by level, for a device that does not return it whole. */
export const levelTargets = (object: PriorityObject): Target[] => [...levelsOf(object), ...besides(object)]

/**
 * Decodes the answers to `wholeTargets`.
 *
 * @returns undefined when the device answers and does not return the array whole; its levels may still be readable
 */
export function wholeAnswer(object: PriorityObject, answers: TargetAnswers): ArrayAnswer | undefined {
  if (isInput(object.target)) return inputAnswer(object, answers)
  const array = answers.get(targetKey(wholeOf(object)))
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
  return { object, state: 'read', observed_at: at, slots, ...extrasOf(object, answers) }
}

/** An input has no array. Its value is stored only while it is out of service, because then a person has set it. */
function inputAnswer(object: PriorityObject, answers: TargetAnswers): ArrayAnswer {
  const answer = answers.get(targetKey(property(object, OUT_OF_SERVICE)))
  if (!answer) return { object, state: 'failed', reason: 'it was not asked' }
  if ('reason' in answer) return { object, state: 'failed', reason: answer.reason }
  const { result, at } = answer
  if ('error' in result) {
    const isWithout = result.error.errorCode === UNKNOWN_PROPERTY
    return isWithout ? { object, state: 'not_commandable' } : { object, state: 'failed', reason: formatError(result.error) }
  }
  const { present_value, out_of_service } = extrasOf(object, answers)
  if (out_of_service === undefined) return { object, state: 'failed', reason: 'it does not say whether it is out of service' }
  const slots = Array.from({ length: LEVELS }, (_, i): Slot => ({ level: i + 1, state: 'null' }))
  const set = out_of_service && present_value !== undefined && { present_value }
  return { object, state: 'read', observed_at: at, slots, ...set, out_of_service }
}

/**
 * Decodes the answers to `levelTargets`. A level that the device refuses is an error of that level. A level without an answer
 * makes the whole array fail.
 */
export function levelsAnswer(object: PriorityObject, answers: TargetAnswers): ArrayAnswer {
  const levels = levelsOf(object).map(target => answers.get(targetKey(target)))
  const lost = levels.find(one => !one || ('reason' in one && !one.declined))
  if (lost || levels.includes(undefined)) {
    return { object, state: 'failed', reason: lost && 'reason' in lost ? lost.reason : 'not all levels were asked for' }
  }
  const answered = levels.filter(one => one !== undefined)
  const slots = answered.map((one, i) => levelOf(i + 1, one))
  if (slots.some(({ state }) => state !== 'error')) {
    return { object, state: 'read', observed_at: answered.at(-1)!.at, slots, ...extrasOf(object, answers) }
  }
  const isWithout = answered.every(one => errorCodeOf(one) === UNKNOWN_PROPERTY)
  if (isWithout) return { object, state: 'not_commandable' }
  const [first] = slots
  return { object, state: 'failed', reason: first?.state === 'error' ? first.error : '' }
}

const errorCodeOf = (answer: TargetAnswer): number | undefined =>
  'result' in answer && 'error' in answer.result ? answer.result.error.errorCode : undefined

function levelOf(level: number, answer: TargetAnswer): Slot {
  if ('reason' in answer) return { level, state: 'error', error: answer.reason }
  const { result } = answer
  if ('error' in result) return { level, state: 'error', error: formatError(result.error) }
  const [only] = result.values
  if (only && result.values.length === 1) return slotOf(level, only)
  return { level, state: 'error', error: `${result.values.length} values instead of one` }
}

function slotOf(level: number, value: BacnetValue): Slot {
  if (value.type === 'null') return { level, state: 'null' }
  return { level, state: 'value', type: NAMES[value.type] ?? value.type, value: plainValue(value) }
}

/** Names of 135-2020 20.2.1.4 where those of the decoder differ. `opaque`: constructed data. */
const NAMES: Partial<Record<BacnetValue['type'], string>> = {
  text: 'character-string',
  octets: 'octet-string',
  bits: 'bit-string',
  object: 'object-identifier',
  opaque: 'other',
}

/** A longer text is cut, because one page of the history must fit into a message. */
const TEXT_MAX = 1000
const cut = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text)

/** @returns the value of a level as the journal stores it, for any type */
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

function extrasOf(object: PriorityObject, answers: TargetAnswers): ArrayExtras {
  const valueOf = (id: number): SlotValue | undefined => {
    const one = answers.get(targetKey(property(object, id)))
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
