import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import {
  apduOf,
  contextId,
  contextUnsigned,
  datagram,
  enclosed,
  enumerated,
  objectId,
  type Reader,
  readTags,
  unsigned,
} from './wire.ts'
import {
  ALL,
  ARRAY_ALL,
  deviceProperties,
  type PropertyError,
  type PropertyTable,
  propertiesOf,
  refuse,
  type SimObject,
} from './objects.ts'
import { openSubscriptions, type Subscribed } from './cov.ts'

/** How a device misbehaves. `late` answers after `lateMs`; the rest as they say. */
type Misbehaviour = 'none' | 'silent' | 'garbage' | 'truncated' | 'wrong_object' | 'late'

export type BacnetDeviceOptions = {
  device_instance: number
  name: string
  objects: SimObject[]
  /** Default 127.0.0.1, any free port. */
  host?: string
  port?: number
  model?: string
  /** Largest APDU the device sends, bytes; it never segments. Default 1476. */
  maxApdu?: number
  /** Answers ReadPropertyMultiple with Reject 9 (unrecognized service). */
  rpm?: boolean
  /** Accepts SubscribeCOV and sends notifications; default false: it is rejected like any service it does not have. */
  cov?: boolean
  /** How long an answer takes, ms. Default 0. */
  latencyMs?: number
  misbehaves?: Misbehaviour
  /** For `late`, ms. */
  lateMs?: number
  /** Says nothing to a request, given as its APDU, of which this is true. */
  ignores?: (request: Buffer) => boolean
  /** Falls silent after so many requests. */
  silentAfter?: number
}

export type BacnetDevice = {
  host: string
  port: number
  device_instance: number
  /** Requests received so far. */
  requests(): number
  misbehave(how: Misbehaviour): void
  /** Sends the present value of an object to its subscribers. */
  tell(type: number, instance: number): void
  /** Subscriptions accepted so far, renewals too. */
  subscribed(): Subscribed[]
  /** Drops the state that a device loses at a power cut. */
  reboot(): void
  close(): Promise<void>
}

const DEVICE = 8
const SUBSCRIBE_COV = 5
const READ_PROPERTY = 12
const READ_PROPERTY_MULTIPLE = 14
const REJECT_UNRECOGNIZED_SERVICE = 9
const REJECT_INVALID_TAG = 4
const ABORT_SEGMENTATION_NOT_SUPPORTED = 4
const NO_SEGMENTATION = 3
/** 999: no vendor that exists is meant. */
const VENDOR = 999
/** Octets by the code in a confirmed request, 135-2020 20.1.2.5. */
const MAX_APDU = [50, 128, 206, 480, 1024, 1476]

/** A request that the device turns down as a whole. */
class Refusal extends Error {
  readonly pdu: Buffer
  constructor(pdu: Buffer) {
    super('refused')
    this.pdu = pdu
  }
}

/**
 * A BACnet/IP device on a real socket: Who-Is, ReadProperty and ReadPropertyMultiple, with errors per property and
 * Abort 4 where an answer does not fit; SubscribeCOV when asked for. It has no service that writes.
 *
 * @throws Error when the address is taken
 */
