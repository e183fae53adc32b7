/**
 * Writes the BACnet points of a catalogue as an EDE set of layout 2.3. Points that EDE cannot express are written as comments, so
 * that their omission is visible.
 *
 * @source BIG-EU, Engineering Data Exchange Template for BACnet Systems, layout 2.3
 */
import type { DeviceAddress } from '../discovery/discovery.ts'
import { engineeringUnit } from '../../../../core/catalogue/engineering-units.ts'
import { DEVICE, parseTarget, PRESENT_VALUE, type Target } from '#shared/core/bacnet/object.ts'
import { objectName } from '#shared/core/bacnet/object-name.ts'
import { POINT_TYPES } from '../device-scan.ts'
import type { PointKind } from '#shared/core/model/model.ts'
import { formatAddress } from '../address.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'

/** The fields of a catalogue entry that EDE uses. */
type EdePoint = {
  point_id: string
  name: string
  address: string
  kind: PointKind
  unit: string
  poll_secs: number
  cov?: boolean
  scale?: number
  offset?: number
  states?: string[]
}
type EdeSource = {
  device_id: string
  name: string
  bacnet: Partial<DeviceAddress> & { host: string; device_instance: number }
  points: EdePoint[]
}
type EdeProject = { name: string; version: string; at: string }
/** Files with their names. */
type EdeSet = { name: string; text: string }[]

/** Author of exported files; the import then takes ids from `keyname`. */
export const AUTHOR = 'Plenum'

const COLUMNS = [
  'keyname',
  'device obj.-instance',
  'object-name',
  'object-type',
  'object-instance',
  'description',
  'present-value-default',
  'min-present-value',
  'max-present-value',
  'settable',
  'supports COV',
  'hi-limit',
  'low-limit',
  'state-text-reference',
  'unit-code',
  'vendor-specific-address',
  'notification-class',
  // Additional columns: the layout has none for polling, and none for an object as people write it (`AI-4`).
  'poll-secs',
  'object',
]
const MANDATORY = 5
/** Plenum writes to no equipment, so no point is settable. */
const NOT_SETTABLE = 'N'
/** Set for points with a subscription; for others the ability of the device is unknown. */
const COV = 'Y'

/** @returns `<name>_EDE.csv`, and `<name>_StateTexts.csv` where points have texts */
export function writeEde(devices: readonly EdeSource[], { name, version, at }: EdeProject): EdeSet {
  const texts = new Map<string, number>()
  const rows = devices.flatMap(device => [deviceRow(device), ...device.points.map(point => pointRow(device, point, texts))])
  const heading = [
    ['# Engineering-Data-Exchange - B.I.G.-EU'],
    ['PROJECT_NAME', name],
    ['VERSION_OF_REFERENCEFILE', version],
    ['TIMESTAMP_OF_LAST_CHANGE', at],
    ['AUTHOR_OF_LAST_CHANGE', AUTHOR],
    ['VERSION_OF_LAYOUT', '2.3'],
    COLUMNS.map((_, i) => `${i === 0 ? '#' : ''}${i < MANDATORY ? 'mandatory' : 'optional'}`),
    COLUMNS.map((column, i) => `${i === 0 ? '# ' : ''}${column}`),
  ]
  const stem = name.replaceAll(/[^\w-]+/g, '_') || 'points'
  const set = [{ name: `${stem}_EDE.csv`, text: tableText([...heading, ...rows]) }]
  return texts.size ? [...set, { name: `${stem}_StateTexts.csv`, text: stateTextsText(texts) }] : set
}

const tableText = (rows: (string | number | undefined)[][]): string => rows.map(row => csvLine(row, ';')).join('')

const deviceRow = ({ device_id, name, bacnet }: EdeSource) => {
  const { device_instance } = bacnet
  const row = [device_id, device_instance, name, DEVICE, device_instance]
  return whole([...row, ...Array.from({ length: 10 }, () => undefined), formatAddress(bacnet)])
}

/** Fills a row up to the number of headings, which some tools require. */
const whole = (cells: (string | number | undefined)[]) => COLUMNS.map((_, i) => cells[i])

