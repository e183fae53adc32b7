/** The target of a read, and its notation in the catalogue: `analog-input,3` or `analog-output,7/priority-array[8]`. */
import { nameTable } from '#shared/core/name-table.ts'

/** One property of one object. Without `index` the whole property is meant. */
export type Target = { type: number; instance: number; property: number; index?: number }

/** Where a BACnet device is: its instance and, behind a router, its network and the address on it, hexadecimal. */
export type BacnetPlace = { device_instance: number; network?: number; mac?: string }

export const PRESENT_VALUE = 85
export const PRIORITY_ARRAY = 87
export const RELINQUISH_DEFAULT = 104
export const OUT_OF_SERVICE = 81
export const MAX_APDU_LENGTH_ACCEPTED = 62

export const DEVICE = 8
export const CHARACTERSTRING_VALUE = 40
export const LARGE_ANALOG_VALUE = 46

/** Names as in ASHRAE 135-2020, 12. Any other type is written as its number. */
const OBJECT_TYPES = nameTable<number>({
  'analog-input': 0,
  'analog-output': 1,
  'analog-value': 2,
  'binary-input': 3,
  'binary-output': 4,
  'binary-value': 5,
  device: DEVICE,
  loop: 12,
  'multi-state-input': 13,
  'multi-state-output': 14,
  'multi-state-value': 19,
  accumulator: 23,
  'pulse-converter': 24,
  'characterstring-value': CHARACTERSTRING_VALUE,
  'integer-value': 45,
  'large-analog-value': LARGE_ANALOG_VALUE,
  'positive-integer-value': 48,
})

/** The properties a point may be read from by name. Any other is written as its number. */
const PROPERTIES = nameTable<number>({
  description: 28,
  'event-state': 36,
  'object-name': 77,
  'out-of-service': OUT_OF_SERVICE,
  'present-value': PRESENT_VALUE,
  'priority-array': PRIORITY_ARRAY,
  reliability: 103,
  'relinquish-default': RELINQUISH_DEFAULT,
})

const TEXTS = new Set([28, 70, 77])
/** Whether a property is a text in every object that has it: description, model-name, object-name. */
export const isText = (property: number): boolean => TEXTS.has(property)

/** Stand for several properties at once (135-2020 15.7.3.1.2), so no single value can answer them. */
const SPECIAL_PROPERTIES = new Set([8, 80, 105])

const TYPE_MAX = 1023
/** 4,194,303 is the wildcard, which is answered under another name. */
/** Largest object instance; 4194303 is the wildcard (135-2020 20.2.14). */
export const INSTANCE_MAX = 4_194_302
const PROPERTY_MAX = 4_194_303
const INDEX_MAX = 65_535

const ADDRESS = /^([a-z-]+|\d+),(\d+)(?:\/([a-z-]+|\d+)(?:\[(\d+)\])?)?$/

/** @returns the target, or in words what is wrong with the text */
export function parseTarget(text: string): Target | string {
  const match = ADDRESS.exec(text)
  if (!match) return `"${text}" is not written like "analog-input,3" or "analog-input,3/present-value"`
  const [, typeText = '', instanceText, propertyText = 'present-value', indexText] = match
  const type = lookUp(OBJECT_TYPES, typeText)
  if (type === undefined || type > TYPE_MAX)
    return `"${typeText}" is no object type (a name such as analog-input, or 0..${TYPE_MAX})`
  const instance = Number(instanceText)
  if (instance > INSTANCE_MAX) return `instance ${instanceText} is above ${INSTANCE_MAX}`
  const property = lookUp(PROPERTIES, propertyText)
  if (property === undefined || property > PROPERTY_MAX || SPECIAL_PROPERTIES.has(property)) {
    return `"${propertyText}" is no property that has one value (a name such as present-value, or a number)`
  }
  if (indexText === undefined) return { type, instance, property }
  const index = Number(indexText)
  if (index < 1 || index > INDEX_MAX) return `array index ${indexText} is not in 1..${INDEX_MAX}`
  return { type, instance, property, index }
}

/** @returns in words why a target is no value that can be polled */
export const notOneValue = ({ property, index }: Target): string | undefined =>
  property === PRIORITY_ARRAY && index === undefined
    ? 'a priority array has sixteen values; poll one of them, as priority-array[8], or none: visits keep them all'
    : undefined

const lookUp = (names: Record<string, number>, text: string): number | undefined =>
  /^\d/.test(text) ? Number(text) : names[text]

/** Names of numbers. Of two names with one number the first is written. */
const byNumber = (names: Record<string, number>): ReadonlyMap<number, string> =>
  new Map(
    Object.entries(names)
      .toReversed()
      .map(([name, id]) => [id, name]),
  )
const TYPE_NAMES = byNumber(OBJECT_TYPES)
const PROPERTY_NAMES = byNumber(PROPERTIES)

/** Writes a target as the catalogue does; the present value is left unsaid. */
export function formatTarget({ type, instance, property, index }: Target): string {
  const object = `${TYPE_NAMES.get(type) ?? type},${instance}`
  if (property === PRESENT_VALUE && index === undefined) return object
  return `${object}/${PROPERTY_NAMES.get(property) ?? property}${index === undefined ? '' : `[${index}]`}`
}

/** Whether SubscribeCOV is about this value: it takes objects, and means their present value (135-2020 13.1). */
export const tellsChanges = ({ property, index }: Target): boolean => property === PRESENT_VALUE && index === undefined

/** Equal for equal targets. */
export const targetKey = ({ type, instance, property, index = -1 }: Target): string => `${type}:${instance}:${property}:${index}`
