/**
 * Reads an EDE table: the points of BACnet devices as building owners and integrators hand them on.
 *
 * @source BIG-EU, Engineering Data Exchange Template for BACnet Systems, layouts 2.2 and 2.3. The first five columns are
 *   mandatory and stand where the layout has them; the others are found by their heading, because tools rename them
 *   (`settable` and `commandable`) and misspell them (`vendor-specific-addres`)
 */
import { INSTANCE_MAX, DEVICE, parseTarget } from '#shared/core/bacnet/object.ts'
import type { FoundObject } from '../discovery/discovery.ts'
import { OTHER_TYPES, POINT_TYPES } from '../device-scan.ts'
import { unsupportedUnit } from '../../../../core/catalogue/engineering-units.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { readNumberedTexts } from './reference-tables.ts'
import {
  cellOf,
  headerKey,
  isBlank,
  readWhole,
  type RowRefusal,
  type PointTable,
  type TableRow,
} from '../../../../core/catalogue/table.ts'

export type EdeFiles = { main: PointTable; stateTexts?: PointTable; units?: PointTable; objectTypes?: PointTable }

/** `keyname` names the row in the whole file; `unit` is a code of ours where the unit has no number of the standard. */
type EdeObject = FoundObject & { line: number; keyname: string; unit?: string; cov?: true; poll_secs?: number }
export type EdeDevice = {
  device_instance: number
  keyname: string
  /** From the row of its device object; null when there is none. */
  name: string | null
  /** The cell `vendor-specific-address` of its device object. */
  address: string
  objects: EdeObject[]
}
export type Ede = {
  devices: EdeDevice[]
  refused: RowRefusal[]
  /** Cells of accepted rows that are ignored. */
  notes: RowRefusal[]
  /** Number of objects without a value to poll, by the name of their type. */
  others: Record<string, number>
  /** Author of the file. */
  author: string
}

/** The mandatory columns by their position, with their names for refusals. */
const MANDATORY = ['keyname', 'device obj.-instance', 'object-name', 'object-type', 'object-instance'] as const
const TYPE_MAX = 1023
/** Largest unit number of the standard; larger ones belong to vendors. */
const STANDARD_UNIT_MAX = 255
const UNIT_MAX = 65_535
const POLL_SECS_MAX = 86_400
/** Rows between two yields: a few milliseconds of work. */
const ROWS_AT_ONCE = 500

/** Positions of the optional columns that are read. */
type Optional = Record<'description' | 'cov' | 'stateTexts' | 'unit' | 'address' | 'poll', number | undefined>
const LAYOUT: Optional = { description: 5, cov: 10, stateTexts: 13, unit: 14, address: 15, poll: undefined }
const HEADINGS: Record<keyof Optional, RegExp> = {
  description: /^descr/,
  stateTexts: /^statetext/,
  unit: /^unit/,
  address: /^vendorspecificaddr/,
  cov: /^supportscov/,
  poll: /^pollsecs$/,
}

