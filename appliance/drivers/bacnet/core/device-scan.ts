/** The properties that a discovery reads of a device and its objects, and the decoding of their values. */
import type { DeviceResult, FoundObject } from './discovery/discovery.ts'
import { DEVICE, type Target, targetKey } from '#shared/core/bacnet/object.ts'
import type { PropertyResult } from './reply.ts'
import type { BacnetValue } from './tag.ts'

const P = {
  activeText: 4,
  description: 28,
  inactiveText: 46,
  modelName: 70,
  objectList: 76,
  objectName: 77,
  stateText: 110,
  units: 117,
  vendorName: 121,
} as const

/** Object types whose present value can be a point, by kind of value (135-2020 12). */
export const POINT_TYPES: ReadonlyMap<number, 'analog' | 'binary' | 'multistate' | 'text'> = new Map([
  ...[0, 1, 2, 12, 23, 24, 45, 46, 48].map(type => [type, 'analog'] as const),
  ...[3, 4, 5].map(type => [type, 'binary'] as const),
  ...[13, 14, 19].map(type => [type, 'multistate'] as const),
  [40, 'text'] as const,
])

/** Names of types that are counted but not proposed; other types are named by their number. */
export const OTHER_TYPES: Record<number, string> = {
  6: 'calendar',
  7: 'command',
  8: 'device',
  9: 'event-enrollment',
  10: 'file',
  11: 'group',
  15: 'notification-class',
  16: 'program',
  17: 'schedule',
  18: 'averaging',
  20: 'trend-log',
  21: 'life-safety-point',
  22: 'life-safety-zone',
  25: 'event-log',
  27: 'trend-log-multiple',
  28: 'load-control',
  29: 'structured-view',
  56: 'network-port',
}

/** Maximum number of entries that are read of an object list; the catalogue accepts as many points of a device. */
export const OBJECTS_MAX = 10_000
/** Maximum number of state texts that are read one by one. */
export const STATE_TEXTS_MAX = 256

const ofDevice = (instance: number, property: number): Target => ({ type: DEVICE, instance, property })

/** Name, vendor and model of the device itself. */
export const deviceTargets = (instance: number): Target[] =>
  [P.objectName, P.vendorName, P.modelName].map(property => ofDevice(instance, property))

export const listTarget = (instance: number): Target => ofDevice(instance, P.objectList)

/** The length of the list is its element 0 (135-2020 12.1). */
export const listLengthTarget = (instance: number): Target => ({ ...listTarget(instance), index: 0 })
export const listEntryTargets = (instance: number, length: number): Target[] =>
  Array.from({ length }, (_, i) => ({ ...listTarget(instance), index: i + 1 }))

/** @returns the properties to read of one object: name, description, and unit or state texts */
export function objectTargets({ type, instance }: { type: number; instance: number }): Target[] {
  const kind = POINT_TYPES.get(type)
  const own = kind === 'analog' ? [P.units] : kind === 'binary' ? [P.inactiveText, P.activeText] : []
  const texts = kind === 'multistate' ? [P.stateText] : []
  return [P.objectName, P.description, ...own, ...texts].map(property => ({ type, instance, property }))
}

/** The state texts of one object, one by one. */
export const stateTargets = ({ type, instance }: { type: number; instance: number }, count: number): Target[] =>
  Array.from({ length: count }, (_, i) => ({ type, instance, property: P.stateText, index: i + 1 }))
export const stateCountTarget = ({ type, instance }: { type: number; instance: number }): Target => ({
  type,
  instance,
  property: P.stateText,
  index: 0,
})
export const stateTextsTarget = ({ type, instance }: { type: number; instance: number }): Target => ({
  type,
  instance,
  property: P.stateText,
})

export type Answers = ReadonlyMap<string, PropertyResult>

/** @returns the values of one property, undefined when the device gave none */
function valuesOf(answers: Answers, target: Target): BacnetValue[] | undefined {
  const result = answers.get(targetKey(target))
  return result && 'values' in result ? result.values : undefined
}

/** @returns the text without control characters, undefined when there is none */
function textOf(answers: Answers, target: Target): string | undefined {
  const [value] = valuesOf(answers, target) ?? []
  return value?.type === 'text' ? clean(value.value) || undefined : undefined
}

export function numberOf(answers: Answers, target: Target): number | undefined {
  const [value] = valuesOf(answers, target) ?? []
  return (value?.type === 'unsigned' || value?.type === 'enumerated') && typeof value.value === 'number' ? value.value : undefined
}

/** @returns texts in order, an empty one where there is none; undefined when the device gave no list of texts */
function textsOf(answers: Answers, target: Target): string[] | undefined {
  const values = valuesOf(answers, target)
  if (!values?.length || values.some(({ type }) => type !== 'text')) return undefined
  return values.map(value => (value.type === 'text' ? clean(value.value) : ''))
}

/** Removes control characters: vendors pad names with NUL and put line breaks into descriptions. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

/** Copies name, vendor and model from the answers to the device. */
export function describeDevice(device: DeviceResult, answers: Answers): void {
  const of = (property: number) => textOf(answers, ofDevice(device.device_instance, property)) ?? null
  device.name = of(P.objectName)
  device.vendor = of(P.vendorName)
  device.model = of(P.modelName)
}

/** @returns the object with the properties in the answers */
export function describeObject({ type, instance }: FoundObject, answers: Answers): FoundObject {
  const at = (property: number): Target => ({ type, instance, property })
  const name = textOf(answers, at(P.objectName))
  const description = textOf(answers, at(P.description))
  const units = numberOf(answers, at(P.units))
  const [inactive, active] = [textOf(answers, at(P.inactiveText)), textOf(answers, at(P.activeText))]
  const texts = inactive !== undefined && active !== undefined ? [inactive, active] : textsOf(answers, at(P.stateText))
  return {
    type,
    instance,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(units !== undefined && { units }),
    ...(texts !== undefined && { texts }),
  }
}

type ListEntries = {
  /** Entries that can be points, in the order of the list, each once. */
  objects: FoundObject[]
  others: Record<string, number>
  /** Entries that are no object identifiers, or occur twice. */
  unusable: number
}

/** Sorts the entries of an object list. */
export function sortEntries(values: readonly (BacnetValue | undefined)[]): ListEntries {
  const objects: FoundObject[] = []
  const others: Record<string, number> = {}
  const seen = new Set<string>()
  let unusable = 0
  for (const value of values) {
    const key = value?.type === 'object' ? `${value.object.type}:${value.object.instance}` : undefined
    if (value?.type !== 'object' || key === undefined || seen.has(key)) {
      unusable++
      continue
    }
    seen.add(key)
    const { type, instance } = value.object
    if (POINT_TYPES.has(type)) objects.push({ type, instance })
    else others[OTHER_TYPES[type] ?? `type ${type}`] = (others[OTHER_TYPES[type] ?? `type ${type}`] ?? 0) + 1
  }
  return { objects, others, unusable }
}

/** @returns the entries of a whole list; undefined when the answer contains none */
export const listValues = (answers: Answers, instance: number): BacnetValue[] | undefined =>
  valuesOf(answers, listTarget(instance))
/** @returns for each requested entry its value, or undefined when there is none */
export const entryValues = (answers: Answers, targets: readonly Target[]): (BacnetValue | undefined)[] =>
  targets.map(target => valuesOf(answers, target)?.[0])