export async function openBacnetDevice(options: BacnetDeviceOptions): Promise<BacnetDevice> {
  const { device_instance, host = '127.0.0.1', maxApdu = 1476 } = options
  const table = tableOf(options, maxApdu)
  const socket = createSocket({ type: 'udp4', reuseAddr: false })
  const subscriptions = openSubscriptions(device_instance, table)
  const timers = new Set<NodeJS.Timeout>()
  let how: Misbehaviour = options.misbehaves ?? 'none'
  let requests = 0

  const send = (apdu: Buffer, to: RemoteInfo, afterMs: number) => {
    const bytes = datagram(apdu)
    if (afterMs === 0) return socket.send(bytes, to.port, to.address)
    const timer = setTimeout(() => {
      timers.delete(timer)
      socket.send(bytes, to.port, to.address)
    }, afterMs)
    timers.add(timer)
  }

  const tell = (type: number, instance: number) => {
    for (const { apdu, to } of subscriptions.notify(type, instance)) send(apdu, to, 0)
  }

  /** The first notification follows the acknowledgement (135-2020 13.14.2). */
  const subscribe = (apdu: Buffer, from: RemoteInfo) => {
    const { reply, isAccepted } = subscriptions.subscribe(apdu, from)
    send(reply, from, 0)
    const { type, instance } = subscriptions.accepted().at(-1) ?? { type: 0, instance: 0 }
    if (isAccepted) tell(type, instance)
  }

  socket.on('message', (bytes, from) => {
    const apdu = apduOf(bytes)
    if (!apdu || how === 'silent') return
    const kind = apdu.readUInt8(0) >> 4
    if (kind === 1 && apdu[1] === 8) {
      if (isAsked(apdu.subarray(2), device_instance)) send(iAm(device_instance, maxApdu), from, 0)
    } else if (kind === 0 && apdu.length >= 4) {
      requests++
      if (requests > (options.silentAfter ?? Number.POSITIVE_INFINITY) || options.ignores?.(apdu)) return
      if (options.cov && apdu[3] === SUBSCRIBE_COV) return subscribe(apdu, from)
      const reply = distort(answer(apdu, table, maxApdu, options.rpm ?? true), how)
      send(reply, from, how === 'late' ? (options.lateMs ?? 0) : (options.latencyMs ?? 0))
    }
  })
  socket.bind(options.port ?? 0, host)
  await once(socket, 'listening')
  socket.on('error', () => undefined)

  return {
    host,
    port: socket.address().port,
    device_instance,
    requests: () => requests,
    misbehave: next => {
      how = next
    },
    tell,
    subscribed: () => subscriptions.accepted(),
    reboot: () => subscriptions.forget(),
    async close() {
      for (const timer of timers) clearTimeout(timer)
      socket.close()
      await once(socket, 'close')
    },
  }
}

/**
 * The replies of such a device, without a socket.
 *
 * @returns from a confirmed request's APDU the APDU of the acknowledgement, Error, Reject or Abort
 */
export function answererOf(options: BacnetDeviceOptions): (request: Buffer) => Buffer {
  const { maxApdu = 1476, rpm = true } = options
  const table = tableOf(options, maxApdu)
  return request => answer(request, table, maxApdu, rpm)
}

function tableOf({ device_instance, name, objects, model }: BacnetDeviceOptions, maxApdu: number): PropertyTable {
  const table: PropertyTable = new Map(objects.map(object => [key(object.type, object.instance), propertiesOf(object)]))
  const list = [objectId(DEVICE, device_instance), ...objects.map(({ type, instance }) => objectId(type, instance))]
  table.set(key(DEVICE, device_instance), deviceProperties({ device_instance, name, list, maxApdu, vendor: VENDOR, model }))
  return table
}

const key = (type: number, instance: number) => `${type}:${instance}`

function isAsked(range: Buffer, device_instance: number): boolean {
  if (range.length === 0) return true
  try {
    const tags = readTags(range)
    return device_instance >= tags.unsigned(0) && device_instance <= tags.unsigned(1)
  } catch {
    return false
  }
}

/** The APDU of its I-Am. */
export const iAm = (device_instance: number, maxApdu: number): Buffer =>
  Buffer.concat([
    Buffer.of(0x10, 0),
    objectId(DEVICE, device_instance),
    unsigned(maxApdu),
    enumerated(NO_SEGMENTATION),
    unsigned(VENDOR),
  ])