/** Yields now and then, so that other work can continue while a long table is read. */
export function* readEde({ main, stateTexts, units, objectTypes }: EdeFiles): Generator<undefined, Ede> {
  const side = { stateTexts, units, objectTypes }
  const [texts, unitTexts, typeNames] = [side.stateTexts, side.units, side.objectTypes].map(table =>
    table ? readNumberedTexts(table) : undefined,
  )
  const refused: RowRefusal[] = [texts, unitTexts, typeNames].flatMap(read => read?.refused ?? [])
  const notes: RowRefusal[] = []
  const reader = openReader(
    main.file,
    { refused, notes },
    {
      texts: texts?.texts,
      units: unitTexts?.texts ?? new Map(),
      types: typeNames?.texts ?? new Map(),
    },
  )
  let columns = LAYOUT
  let author = ''
  for (const [i, row] of main.rows.entries()) {
    if (i % ROWS_AT_ONCE === 0) yield
    if (isBlank(row)) continue
    const first = cellOf(row, 0).replace(/^#\s*/, '')
    const isComment = cellOf(row, 0).startsWith('#')
    if (columns === LAYOUT && headerKey(first) === 'keyname') columns = findColumns(row)
    else if (/^author_of_last_change$/i.test(first)) author = cellOf(row, 1)
    else if (!isComment && !(columns === LAYOUT && META.test(first))) reader.take(row, columns)
  }
  return { devices: reader.devices(), refused, notes, others: reader.others, author }
}

const META =
  /^(proposal_)?engineering-data-exchange|^(project_name|version_of_referencefile|timestamp_of_last_change|version_of_layout|mandatory)$/i

function findColumns(row: TableRow): Optional {
  const keys = row.cells.map(headerKey)
  const find = (name: keyof Optional): number | undefined => {
    const at = keys.findIndex((key, i) => i >= MANDATORY.length && HEADINGS[name].test(key))
    return at < 0 ? undefined : at
  }
  return {
    description: find('description'),
    cov: find('cov'),
    stateTexts: find('stateTexts'),
    unit: find('unit'),
    address: find('address'),
    poll: find('poll'),
  }
}

type Side = {
  texts: ReadonlyMap<number, string[]> | undefined
  units: ReadonlyMap<number, string[]>
  types: ReadonlyMap<number, string[]>
}

/** The function is long because each row is compared with those before it. */
function openReader(file: string, { refused, notes }: Pick<Ede, 'refused' | 'notes'>, side: Side) {
  const devices = new Map<number, EdeDevice>()
  const others: Record<string, number> = {}
  const seen = new Map<string, number>()

  const deviceOf = (device_instance: number): EdeDevice => {
    const known = devices.get(device_instance)
    if (known) return known
    const device: EdeDevice = { device_instance, keyname: '', name: null, address: '', objects: [] }
    devices.set(device_instance, device)
    return device
  }
  const take = (row: TableRow, columns: Optional): void => {
    const refuse = (column: string, message: string) => void refused.push({ file, line: row.line, column, message })
    const note = (column: string, message: string) => void notes.push({ file, line: row.line, column, message })
    const numbers = [
      { column: 1, max: INSTANCE_MAX },
      { column: 3, max: TYPE_MAX }, // or a name
      { column: 4, max: INSTANCE_MAX },
    ].map(({ column, max }) => {
      const text = cellOf(row, column)
      const value = column === 3 ? readType(text) : readWhole(text, max)
      if (typeof value === 'string') refuse(MANDATORY[column]!, value)
      return value
    })
    const [device_instance, type, instance] = numbers
    if (typeof device_instance !== 'number' || typeof type !== 'number' || typeof instance !== 'number') return
    const key = `${device_instance}:${type}:${instance}`
    const before = seen.get(key)
    if (before !== undefined)
      return refuse('object-instance', `this object of device ${device_instance} is already on line ${before}`)
    seen.set(key, row.line)
    const keyname = cellOf(row, 0)
    const name = cellOf(row, 2) || keyname
    if (type === DEVICE) {
      if (instance !== device_instance)
        return refuse('object-instance', `a device object has the number of its device, ${device_instance}`)
      Object.assign(deviceOf(device_instance), { keyname, name: name || null, address: cellOf(row, columns.address) })
      return
    }
    if (!POINT_TYPES.has(type)) {
      const typeName = OTHER_TYPES[type] ?? side.types.get(type)?.[0] ?? `type ${type}`
      others[typeName] = (others[typeName] ?? 0) + 1
      return
    }
    if (name === '') return refuse('object-name', 'is empty, and so is keyname')
    const description = cellOf(row, columns.description)
    const device = deviceOf(device_instance)
    device.objects.push({
      line: row.line,
      keyname,
      type,
      instance,
      name,
      ...(description !== '' && { description }),
      ...unitOf(cellOf(row, columns.unit), side, note),
      ...textsOf(cellOf(row, columns.stateTexts), side, note),
      ...(/^(y|yes|true|1)$/i.test(cellOf(row, columns.cov)) && { cov: true as const }),
      ...pollOf(cellOf(row, columns.poll), note),
    })
  }
  return { take, others, devices: () => [...devices.values()] }
}

/** Some tools write the name of a type instead of its number. */
function readType(text: string): number | string {
  const target = /^[a-z]/.test(text) ? parseTarget(`${text},0`) : undefined
  if (target === undefined) return readWhole(text, TYPE_MAX)
  return typeof target === 'string' ? target : target.type
}

type Note = (column: string, message: string) => void

/** A number of the standard, a vendor's number by the text that the units file has for it, or a text. */
function unitOf(text: string, { units }: Side, note: Note): Pick<EdeObject, 'units' | 'unit'> {
  if (text === '') return {}
  const code = readWhole(text, UNIT_MAX)
  if (typeof code === 'number' && code <= STANDARD_UNIT_MAX) return { units: code }
  const words = typeof code === 'number' ? (units.get(code)?.[0] ?? `units ${code}`) : text
  const unit = unitCode(words)
  if (unit !== undefined) return { unit }
  note('unit-code', unsupportedUnit(words))
  return {}
}

function pollOf(text: string, note: Note): Pick<EdeObject, 'poll_secs'> {
  if (text === '') return {}
  const poll_secs = readWhole(text, POLL_SECS_MAX)
  if (typeof poll_secs === 'number' && poll_secs > 0) return { poll_secs }
  note('poll-secs', `"${text}" is no whole number from 1 to ${POLL_SECS_MAX}; the point is read as often as the import says`)
  return {}
}

function textsOf(text: string, { texts }: Side, note: Note): Pick<EdeObject, 'texts'> {
  if (text === '' || text === '0') return {}
  const known = texts?.get(Number(text))
  if (known) return { texts: known }
  const why = texts ? `there are no state texts ${text}` : 'the file with the state texts is not here'
  note('state-text-reference', `${why}; the point is kept without them`)
  return {}
}
