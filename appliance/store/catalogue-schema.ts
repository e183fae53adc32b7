/** Shape of `config/field-devices.json`: the devices that may be read, and their points. Contract §10. */
import { type Static, type TOptional, Type } from '@sinclair/typebox'
import { POINT_KINDS } from '#shared/core/model/model.ts'
import {
  type DriverDefinition,
  choiceField,
  idField,
  integerField,
  NO_OTHER_FIELDS,
} from '../core/catalogue/driver-definition.ts'
import { DRIVERS } from '../drivers/list.ts'

const PointEntry = Type.Object(
  {
    point_id: idField('Unique in the whole file'),
    address: Type.String({ minLength: 1, maxLength: 200, description: 'What to read; its form is in the README of the driver' }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    unit: Type.String({ description: 'Unit of the value after scale and offset, for example degF; devices are not asked' }),
    kind: choiceField(POINT_KINDS, 'What values are'),
    poll_secs: integerField(1, 86_400, 'Seconds between reads'),
    cov: Type.Optional(Type.Boolean({ description: 'true: subscribe to changes as well; BACnet present values only' })),
    scale: Type.Optional(Type.Number({ description: 'value = raw × scale + offset, kind number only; 1 when absent' })),
    offset: Type.Optional(Type.Number({ description: '0 when absent' })),
    role: Type.Optional(Type.String({ description: 'What the point is to its equipment' })),
    equipment_id: Type.Optional(idField('An equipment of site.json')),
    priority_history: Type.Optional(
      Type.Boolean({
        description:
          'BACnet: whether visits read the priority array of the object; when absent, that of analog, binary and multi-state outputs and values',
      }),
    ),
    states: Type.Optional(
      Type.Array(Type.String(), { maxItems: 1000, description: 'State texts of an enum or bool; index = number read' }),
    ),
  },
  NO_OTHER_FIELDS,
)

/** The section of each driver, under the driver's name. */
type Sections<D extends readonly DriverDefinition[]> = { [E in D[number] as E['name']]: TOptional<E['section']> }

function sectionsOf<const D extends readonly DriverDefinition[]>(drivers: D): Sections<D> {
  return Object.fromEntries(drivers.map(({ name, section }) => [name, Type.Optional(section)])) as Sections<D>
}

/** @returns the schema of the file when devices may have one of `drivers` */
export const catalogueSchema = <const D extends readonly DriverDefinition[]>(drivers: D) =>
  Type.Object(
    { devices: Type.Array(deviceSchema(drivers), { maxItems: 2000 }) },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Field devices and their points', ...NO_OTHER_FIELDS },
  )

const deviceSchema = <const D extends readonly DriverDefinition[]>(drivers: D) =>
  Type.Object(
    {
      device_id: idField('Unique in the file'),
      name: Type.String({ minLength: 1, maxLength: 200 }),
      enabled: Type.Boolean({ description: 'false: never asked' }),
      protocol: choiceField(
        drivers.map(({ name }): D[number]['name'] => name),
        'Which of the sections below is read',
      ),
      ...sectionsOf(drivers),
      timeout_ms: Type.Optional(integerField(100, 60_000, 'How long the first attempt of a request waits; 3000 when absent')),
      retries: Type.Optional(integerField(0, 5, 'Further attempts, each waiting half a timeout longer; 2 when absent')),
      concurrency: Type.Optional(integerField(1, 16, 'Requests that a BACnet device takes at a time; 1 when absent')),
      points: Type.Array(PointEntry, { maxItems: 10_000 }),
    },
    NO_OTHER_FIELDS,
  )

/** Published beside this file as field-devices.schema.json. */
export const CatalogueFile = catalogueSchema(DRIVERS)
export const DEVICE_ENTRY = CatalogueFile.properties.devices.items

export type DeviceCatalogue = Static<typeof CatalogueFile>
export type DeviceEntry = DeviceCatalogue['devices'][number]
export type PointEntry = Static<typeof PointEntry>
