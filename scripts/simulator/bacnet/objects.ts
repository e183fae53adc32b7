import { bits, boolean, enumerated, nothing, objectId, real, encodeText, unsigned } from './wire.ts'

/** BACnet object types by their usual abbreviation. */
export const OBJECT_TYPES = { AI: 0, AO: 1, AV: 2, BI: 3, BO: 4, BV: 5, MI: 13, MO: 14, MV: 19 } as const

/** Engineering units by the product's unit code, 135-2020 clause 21. */
const BACNET_UNITS: Record<string, number> = {
  degC: 62,
  degF: 64,
  percent: 98,
  Pa: 53,
  kPa: 54,
  inwc: 58,
  'm3/s': 85,
  'L/s': 87,
  cfm: 84,
  kW: 48,
  kWh: 19,
  ppm: 96,
  count: 95,
}

export type SimObject = {
  type: number
  instance: number
  name: string
  /** A key of `BACNET_UNITS`; analog objects only. */
  unit?: string
  /** Present value at this moment; states of multi-state objects count from 1. */
  value: () => number
  /** Multi-state texts. */
  states?: string[]
  /** Answers this error instead of a present value while there is one. */
  error?: () => PropertyError | undefined
  /** Status flag `fault`. */
  faulty?: () => boolean
  /** The command at this moment; without it all sixteen levels of a commandable type are NULL. */
  commands?: Commands
  outOfService?: () => boolean
}

export type Commands = {
  /** The value at a level, 1..16; null where nobody commands. */
  level: (level: number) => number | null | PropertyError
  relinquishDefault: number
  /** `by_level`: it gives single levels and refuses the whole array. `none`: it has no priority array. Default `whole`. */
  array?: 'whole' | 'by_level' | 'none'
}

export type PropertyError = { errorClass: number; errorCode: number }
/** Property id → its encoded value, given the array index asked for. */
type Properties = Map<number, (index: number) => Buffer | PropertyError>
export type PropertyTable = Map<string, Properties>

/** No array index: the whole property. */
export const ARRAY_ALL = 0xffffffff
/** The special property "all". */
export const ALL = 8

export const refuse = {
  unknownObject: { errorClass: 1, errorCode: 31 },
  unknownProperty: { errorClass: 2, errorCode: 32 },
  invalidArrayIndex: { errorClass: 2, errorCode: 42 },
  notAnArray: { errorClass: 2, errorCode: 50 },
} as const satisfies Record<string, PropertyError>

const P = {
  activeText: 4,
  eventState: 36,
  inactiveText: 46,
  maxApdu: 62,
  model: 70,
  numberOfStates: 74,
  id: 75,
  objectList: 76,
  name: 77,
  type: 79,
  outOfService: 81,
  polarity: 84,
  presentValue: 85,
  priorityArray: 87,
  protocolVersion: 98,
  relinquishDefault: 104,
  segmentation: 107,
  stateText: 110,
  statusFlags: 111,
  systemStatus: 112,
  units: 117,
  vendorId: 120,
  vendorName: 121,
  protocolRevision: 139,
} as const

const PRIORITIES = 16
const BINARY: readonly number[] = [OBJECT_TYPES.BI, OBJECT_TYPES.BO, OBJECT_TYPES.BV]
const MULTISTATE: readonly number[] = [OBJECT_TYPES.MI, OBJECT_TYPES.MO, OBJECT_TYPES.MV]
const COMMANDABLE: readonly number[] = [
  OBJECT_TYPES.AO,
  OBJECT_TYPES.AV,
  OBJECT_TYPES.BO,
  OBJECT_TYPES.BV,
  OBJECT_TYPES.MO,
  OBJECT_TYPES.MV,
]

