/** Shape of `config/field-devices.json`: the devices that may be read, and their points. Contract §10. */
import { type Static, Type } from '@sinclair/typebox'
import { HAYSTACK_AUTHS } from '../drivers/haystack/core/endpoint.ts'
import { ID_PATTERN, POINT_KINDS } from '#shared/core/model/model.ts'
import { WORD_ORDERS } from '../drivers/modbus/core/order.ts'

const strict = { additionalProperties: false }
const choice = <const T extends readonly string[]>(choices: T, description: string) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...choices], pattern: `^(${choices.join('|')})$`, description }))
const integer = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description })
const id = (description: string) => Type.String({ pattern: ID_PATTERN, description })

/** Four numbers, 0..255. A name would have to be looked up for every datagram. */
const IPV4 = '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$'
const PORT_MAX = 65_535

const PointEntry = Type.Object(
  {
    point_id: id('Unique in the whole file'),
    address: Type.String({ minLength: 1, maxLength: 200, description: 'What to read; its form is in the README of the driver' }),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    unit: Type.String({ description: 'Unit of the value after scale and offset, for example degF; devices are not asked' }),
    kind: choice(POINT_KINDS, 'What values are'),
    poll_secs: integer(1, 86_400, 'Seconds between reads'),
    cov: Type.Optional(Type.Boolean({ description: 'true: the device tells changes too; BACnet present values only' })),
    scale: Type.Optional(Type.Number({ description: 'value = raw × scale + offset, kind number only; 1 when absent' })),
    offset: Type.Optional(Type.Number({ description: '0 when absent' })),
    role: Type.Optional(Type.String({ description: 'What the point is to its equipment' })),
    equipment_id: Type.Optional(id('An equipment of site.json')),
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
  strict,
)

const Bacnet = Type.Object(
  {
    device_instance: integer(0, 4_194_302, 'Device object of the device'),
    host: Type.String({ pattern: IPV4, description: 'IPv4 address of the device, or of the router before it' }),
    port: Type.Optional(integer(1, PORT_MAX, 'UDP port; 47808 when absent')),
    network: Type.Optional(integer(1, 65_534, 'Network behind the router; goes with mac')),
    mac: Type.Optional(Type.String({ pattern: '^([0-9a-f]{2}){1,7}$', description: 'Address on that network, hexadecimal' })),
    max_apdu: Type.Optional(integer(50, 1476, 'Largest APDU the device takes, bytes; the device is asked when absent')),
    segmentation: Type.Optional(
      Type.Boolean({ description: 'false: it mishandles answers in parts, so it is told not to send any; true when absent' }),
    ),
    rpm_max: Type.Optional(integer(1, 92, 'Most points in one request; 1 means ReadProperty only')),
  },
  strict,
)

const Modbus = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Modbus TCP: name or address' })),
    port: Type.Optional(integer(1, PORT_MAX, 'TCP port; 502 when absent')),
    serial: Type.Optional(
      Type.String({ pattern: '^/', maxLength: 200, description: 'Modbus RTU instead: the port, best by /dev/serial/by-id/...' }),
    ),
    baud: Type.Optional(integer(300, 4_000_000, 'Bits in a second on the serial line; 19200 when absent')),
    parity: Type.Optional(choice(['none', 'even', 'odd'], 'On the serial line; even when absent')),
    stop_bits: Type.Optional(integer(1, 2, 'On the serial line; 1 when absent')),
    unit_id: integer(0, 255, 'Unit behind a gateway or on a serial line, else mostly 1'),
    word_order: Type.Optional(choice(WORD_ORDERS, 'For points that do not say; ABCD when absent')),
    max_gap: Type.Optional(integer(0, 124, 'Registers between points that may be read along; 0 for none, 16 when absent')),
  },
  strict,
)

const Haystack = Type.Object(
  {
    endpoint: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Address of the API, to which the names of ops are added: https://skyspark.example/api/demo/',
    }),
    auth: choice(HAYSTACK_AUTHS, 'How the server knows us; the key or password is in SERVICE_HAYSTACK_API_KEY, never here'),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'For auth scram and basic' })),
  },
  strict,
)

const DeviceEntry = Type.Object(
  {
    device_id: id('Unique in the file'),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    enabled: Type.Boolean({ description: 'false: never asked' }),
    protocol: choice(['bacnet', 'modbus', 'haystack'], 'Which of the sections below is read'),
    bacnet: Type.Optional(Bacnet),
    modbus: Type.Optional(Modbus),
    haystack: Type.Optional(Haystack),
    timeout_ms: Type.Optional(integer(100, 60_000, 'How long the first attempt of a request waits; 3000 when absent')),
    retries: Type.Optional(integer(0, 5, 'Further attempts, each waiting half a timeout longer; 2 when absent')),
    concurrency: Type.Optional(integer(1, 16, 'Requests that a BACnet device takes at a time; 1 when absent')),
    points: Type.Array(PointEntry, { maxItems: 10_000 }),
  },
  strict,
)

/** Published beside this file as field-devices.schema.json. */
export const CatalogueFile = Type.Object(
  { devices: Type.Array(DeviceEntry, { maxItems: 2000 }) },
  { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Field devices and their points', ...strict },
)

export type Catalogue = Static<typeof CatalogueFile>
export type DeviceEntry = Static<typeof DeviceEntry>
export type PointEntry = Static<typeof PointEntry>
