/**
 * The wire of a network of the box: another machine on it, whose Ethernet frames go to the emulator and come from it in datagrams.
 * It asks for names by multicast (RFC 6762) and for addresses (RFC 826).
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOPBACK = '127.0.0.1'
const OWN_MAC = Buffer.from('525400000077', 'hex')
const ALL_MACS = Buffer.alloc(6, 0xff)
const MDNS = { mac: Buffer.from('01005e0000fb', 'hex'), address: '224.0.0.251', port: 5353 }
const [IPV4, ARP, UDP, A, IN] = [0x0800, 0x0806, 17, 1, 1]
const MAC_BYTES = 14
const DNS_HEADER = 12
/** The class of a record without the bit that others of the name are to be forgotten. @source RFC 6762, 10.2 */
const CLASS_MASK = 0x7fff
const ASK_MS = 1000

export type Wire = {
  /** What the emulator is told of it, as its network device `id`. */
  netdev(id: string): string
  /**
   * @param from address of the machine that asks
   * @returns the address under which a machine of the network is known by this name; undefined when nobody has said so after `times` questions
   */
  addressOf(name: string, from: string, times: number): Promise<string | undefined>
  /** @returns whether a machine of the network has this address */
  has(address: string, from: string, times: number): Promise<boolean>
  close(): void
}

export async function openWire(): Promise<Wire> {
  const [own, other] = [await bound(), await bound()]
  const [here, there] = [own.address().port, other.address().port]
  // The emulator takes it.
  other.close()
  const heard = new Set<(frame: Buffer) => void>()
  own.on('message', frame => heard.forEach(hear => hear(frame)))

  /** Sends a frame each second until a frame answers it. */
  async function ask<T>(question: Buffer, times: number, read: (frame: Buffer) => T | undefined): Promise<T | undefined> {
    let answer: T | undefined
    const hear = (frame: Buffer) => void (answer ??= read(frame))
    heard.add(hear)
    for (let i = 0; i < times && answer === undefined; i++) {
      own.send(question, there, LOOPBACK)
      await sleep(ASK_MS)
    }
    heard.delete(hear)
    return answer
  }
  return {
    netdev: id =>
      `dgram,id=${id},local.type=inet,local.host=${LOOPBACK},local.port=${there},remote.type=inet,remote.host=${LOOPBACK},remote.port=${here}`,
    addressOf: (name, from, times) => ask(nameQuestion(name, from), times, frame => addressIn(frame, name)),
    has: async (address, from, times) =>
      (await ask(arpQuestion(address, from), times, frame => isArpOf(frame, address))) ?? false,
    close: () => own.close(),
  }
}

async function bound(): Promise<Socket & { address(): AddressInfo }> {
  const socket = createSocket('udp4')
  socket.bind(0, LOOPBACK)
  await once(socket, 'listening')
  return socket
}

const bytesOf = (address: string): Buffer => Buffer.from(address.split('.').map(Number))
const u16 = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer).swap16()
const macFrame = (to: Buffer, type: number, body: Buffer): Buffer => Buffer.concat([to, OWN_MAC, u16(type), body])

function arpQuestion(address: string, from: string): Buffer {
  const nobody = Buffer.alloc(6)
  const request = [u16(1, IPV4), Buffer.from([6, 4]), u16(1), OWN_MAC, bytesOf(from), nobody, bytesOf(address)]
  return macFrame(ALL_MACS, ARP, Buffer.concat(request))
}

function isArpOf(frame: Buffer, address: string): true | undefined {
  const isReply = frame.readUInt16BE(12) === ARP && frame.readUInt16BE(MAC_BYTES + 6) === 2
  return isReply && frame.subarray(MAC_BYTES + 14, MAC_BYTES + 18).equals(bytesOf(address)) ? true : undefined
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map(label => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ])

function nameQuestion(name: string, from: string): Buffer {
  const dns = Buffer.concat([u16(0, 0, 1, 0, 0, 0), nameBytes(name), u16(A, IN)])
  const udp = Buffer.concat([u16(MDNS.port, MDNS.port, 8 + dns.length, 0), dns])
  const ip = Buffer.concat([
    Buffer.from([0x45, 0]),
    u16(20 + udp.length, 1, 0),
    Buffer.from([255, UDP]),
    u16(0),
    bytesOf(from),
    bytesOf(MDNS.address),
  ])
  ip.writeUInt16BE(checksum(ip), 10)
  return macFrame(MDNS.mac, IPV4, Buffer.concat([ip, udp]))
}

/** @source RFC 1071 */
function checksum(header: Buffer): number {
  let sum = 0
  for (let i = 0; i < header.length; i += 2) sum += header.readUInt16BE(i)
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}

/** @returns the address that an answer by multicast gives to a name */
function addressIn(frame: Buffer, name: string): string | undefined {
  if (frame.readUInt16BE(12) !== IPV4 || frame[MAC_BYTES + 9] !== UDP) return undefined
  const udp = frame.subarray(MAC_BYTES + (frame[MAC_BYTES]! & 15) * 4)
  const dns = udp.subarray(8)
  const isAnswer = udp.readUInt16BE(0) === MDNS.port && dns.length >= DNS_HEADER && dns.readUInt16BE(2) >>> 15 === 1
  if (!isAnswer) return undefined
  let at = DNS_HEADER
  for (let i = dns.readUInt16BE(4); i > 0; i--) at = readName(dns, at).end + 4
  for (let i = dns.readUInt16BE(6); i > 0; i--) {
    const { name: of, end } = readName(dns, at)
    const [type, kind, length] = [dns.readUInt16BE(end), dns.readUInt16BE(end + 2) & CLASS_MASK, dns.readUInt16BE(end + 8)]
    if (type === A && kind === IN && of.toLowerCase() === name) return dns.subarray(end + 10, end + 14).join('.')
    at = end + 10 + length
  }
  return undefined
}

/** @source RFC 1035, 4.1.4 */
function readName(dns: Buffer, from: number): { name: string; end: number } {
  const labels: string[] = []
  for (let at = from; ; ) {
    const length = dns.readUInt8(at)
    if (length >= 0xc0) {
      const { name } = readName(dns, dns.readUInt16BE(at) & 0x3fff)
      return { name: [...labels, name].join('.'), end: at + 2 }
    }
    if (length === 0) return { name: labels.join('.'), end: at + 1 }
    labels.push(dns.subarray(at + 1, at + 1 + length).toString('latin1'))
    at += 1 + length
  }
}