/** The properties of one object, as its type has them. */
export function propertiesOf(object: SimObject): Properties {
  const { type, instance, name, unit, states, error, faulty } = object
  const encode = (value: number): Buffer => {
    if (BINARY.includes(type)) return enumerated(value ? 1 : 0)
    return MULTISTATE.includes(type) ? unsigned(Math.max(1, Math.round(value))) : real(value)
  }
  const properties: Properties = new Map([
    [P.id, single(() => objectId(type, instance))],
    [P.name, single(() => encodeText(name))],
    [P.type, single(() => enumerated(type))],
    [P.presentValue, single(() => error?.() ?? encode(object.value()))],
    [P.statusFlags, single(() => bits([false, error?.() !== undefined || (faulty?.() ?? false), false, false]))],
    [P.eventState, single(() => enumerated(0))],
    [P.outOfService, single(() => boolean(object.outOfService?.() ?? false))],
  ])
  if (BINARY.includes(type)) {
    properties.set(
      P.inactiveText,
      single(() => encodeText('off')),
    )
    properties.set(
      P.activeText,
      single(() => encodeText('on')),
    )
    if (type !== OBJECT_TYPES.BV)
      properties.set(
        P.polarity,
        single(() => enumerated(0)),
      )
  } else if (MULTISTATE.includes(type)) {
    properties.set(
      P.numberOfStates,
      single(() => unsigned(states?.length ?? 1)),
    )
    properties.set(
      P.stateText,
      array(() => (states ?? ['']).map(encodeText)),
    )
  } else {
    properties.set(
      P.units,
      single(() => enumerated(BACNET_UNITS[unit ?? 'count'] ?? BACNET_UNITS.count!)),
    )
  }
  if (COMMANDABLE.includes(type) && object.commands?.array !== 'none') {
    const { commands } = object
    const levels = () => Array.from({ length: PRIORITIES }, (_, i) => commands?.level(i + 1) ?? null)
    const encodeLevel = (value: ReturnType<Commands['level']>) =>
      value === null ? nothing() : typeof value === 'number' ? encode(value) : value
    properties.set(P.priorityArray, index => {
      const all = levels()
      if (index !== ARRAY_ALL) return index === 0 ? unsigned(all.length) : elementOf(all, index, encodeLevel)
      const encoded = all.map(encodeLevel)
      const refused = encoded.find(one => !Buffer.isBuffer(one))
      if (commands?.array === 'by_level') return refuse.invalidArrayIndex
      return refused && !Buffer.isBuffer(refused) ? refused : Buffer.concat(encoded.filter(one => Buffer.isBuffer(one)))
    })
    properties.set(
      P.relinquishDefault,
      single(() => encode(commands?.relinquishDefault ?? (MULTISTATE.includes(type) ? 1 : 0))),
    )
  }
  return properties
}

const elementOf = <T>(all: T[], index: number, encode: (value: T) => Buffer | PropertyError): Buffer | PropertyError => {
  const value = all[index - 1]
  return value === undefined ? refuse.invalidArrayIndex : encode(value)
}

/** The device object's own properties. `list`: encoded object identifiers, the device first. */
export function deviceProperties(device: {
  device_instance: number
  name: string
  list: Buffer[]
  maxApdu: number
  vendor: number
  model?: string | undefined
}): Properties {
  return new Map([
    [P.id, single(() => objectId(8, device.device_instance))],
    [P.name, single(() => encodeText(device.name))],
    [P.type, single(() => enumerated(8))],
    [P.systemStatus, single(() => enumerated(0))],
    [P.vendorName, single(() => encodeText('Simulated'))],
    [P.vendorId, single(() => unsigned(device.vendor))],
    [P.model, single(() => encodeText(device.model ?? 'Simulated controller'))],
    [P.protocolVersion, single(() => unsigned(1))],
    [P.protocolRevision, single(() => unsigned(22))],
    [P.maxApdu, single(() => unsigned(device.maxApdu))],
    [P.segmentation, single(() => enumerated(3))],
    [P.objectList, array(() => device.list)],
  ])
}

const single =
  (read: () => Buffer | PropertyError) =>
  (index: number): Buffer | PropertyError =>
    index === ARRAY_ALL ? read() : refuse.notAnArray

/** Index 0 is the length; elements count from 1 (135-2020 clause 12). */
const array =
  (elements: () => Buffer[]) =>
  (index: number): Buffer | PropertyError => {
    const all = elements()
    if (index === ARRAY_ALL) return Buffer.concat(all)
    if (index === 0) return unsigned(all.length)
    return all[index - 1] ?? refuse.invalidArrayIndex
  }
