/** The behaviour of a misbehaving BACnet device on one request, and the bytes of its reply. */
import type { PartsSender } from '../bacnet/segmented-reply.ts'
import { contextId, contextUnsigned, enclosed, enumerated, readTags, real } from '../bacnet/wire.ts'

export type AskedTarget = { type: number; instance: number; property: number; index?: number }
/** A ReadProperty or ReadPropertyMultiple request. */
export type FaultyRequest = { invokeId: number; service: number; targets: AskedTarget[] }

export type Exchange = {
  asked: FaultyRequest
  /** Requests that came before this one. */
  turn: number
  /** The right answer. */
  right: Buffer
  /** Sends an APDU to the one who asked. */
  reply(apdu: Buffer): void
  /** Sends any datagram to the one who asked. */
  send(datagram: Buffer): void
  /** As `reply`, from another socket: of the same address, or of 127.0.0.2. */
  replyFrom(where: 'other_port' | 'other_address', apdu: Buffer): void
  /** `sender` receives the acknowledgements of the parts of this answer, and is closed with the device. */
  hear(sender: Pick<PartsSender, 'take' | 'close'>): void
  after(ms: number, act: () => void): void
  /** In [0, 1), the same in every run. */
  random(): number
  /** State of the device from one request to the next. */
  kept: FaultyRequest[]
}
export type Misbehaviour = (exchange: Exchange) => void

export const READ_PROPERTY = 12

/** Value of analog input `instance` of a misbehaving device. */
export const heldBy = (instance: number): number => instance + 1000
/** Value of every answer that must be discarded. */
const POISON = 666

/** @throws RangeError when it is no such request */
export function readAsked(apdu: Buffer): FaultyRequest {
  const [invokeId, service] = [apdu.readUInt8(2), apdu.readUInt8(3)]
  const tags = readTags(apdu.subarray(4))
  const targets: AskedTarget[] = []
  const property = (of: { type: number; instance: number }, first: number) => {
    const id = tags.unsigned(first)
    targets.push(tags.at(first + 1) ? { ...of, property: id, index: tags.unsigned(first + 1) } : { ...of, property: id })
  }
  if (service === READ_PROPERTY) property(tags.id(0), 1)
  while (!tags.done()) {
    const object = tags.id(0)
    tags.open(1)
    while (!tags.closes(1)) property(object, 0)
  }
  return { invokeId, service, targets }
}

/** The value of one target as its tags: a REAL that must be discarded. */
export const poison = (): Buffer => real(POISON)
export const unknownObject = (): Buffer => Buffer.concat([enumerated(1), enumerated(31)])

/** An acknowledgement with `body` as it is. */
export const ackWith = ({ invokeId, service }: FaultyRequest, body: Buffer): Buffer =>
  Buffer.concat([Buffer.of(0x30, invokeId, service), body])

/** One result, named as asked. `content` is the tagged value, or in a tag 5 the error. */
export function resultOf({ service }: FaultyRequest, target: AskedTarget, content: Buffer, tag = 4): Buffer {
  const { type, instance, property, index } = target
  if (service === READ_PROPERTY) {
    const at = index === undefined ? [] : [contextUnsigned(2, index)]
    return Buffer.concat([contextId(0, type, instance), contextUnsigned(1, property), ...at, enclosed(3, content)])
  }
  const at = index === undefined ? [] : [contextUnsigned(3, index)]
  const result = Buffer.concat([contextUnsigned(2, property), ...at, enclosed(tag, content)])
  return Buffer.concat([contextId(0, type, instance), enclosed(1, result)])
}

/** An acknowledgement whose every target, renamed by `rename`, has the same content. */
export function ackOf(asked: FaultyRequest, content: Buffer, rename = (target: AskedTarget) => target): Buffer {
  return ackWith(asked, Buffer.concat(asked.targets.map(target => resultOf(asked, rename(target), content))))
}
