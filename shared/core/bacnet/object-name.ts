/** BACnet objects as people in the field write them: `AI-4 @ dev 1001, net 5 mac 12`. Stored addresses stay `ahu-1/analog-input,4`. */
import type { PriorityTarget } from '#shared/core/priority/priority-record.ts'
import type { Point } from '#shared/core/model/model.ts'
import { nameTable } from '#shared/core/name-table.ts'
import { type BacnetPlace, parseTarget, PRESENT_VALUE } from './object.ts'

const SHORT_TYPES = nameTable<string>({
  'analog-input': 'AI',
  'analog-output': 'AO',
  'analog-value': 'AV',
  'binary-input': 'BI',
  'binary-output': 'BO',
  'binary-value': 'BV',
  device: 'DEV',
  loop: 'LOOP',
  'multi-state-input': 'MSI',
  'multi-state-output': 'MSO',
  'multi-state-value': 'MSV',
  accumulator: 'ACC',
  'pulse-converter': 'PC',
  'characterstring-value': 'CSV',
  'integer-value': 'IV',
  'large-analog-value': 'LAV',
  'positive-integer-value': 'PIV',
})
const TYPE_OF_SHORT = new Map(Object.entries(SHORT_TYPES).map(([type, short]) => [short, type]))

/** @param address as in the catalogue, `analog-input,4`; its property is left out where it is the present value */
export function objectName(address: string): string {
  const [object = '', property] = address.split(/\/(.*)/s)
  const [type = '', instance = ''] = object.split(',')
  const name = `${SHORT_TYPES[type] ?? `type ${type}`}-${instance}`
  const target = parseTarget(address)
  const isPresent = typeof target !== 'string' && target.property === PRESENT_VALUE && target.index === undefined
  return property === undefined || isPresent ? name : `${name} ${property}`
}

/** @returns `dev 1001` or, behind a router, `dev 1001, net 5 mac 12`; a MAC of one byte, as of MS/TP, in decimal as on its switches */
export function placeName({ device_instance, network, mac }: BacnetPlace): string {
  if (network === undefined || mac === undefined) return `dev ${device_instance}`
  return `dev ${device_instance}, net ${network} mac ${mac.length === 2 ? Number.parseInt(mac, 16) : mac}`
}

/** @returns `AO-7 @ dev 1001` */
export const targetName = ({ device_instance, object_type, object_instance }: PriorityTarget): string =>
  `${objectName(`${object_type},${object_instance}`)} @ dev ${device_instance}`

/** @returns `AI-4 @ dev 1001`; `AI-4` while nobody has said which device it is; undefined where it is no BACnet object */
export function pointObject({ protocol, address, bacnet }: Point['source']): string | undefined {
  const [, object] = address.split(/\/(.*)/s)
  if (protocol !== 'bacnet' || object === undefined) return undefined
  return bacnet ? `${objectName(object)} @ ${placeName(bacnet)}` : objectName(object)
}

/** The object as people write it, or the address of any other point. */
export const addressText = (source: Point['source']): string => pointObject(source) ?? source.address

/** What a search finds a point by: its address as stored, and both parts of what people write. */
export const addressWords = (source: Point['source']): string[] => {
  const object = pointObject(source)
  return object === undefined ? [source.address] : [source.address, object.split(' ')[0]!, object]
}

/** @returns `analog-input,4` for `AI-4`, `ai4` or `AI:4`; any other text as it is */
export function readObjectName(text: string): string {
  const [, short = '', instance = ''] = /^([a-z]+)[-: ]?(\d+)$/i.exec(text.trim()) ?? []
  const type = TYPE_OF_SHORT.get(short.toUpperCase())
  return type === undefined ? text.trim() : `${type},${Number(instance)}`
}
