/**
 * The part of a driver that needs no connection: the section of its entries in the list of field devices, its words on pages,
 * its form fields and its file formats. Every process reads every driver's definition, so each one checks the whole list and
 * contains the code of its own protocols only.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { ID, type PointKind } from '#shared/core/model/model.ts'
import type { TelemetryProtocol } from '#shared/core/topic/topics.ts'
import type { Registry } from './registry.ts'
import type { RowRefusal, PointTable } from './table.ts'

/**
 * One protocol. `Section` is the schema of the section that carries the driver's name in an entry; every function below takes a
 * section that this schema accepts.
 */
export type DriverDefinition<Name extends string = string, Section extends TSchema = TSchema> = {
  /** The value of `protocol` in an entry, and the name of its section. */
  readonly name: Name
  /** The name of the protocol on pages. */
  readonly title: string
  readonly section: Section
  /** The last part of the MQTT topic of its readings, and the protocol of its points in the model. */
  readonly telemetry: TelemetryProtocol
  /** The optional features of a point that this protocol has. */
  readonly features: { changeNotification: boolean; priorityArrays: boolean }
  /** @returns one line that says where the device is; null when the section does not say */
  formatLocation(section: Static<Section>): string | null
  /** @returns further lines for the page of the device: term and value */
  listFacts?(section: Static<Section>): [term: string, value: string][]
  /** The field "Address" in the form that corrects a device. Absent when the page cannot change the address. */
  readonly addressField?: AddressField<Static<Section>>
  /** @returns a text that is equal for two point addresses that name the same thing; the address itself when absent */
  addressKey?(address: string): string
  /** Finds enabled devices that must not be read beside each other; the catalogue is accepted with them. */
  findConflicts?(devices: readonly ConflictCandidate<Static<Section>>[]): Map<string, DeviceConflict>
  readonly registry?: RegistryFormat<Static<Section>>
  readonly pointSet?: PointSetFormat
}

type AddressField<Section> = {
  /** How an address is written, as an example. */
  readonly example: string
  /** @returns undefined when this device has no address that the field can show */
  format(section: Section): string | undefined
  /** @returns the section with the address of `text`; undefined when the text is no address */
  replace(section: Section, text: string): Section | undefined
}

export type ConflictCandidate<Section> = { device_id: string; section: Section }
export type DeviceConflict = {
  /** One sentence for the technician. */
  reason: string
  /** false: the device is not read. */
  isRead: boolean
}

/** A VOLTTRON registry: a table of the points of one device, which does not say where that device is. */
export type RegistryFormat<Section> = {
  /** The value of the field `format` in an import. */
  readonly name: `volttron-${string}`
  readonly title: string
  read(table: PointTable): Registry
  /** How the address of a new device is written, as an example. */
  readonly addressExample: string
  /** The whole number that the form asks for beside the address. */
  readonly number: { name: string; label: string; min: number; max: number }
  /** @returns the section of a new device; undefined when `address` is no address */
  describeDevice(address: string, number: number): Section | undefined
}

/** A decoded set of files. A driver adds its own fields. */
export type PointSet = {
  refused: RowRefusal[]
  /** Cells of accepted rows that are ignored. */
  notes: RowRefusal[]
  /** Number of objects without a value to poll, by the name of their type. */
  others: Record<string, number>
}

/** A device of a set as an entry of the catalogue. */
export type ImportedDevice = {
  entry: ImportedEntry
  /** Id of the device in the catalogue when it is already there. */
  known: string | undefined
  /** Its address as text; null when it is unknown. */
  where: string | null
  /** Properties of accepted points that are ignored. */
  notes: string[]
}
/** The section of the driver is in the field with its name. */
type ImportedEntry = Record<string, unknown> & { device_id: string; name: string; points: ImportedPoint[] }
export type ImportedPoint = {
  point_id: string
  address: string
  name: string
  unit: string
  kind: PointKind
  poll_secs: number
  cov?: boolean
  scale?: number
  offset?: number
  states?: string[]
}

/**
 * A set of files with the points of many devices. `Entry` and `Exported` are the fields of a catalogue entry that the format
 * uses, `Address` is the address of a device.
 */
export type PointSetFormat<Set extends PointSet = any, Entry = any, Address = any, Exported = any> = {
  /** The value of the field `format` in an import or export. */
  readonly name: string
  readonly title: string
  /** How the address of a device is written, as an example. */
  readonly addressExample: string
  /** @returns undefined when the text is no address */
  parseAddress(text: string): Address | undefined
  /** Yields now and then, so that other work continues. @throws Problem invalid when a file of the set is missing or doubled */
  read(tables: readonly PointTable[]): Generator<undefined, Set>
  /** @param addresses by device instance; they take precedence over those in the set */
  propose(
    set: Set,
    devices: readonly Entry[],
    settings: { addresses: ReadonlyMap<number, Address>; poll_secs: number },
  ): Iterable<ImportedDevice>
  /** @param project name and version that the files carry, and the date of the export */
  write(devices: readonly Exported[], project: { name: string; version: string; at: string }): { name: string; text: string }[]
}

export const PORT_MAX = 65_535

/** Schemas of the fields of an entry. */
export const NO_OTHER_FIELDS = { additionalProperties: false }
export const choiceField = <const T extends readonly string[]>(choices: T, description: string) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...choices], pattern: `^(${choices.join('|')})$`, description }))
export const integerField = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description })
export const idField = (description: string) => Type.String({ ...ID, description })
