/** Properties of an object that a technician looks at, and their values in words. Numbers are those of ASHRAE 135-2020, 21. */
import { engineeringUnit } from '../../../core/catalogue/engineering-units.ts'
import { DEVICE, formatTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import { nameTable } from '#shared/core/name-table.ts'
import type { BacnetValue } from './tag.ts'

const STATUS_FLAGS = 111
const EVENT_STATE = 36
const RELIABILITY = 103
const UNITS = 117

/** In the order in which they are shown. Most objects have a part of them. */
const OF_OBJECTS = nameTable<number>({
  'object-name': 77,
  description: 28,
  'present-value': PRESENT_VALUE,
  units: UNITS,
  'status-flags': STATUS_FLAGS,
  'event-state': EVENT_STATE,
  reliability: RELIABILITY,
  'out-of-service': 81,
  'priority-array': 87,
  'relinquish-default': 104,
  'state-text': 110,
  'inactive-text': 46,
  'active-text': 4,
  polarity: 84,
  'min-pres-value': 69,
  'max-pres-value': 65,
  'cov-increment': 22,
  'device-type': 31,
})
const OF_DEVICES = nameTable<number>({
  'object-name': 77,
  description: 28,
  location: 58,
  'vendor-name': 121,
  'model-name': 70,
  'firmware-revision': 44,
  'application-software-version': 12,
  'system-status': 112,
  'protocol-revision': 139,
  'max-apdu-length-accepted': 62,
  'segmentation-supported': 107,
  'database-revision': 155,
})
const NAMES = new Map([...Object.entries(OF_DEVICES), ...Object.entries(OF_OBJECTS)].map(([name, id]) => [id, name]))

/** Bits of `status-flags`, the first sent first. */
const FLAGS = ['in-alarm', 'fault', 'overridden', 'out-of-service']
const WORDS: Record<number, readonly string[]> = {
  [EVENT_STATE]: ['normal', 'fault', 'offnormal', 'high-limit', 'low-limit', 'life-safety-alarm'],
  [RELIABILITY]: [
    ...['no-fault-detected', 'no-sensor', 'over-range', 'under-range', 'open-loop', 'shorted-loop', 'no-output'],
    ...['unreliable-other', 'process-error', 'multi-state-fault', 'configuration-error'],
  ],
  84: ['normal', 'reverse'],
  112: ['operational', 'operational-read-only', 'download-required', 'download-in-progress', 'non-operational'],
  107: ['segmented-both', 'segmented-transmit', 'segmented-receive', 'no-segmentation'],
}

/** @returns the numbers of properties that are read of an object when nobody names one */
export const usualProperties = (type: number): number[] => Object.values(type === DEVICE ? OF_DEVICES : OF_OBJECTS)

/** @returns the standard's name, or the number */
export const propertyName = (property: number): string => NAMES.get(property) ?? String(property)

const PROPERTY = /^\d{1,7}$/
const PROPERTY_MAX = 4_194_303
/** @returns the number of a property by its name or its number; undefined for what is neither */
export function propertyNumber(text: string): number | undefined {
  if (PROPERTY.test(text)) return Number(text) <= PROPERTY_MAX ? Number(text) : undefined
  return OF_OBJECTS[text] ?? OF_DEVICES[text]
}

/** @returns a value as the device sent it; what has a name in the standard with that name */
export function valueText(property: number, value: BacnetValue): string {
  switch (value.type) {
    case 'null':
      return 'null'
    case 'enumerated':
      return enumeratedText(property, value.value)
    case 'octets':
      return Buffer.from(value.value).toString('hex')
    case 'bits': {
      const digits = value.value.map(Number).join('')
      if (property !== STATUS_FLAGS) return digits
      const set = FLAGS.filter((_, i) => value.value[i])
      return set.length > 0 ? `${digits} (${set.join(', ')})` : digits
    }
    case 'object':
      return formatTarget({ ...value.object, property: PRESENT_VALUE })
    case 'opaque':
      return '…'
    default:
      return String(value.value)
  }
}

function enumeratedText(property: number, value: number): string {
  const name = property === UNITS ? engineeringUnit(value).name : WORDS[property]?.[value]
  return name === undefined ? String(value) : `${value} (${name})`
}
