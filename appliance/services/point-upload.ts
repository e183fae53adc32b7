/** Reads the form that uploads files of points: a few files and fields, held in memory. */
import type { FastifyRequest } from 'fastify'
import type { PointTable } from '../core/catalogue/table.ts'
import { errorText } from '#shared/core/error-text.ts'
import { isId } from '#shared/core/model/model.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { partContent, partsOf } from '#shared/node/http/upload.ts'
import type { DeviceCatalogue, DeviceEntry } from '../store/catalogue-schema.ts'
import {
  type Addresses,
  IMPORT_FORMATS,
  type ImportSource,
  readPointSet,
  readRegistryFile,
  REGISTRY_DRIVERS,
  type RegistryDriver,
  SET_DRIVERS,
} from './point-import.ts'
import { readPointTable } from './point-table.ts'

/** The four files of an EDE set. */
const FILES_MAX = 4
/** A table of ten thousand points has about 2 MB. */
const FILE_BYTES_MAX = 16 * 1024 * 1024
/** Limit of the whole form, bytes. */
export const UPLOAD_MAX = 32 * 1024 * 1024
const ZIP = Buffer.from('PK\u0003\u0004')
const FIELD_BYTES_MAX = 256 * 1024
/** The fields that a registry needs for a new device, one for each driver. */
const NUMBER_FIELDS = REGISTRY_DRIVERS.map(({ registry }) => registry.number.name)
const FIELDS = ['csrf', 'format', 'poll_secs', 'device_id', 'name', 'address', ...NUMBER_FIELDS, 'addresses']
const POLL_SECS_MAX = 86_400

type Upload = { tables: PointTable[]; fields: ReadonlyMap<string, string> }

/** @throws Problem bad_request, too_large, or invalid for a file that is no table */
export async function receiveUpload(request: FastifyRequest): Promise<Upload> {
  const tables: PointTable[] = []
  const fields = new Map<string, string>()
  const limits = { fileSize: FILE_BYTES_MAX, files: FILES_MAX, fields: FIELDS.length, fieldSize: FIELD_BYTES_MAX }
  for await (const part of partsOf(request, limits)) {
    if (part.type === 'field') {
      if (!FIELDS.includes(part.fieldname)) {
        throw new Problem('bad_request', `"${part.fieldname}" is no field of this form; it has ${FIELDS.slice(1).join(', ')}`)
      }
      if (part.valueTruncated)
        throw new Problem('too_large', `The field ${part.fieldname} is longer than ${FIELD_BYTES_MAX} bytes`)
      fields.set(part.fieldname, String(part.value))
      continue
    }
    const bytes = await partContent(part)
    if (bytes.subarray(0, 4).equals(ZIP))
      throw new Problem('invalid', `${part.filename} is a ZIP; unpack it and choose its tables`)
    // A browser sends a file without name and content for an empty file field.
    if (bytes.length > 0 || part.filename) tables.push(await readPointTable(part.filename || 'file', bytes))
  }
  if (tables.length === 0) throw new Problem('bad_request', 'The form contains no file')
  return { tables, fields }
}

/** @throws Problem invalid that names each field that is wrong */
export async function readSource({ tables, fields }: Upload, catalogue: DeviceCatalogue): Promise<ImportSource> {
  const format = fields.get('format') ?? ''
  if (!IMPORT_FORMATS.has(format)) throw fault('format', `is one of ${[...IMPORT_FORMATS.keys()].join(', ')}`)
  const poll_secs = wholeField(fields, 'poll_secs', 1, POLL_SECS_MAX)
  const set = SET_DRIVERS.find(({ pointSet }) => pointSet.name === format)
  if (set) return readPointSet(set.pointSet, tables, poll_secs)
  const driver = REGISTRY_DRIVERS.find(({ registry }) => registry.name === format)!
  return readRegistryFile(driver, tables, { device: registryDevice(driver, fields, catalogue), poll_secs })
}

/** `addresses` is a JSON object from device instance to address. @throws Problem invalid that names each place */
export function readAddresses(text: string | undefined, source: ImportSource): Addresses {
  if (text === undefined || text.trim() === '') return new Map()
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw fault('addresses', `is no JSON: ${errorText(error)}`)
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw fault('addresses', 'is no JSON object')
  return addressesOf(Object.entries(given), source)
}

/** @throws Problem invalid that names each place */
export function addressesOf(entries: readonly (readonly [string, unknown])[], { addressFormat }: ImportSource): Addresses {
  if (!addressFormat) return new Map()
  const errors: DataError[] = []
  const addresses = new Map(
    entries.flatMap(([instance, text]) => {
      const address = typeof text === 'string' ? addressFormat.parseAddress(text) : undefined
      if (!address)
        errors.push({
          pointer: `/addresses/${instance}`,
          message: `${typeof text === 'string' ? `"${text}"` : 'what stands there'} is not written like ${addressFormat.addressExample}`,
        })
      return address ? [[Number(instance), address] as const] : []
    }),
  )
  if (errors.length) throw new Problem('invalid', `Device ${errors[0]!.pointer!.slice(11)}: ${errors[0]!.message}`, errors)
  return addresses
}

/** A registry does not name its device: the form names one of the catalogue, or describes a new one. */
function registryDevice({ name, registry }: RegistryDriver, fields: Upload['fields'], catalogue: DeviceCatalogue): DeviceEntry {
  const device_id = fields.get('device_id')?.trim() ?? ''
  if (!isId(device_id)) {
    throw fault('device_id', `"${device_id}" is no id: letters, digits, dots, dashes and underscores, at most 128`)
  }
  const known = catalogue.devices.find(device => device.device_id === device_id)
  if (known && known.protocol !== name) throw fault('device_id', `${device_id} is a ${known.protocol} device`)
  if (known) return known
  const text = fields.get('address')?.trim() ?? ''
  const { name: field, min, max } = registry.number
  const section = registry.describeDevice(text, wholeField(fields, field, min, max))
  if (section === undefined) throw fault('address', `"${text}" is not written like ${registry.addressExample}`)
  const entry = { device_id, name: fields.get('name')?.trim() || device_id, enabled: true, points: [] }
  return { ...entry, protocol: name as DeviceEntry['protocol'], [name]: section }
}

function wholeField(fields: Upload['fields'], name: string, least: number, most: number): number {
  const text = fields.get(name)?.trim() ?? ''
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw fault(name, `"${text}" is no whole number from ${least} to ${most}`)
  return value
}

const fault = (field: string, message: string): Problem =>
  new Problem('invalid', `${field}: ${message}`, [{ pointer: `/${field}`, message }])
