/** Modbus TCP and RTU in the list of field devices, on pages and in imports. */
import { type Static, Type } from '@sinclair/typebox'
import {
  type DriverDefinition,
  choiceField,
  integerField,
  PORT_MAX,
  NO_OTHER_FIELDS,
} from '../../../core/catalogue/driver-definition.ts'
import { WORD_ORDERS } from './byte-order.ts'
import { readModbusRegistry } from './registry.ts'

const ModbusSection = Type.Object(
  {
    host: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Modbus TCP: name or address' })),
    port: Type.Optional(integerField(1, PORT_MAX, 'TCP port; 502 when absent')),
    serial: Type.Optional(
      Type.String({ pattern: '^/', maxLength: 200, description: 'Modbus RTU instead: the port, best by /dev/serial/by-id/...' }),
    ),
    baud: Type.Optional(integerField(300, 4_000_000, 'Bits in a second on the serial line; 19200 when absent')),
    parity: Type.Optional(choiceField(['none', 'even', 'odd'], 'On the serial line; even when absent')),
    stop_bits: Type.Optional(integerField(1, 2, 'On the serial line; 1 when absent')),
    unit_id: integerField(0, 255, 'Unit behind a gateway or on a serial line, else mostly 1'),
    word_order: Type.Optional(choiceField(WORD_ORDERS, 'For points that do not say; ABCD when absent')),
    max_gap: Type.Optional(integerField(0, 124, 'Registers between points that may be read along; 0 for none, 16 when absent')),
  },
  NO_OTHER_FIELDS,
)

type ModbusSection = Static<typeof ModbusSection>

const UNIT_MAX = 255
const HOST_EXAMPLE = '10.0.0.4 or meter.local:502'

export const modbusDefinition = {
  name: 'modbus',
  title: 'Modbus',
  section: ModbusSection,
  telemetry: 'modbus',
  features: { changeNotification: false, priorityArrays: false },
  formatLocation(section) {
    const place = section.serial ?? formatHost(section)
    return place ? `${place} unit ${section.unit_id}` : null
  },
  addressField: {
    example: HOST_EXAMPLE,
    format: formatHost,
    replace({ port: _port, ...others }, text) {
      const address = parseHost(text)
      return address && { ...others, ...address }
    },
  },
  registry: {
    name: 'volttron-modbus',
    title: 'VOLTTRON registry, Modbus',
    read: readModbusRegistry,
    addressExample: HOST_EXAMPLE,
    number: { name: 'unit_id', label: 'Modbus unit', min: 0, max: UNIT_MAX },
    describeDevice(text, unit_id) {
      const address = parseHost(text)
      return address && { ...address, unit_id }
    },
  },
} as const satisfies DriverDefinition<'modbus', typeof ModbusSection>

/** @returns undefined for a device on a serial line */
function formatHost({ host, port }: ModbusSection): string | undefined {
  return host === undefined || port === undefined ? host : `${host}:${port}`
}

/** @returns host and port of `10.0.0.4` or `meter.local:5020`; undefined when the text is neither */
function parseHost(text: string): { host: string; port?: number } | undefined {
  const [, host, portText] = /^([^\s:/]{1,253})(?::(\d{1,5}))?$/.exec(text.trim()) ?? []
  const port = portText === undefined ? undefined : Number(portText)
  if (host === undefined || (port !== undefined && (port < 1 || port > PORT_MAX))) return undefined
  return { host, ...(port !== undefined && { port }) }
}