function pointRow({ bacnet }: EdeSource, point: EdePoint, references: Map<string, number>) {
  const target = parseTarget(point.address)
  const why = typeof target === 'string' ? target : whyNotEde(point, target)
  if (why !== undefined || typeof target === 'string')
    return [`# not expressible in EDE: ${point.point_id} (${point.address}): ${why}`]
  const { point_id, name, cov, poll_secs } = point
  const row = [point_id, bacnet.device_instance, name, target.type, target.instance, undefined, undefined, undefined, undefined]
  const properties = [NOT_SETTABLE, cov ? COV : undefined, undefined, undefined, referenceOf(point, references), unitIdOf(point)]
  return whole([...row, ...properties, undefined, undefined, poll_secs, objectName(point.address)])
}

/** @returns why EDE cannot express a point; undefined when it can */
function whyNotEde(point: EdePoint, target: Target): string | undefined {
  const { kind, unit, scale, offset, states } = point
  if (target.property !== PRESENT_VALUE || target.index !== undefined) return 'it is not the present value'
  switch (POINT_TYPES.get(target.type)) {
    case 'binary':
      if (kind !== 'bool' || unit !== 'bool') return `a binary object is a bool, not ${kind} in ${unit}`
      return states && states.length !== 2 ? `a binary object has two texts, not ${states.length}` : textFault(states)
    case 'multistate':
      if (kind !== 'enum' || unit !== 'enum') return `a multi-state object is an enum, not ${kind} in ${unit}`
      return states && (states.length < 2 || states[0] !== '') ? 'its states do not count from 1' : textFault(states?.slice(1))
    case 'text':
      return kind !== 'string' || unit !== 'count' || states ? 'a text object is a string' : undefined
    case 'analog':
      if (kind !== 'number' || states) return `an analog object is a number, not ${kind}`
      return unitIdOf(point) === undefined ? `no unit of the standard is ${unit}${scaleWords(scale, offset)}` : undefined
    default:
      return 'objects of this type hold nothing to poll'
  }
}

/** The last text ends the row, and a table does not keep blanks around a text. */
const textFault = (texts: string[] | undefined): string | undefined =>
  texts && (texts.at(-1) === '' || texts.some(text => text !== text.trim() || /[\r\n\t]/.test(text)))
    ? 'its texts begin or end with blanks'
    : undefined

const scaleWords = (scale = 1, offset = 0): string => (scale === 1 && offset === 0 ? '' : ` by ${scale} and ${offset}`)

const unitKey = (unit: string, scale = 1, offset = 0): string => `${unit} ${scale} ${offset}`
/** A power factor is a fraction, but a fraction is no power factor; relative humidity is a percent likewise. */
const NARROW = new Set([15, 29])
const UNIT_IDS = new Map(
  Array.from({ length: 255 }, (_, id) => ({ id, ...engineeringUnit(id) }))
    .filter(({ id }) => !NARROW.has(id))
    .toReversed()
    .flatMap(({ id, ...known }) =>
      known.unit === undefined ? [] : [[unitKey(known.unit, known.scale, known.offset), id] as const],
    ),
)

const unitIdOf = ({ kind, unit, scale, offset }: EdePoint): number | undefined =>
  kind === 'number' ? UNIT_IDS.get(unitKey(unit, scale, offset)) : undefined

function referenceOf({ kind, states }: EdePoint, references: Map<string, number>): number | undefined {
  if (!states) return undefined
  // States of a multi-state object count from 1, their texts in the catalogue from 0.
  const key = JSON.stringify(kind === 'enum' ? states.slice(1) : states)
  const known = references.get(key) ?? references.size + 1
  references.set(key, known)
  return known
}

function stateTextsText(references: Map<string, number>): string {
  const rows = Array.from(references, ([key, number]) => [number, ...(JSON.parse(key) as string[])])
  const width = Math.max(...rows.map(row => row.length))
  const names = Array.from(
    { length: width },
    (_, i) => ['#Reference Number', 'Text 1 or Inactive-Text', 'Text 2 or Active-Text'][i] ?? `Text ${i}`,
  )
  return tableText([['#State Text Reference'], names, ...rows])
}