/** @returns the reply to a confirmed request: acknowledgement, Error, Reject or Abort */
function answer(request: Buffer, table: PropertyTable, maxApdu: number, rpm: boolean): Buffer {
  const invoke = request.readUInt8(2)
  const service = request.readUInt8(3)
  const takes = MAX_APDU[request.readUInt8(1) & 0x0f] ?? 50
  try {
    if (service !== READ_PROPERTY && !(service === READ_PROPERTY_MULTIPLE && rpm)) {
      return Buffer.of(0x60, invoke, REJECT_UNRECOGNIZED_SERVICE)
    }
    const tags = readTags(request.subarray(4))
    const body = service === READ_PROPERTY ? readProperty(tags, table, invoke) : readMultiple(tags, table)
    const reply = Buffer.concat([Buffer.of(0x30, invoke, service), body])
    if (reply.length <= Math.min(takes, maxApdu)) return reply
    return Buffer.of(0x71, invoke, ABORT_SEGMENTATION_NOT_SUPPORTED)
  } catch (error) {
    if (error instanceof Refusal) return error.pdu
    if (error instanceof RangeError) return Buffer.of(0x60, invoke, REJECT_INVALID_TAG)
    throw error
  }
}

function readProperty(tags: Reader, table: PropertyTable, invoke: number): Buffer {
  const { type, instance } = tags.id(0)
  const property = tags.unsigned(1)
  const index = tags.done() ? ARRAY_ALL : tags.unsigned(2)
  const value = lookUp(table, type, instance, property, index)
  if (!Buffer.isBuffer(value)) {
    throw new Refusal(Buffer.concat([Buffer.of(0x50, invoke, READ_PROPERTY), errorPair(value)]))
  }
  const at = index === ARRAY_ALL ? [] : [contextUnsigned(2, index)]
  return Buffer.concat([contextId(0, type, instance), contextUnsigned(1, property), ...at, enclosed(3, value)])
}

function readMultiple(tags: Reader, table: PropertyTable): Buffer {
  const results: Buffer[] = []
  while (!tags.done()) {
    const { type, instance } = tags.id(0)
    const values: Buffer[] = []
    tags.open(1)
    while (!tags.closes(1)) {
      const property = tags.unsigned(0)
      const index = tags.at(1) ? tags.unsigned(1) : ARRAY_ALL
      const wanted = property === ALL ? [...(table.get(key(type, instance))?.keys() ?? [property])] : [property]
      for (const one of wanted) values.push(readResult(table, type, instance, one, index))
    }
    results.push(contextId(0, type, instance), enclosed(1, Buffer.concat(values)))
  }
  return Buffer.concat(results)
}

function readResult(table: PropertyTable, type: number, instance: number, property: number, index: number): Buffer {
  const value = lookUp(table, type, instance, property, index)
  const at = index === ARRAY_ALL ? [] : [contextUnsigned(3, index)]
  const content = Buffer.isBuffer(value) ? enclosed(4, value) : enclosed(5, errorPair(value))
  return Buffer.concat([contextUnsigned(2, property), ...at, content])
}

function lookUp(table: PropertyTable, type: number, instance: number, property: number, index: number): Buffer | PropertyError {
  const object = table.get(key(type, instance))
  if (!object) return refuse.unknownObject
  const read = object.get(property)
  return read ? read(index) : refuse.unknownProperty
}

const errorPair = ({ errorClass, errorCode }: PropertyError): Buffer =>
  Buffer.concat([enumerated(errorClass), enumerated(errorCode)])

function distort(reply: Buffer, how: Misbehaviour): Buffer {
  if (how === 'garbage') return Buffer.from(reply.map((byte, i) => (i < 2 ? byte : (byte * 31 + 7 * i) & 0xff)))
  if (how === 'truncated') return reply.subarray(0, Math.max(4, Math.floor(reply.length / 2)))
  if (how === 'wrong_object' && reply.length > 7) {
    const changed = Buffer.from(reply)
    changed.writeUInt8(changed.readUInt8(7) ^ 0x01, 7)
    return changed
  }
  return reply
}
