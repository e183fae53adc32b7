/** BACnet/IP bytes for tests, written without the product's codec. */
import { contextId } from '#scripts/simulator/bacnet/wire.ts'
import { readAsked } from '#scripts/simulator/faulty/exchange.ts'

/** Puts an APDU into a unicast datagram; `source` as if it came through a router. */
export function datagram(apdu: Buffer, source?: { network: number; mac: number[] }): Buffer {
  const npci = source
    ? Buffer.from([1, 0x08, source.network >> 8, source.network & 0xff, source.mac.length, ...source.mac])
    : Buffer.of(1, 0)
  const length = 4 + npci.length + apdu.length
  return Buffer.concat([Buffer.of(0x81, 0x0a, length >> 8, length & 0xff), npci, apdu])
}

export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

export type Asked = { invokeId: number; service: number; body: Buffer; instances: number[] }

/** Reads a request straight on the IP network; `instances` in the order asked, one property each. */
export function readRequest(bytes: Buffer): Asked {
  const apdu = bytes.subarray(6)
  const [, , invokeId = 0, service = 0] = apdu
  const body = apdu.subarray(4)
  const instances: number[] = []
  for (let at = 0; at + 5 <= body.length; at++) {
    if (body[at] !== 0x0c) continue
    instances.push(body.readUInt32BE(at + 1) & 0x3f_ffff)
    at += 4
  }
  return { invokeId, service, body, instances }
}

const realOf = (value: number): Buffer => {
  const bytes = Buffer.alloc(5, 0x44)
  bytes.writeFloatBE(value, 1)
  return bytes
}
const objectOf = (instance: number): Buffer => {
  const bytes = Buffer.alloc(5, 0x0c)
  bytes.writeUInt32BE(instance, 1)
  return bytes
}

const DEVICE = 8
const OBJECT_IDENTIFIER = 75
/** Of its device object a peer says the object identifier and nothing else. */
function ofDevice(instance: number, property: number): Buffer {
  const id = Buffer.from(objectOf(instance))
  id[0] = 0xc4
  id[1]! |= DEVICE >> 2
  return property === OBJECT_IDENTIFIER ? Buffer.concat([hex('4e'), id, hex('4f')]) : hex('5e 91 02 91 20 5f')
}

function answerOfDevice({ invokeId, service, body }: Asked, valueOf: (instance: number) => number | undefined): Buffer {
  const { targets } = readAsked(Buffer.concat([Buffer.of(0, 5, invokeId, service), body]))
  const results = targets.map(({ type, instance, property }) => {
    const value = valueOf(instance)
    const point = value === undefined ? hex('5e 91 01 91 1f 5f') : Buffer.concat([hex('4e'), realOf(value), hex('4f')])
    const result = type === DEVICE ? ofDevice(instance, property) : point
    return Buffer.concat([contextId(0, type, instance), hex('1e'), Buffer.of(0x29, property), result, hex('1f')])
  })
  if (service === 14) return Buffer.concat([Buffer.of(0x30, invokeId, 14), ...results])
  const [{ type, instance, property }] = targets as [(typeof targets)[0]]
  const found = ofDevice(instance, property)
  if (found[0] !== 0x4e) return Buffer.from([0x50, invokeId, 12, 0x91, 2, 0x91, 32])
  const value = Buffer.concat([hex('3e'), found.subarray(1, -1), hex('3f')])
  return Buffer.concat([Buffer.of(0x30, invokeId, 12), contextId(0, type, instance), Buffer.of(0x19, property), value])
}

/**
 * The answer of analog inputs whose present value is `valueOf(instance)`; `undefined` answers unknown-object. A device object
 * that is asked for beside them answers for itself.
 */
export function answer(asked: Asked, valueOf: (instance: number) => number | undefined): Buffer {
  const { invokeId, service, instances, body } = asked
  if (body[0] === 0x0c && body[1] === DEVICE >> 2) return answerOfDevice(asked, valueOf)
  if (service === 12) {
    const [instance = 0] = instances
    const value = valueOf(instance)
    if (value === undefined) return Buffer.from([0x50, invokeId, 12, 0x91, 1, 0x91, 31])
    return Buffer.concat([Buffer.of(0x30, invokeId, 12), objectOf(instance), hex('19 55 3e'), realOf(value), hex('3f')])
  }
  const results = instances.map(instance => {
    const value = valueOf(instance)
    const result = value === undefined ? hex('5e 91 01 91 1f 5f') : Buffer.concat([hex('4e'), realOf(value), hex('4f')])
    return Buffer.concat([objectOf(instance), hex('1e 29 55'), result, hex('1f')])
  })
  return Buffer.concat([Buffer.of(0x30, invokeId, 14), ...results])
}

/** Pseudo-random numbers in 0..1 that are the same in every run. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e37_79b9) | 0
    const mixed = Math.imul(state ^ (state >>> 13), 3_266_489_917)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}

/** One to four changes: bits turned, bytes set, cut short, doubled, the length mended now and then. */
export function mutate(bytes: Buffer, random: () => number): Buffer {
  let changed: Buffer = Buffer.from(bytes)
  const index = () => Math.floor(random() * changed.length)
  for (let n = 1 + Math.floor(random() * 4); n > 0; n--) {
    const kind = Math.floor(random() * 5)
    if (kind === 0) changed[index()]! ^= 1 << Math.floor(random() * 8)
    else if (kind === 1) changed[index()] = Math.floor(random() * 256)
    else if (kind === 2) changed = changed.subarray(0, 1 + index())
    else if (kind === 3) changed = Buffer.concat([changed.subarray(0, index()), changed.subarray(index())])
    else changed[index()] = [0, 0xff, 0x0e, 0x0f, 0x3e, 0x75, 0xfe][Math.floor(random() * 7)]!
  }
  if (changed.length >= 4 && random() < 0.7) changed.writeUInt16BE(changed.length & 0xffff, 2)
  return changed
}
