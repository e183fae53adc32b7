/** The local BACnet/IP addresses: a socket at each, and a second one that receives the broadcasts of its network. */
import { errorText } from '#shared/core/error-text.ts'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import type { Logger } from 'pino'
import type { Endpoint } from './core/frame.ts'
import type { ByteCounts } from '#shared/core/poll/traffic.ts'
import { broadcastOf, isSameSubnet } from './core/address.ts'
import { findPortOwner } from './port-owner.ts'

export type Counters = {
  sent: number
  received: number
  /** Datagrams that are neither a well-formed reply nor an unconfirmed request nor a message between routers. */
  malformed: number
  /** Replies that belong to no open request: late, duplicate or unsolicited. Messages between routers. */
  unmatched: number
  /** Replies with the id of an open request that do not answer it. */
  garbled: number
  /** Unconfirmed requests: I-Am, notifications, Who-Is. */
  unconfirmed: number
}

type Subnet = { address: string; netmask: string }

export type Interface = {
  readonly address: string
  readonly port: number
  readonly counters: Counters
  /** Why broadcasts of this network cannot be received; null when they can. */
  readonly broadcastError: string | null
  /** IP networks that are reached through it at present. */
  subnets(): Subnet[]
  /** @param done called with the error or null, at once or a little later */
  send(datagram: Buffer, to: Endpoint, done: (error: Error | null) => void): void
  close(): Promise<void>
}

export type Interfaces = readonly [Interface, ...Interface[]]
type Receive = (bytes: Buffer, from: Endpoint, through: Interface) => void

const EVERYWHERE = '0.0.0.0'
const ORIGINAL_BROADCAST = 0x0b
/** Receive buffer, bytes, for the answers to a broadcast; the default of the kernel holds about 90 full datagrams. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024

/**
 * @param addresses addresses of this machine; 0.0.0.0 for all of them
 * @param port 0 takes any that is free
 * @throws Error when the port is in use or an address does not belong to this machine; nothing stays open then
 */
export async function openInterfaces(
  [first, ...further]: readonly [string, ...string[]],
  port: number,
  receive: Receive,
  { log, traffic }: { log: Logger; traffic: ByteCounts },
): Promise<Interfaces> {
  const shared = { log, traffic }
  const open: [Interface, ...Interface[]] = [await openInterface(first, port, receive, shared)]
  try {
    for (const address of further) open.push(await openInterface(address, port, receive, shared))
    return open
  } catch (error) {
    await Promise.all(open.map(one => one.close()))
    throw error
  }
}

async function openInterface(
  address: string,
  port: number,
  receive: Receive,
  { log, traffic }: { log: Logger; traffic: ByteCounts },
): Promise<Interface> {
  const socket = await bindSocket(address, port)
  socket.setBroadcast(true)
  const bound = socket.address().port
  const counters: Counters = { sent: 0, received: 0, malformed: 0, unmatched: 0, garbled: 0, unconfirmed: 0 }
  const { broadcastSocket, broadcastError } = await openBroadcastSocket(address, bound)
  let subnets = subnetsOf(address)

  const own: Interface = {
    address,
    port: bound,
    counters,
    broadcastError,
    subnets: () => (subnets = subnetsOf(address)),
    send(datagram, to, done) {
      counters.sent++
      traffic.sent_bytes += datagram.length
      try {
        socket.send(datagram, to.port, to.host, done)
      } catch (error) {
        done(error as Error)
      }
    },
    close: async () => {
      for (const open of [socket, broadcastSocket]) {
        if (!open) continue
        open.close()
        await once(open, 'close')
      }
    },
  }
  for (const open of [socket, broadcastSocket]) {
    open?.on('error', error => log.error({ err: error }, 'BACnet/IP socket error'))
    open?.on('message', (bytes, { address: host, port }) => {
      // The machine also receives its own broadcasts.
      if (port === bound && bytes[1] === ORIGINAL_BROADCAST && subnets.some(one => one.address === host)) return
      counters.received++
      traffic.received_bytes += bytes.length
      receive(bytes, { host, port }, own)
    })
  }
  return own
}

/** @returns the interface on the subnet of the host, otherwise the first */
export function interfaceTo(host: string, interfaces: Interfaces): Interface {
  if (interfaces.length === 1) return interfaces[0]
  const near = interfaces.find(({ subnets }) => subnets().some(({ address, netmask }) => isSameSubnet(host, address, netmask)))
  return near ?? interfaces[0]
}

type BroadcastSocket = { broadcastSocket: Socket | undefined; broadcastError: string | null }

/** On Linux a socket that is bound to an address does not receive broadcasts. */
async function openBroadcastSocket(address: string, port: number): Promise<BroadcastSocket> {
  if (address === EVERYWHERE) return { broadcastSocket: undefined, broadcastError: null }
  const [subnet] = subnetsOf(address)
  const broadcast = subnet && broadcastOf(address, subnet.netmask)
  if (!broadcast) return { broadcastSocket: undefined, broadcastError: `${address} is on no network with a broadcast address` }
  try {
    return { broadcastSocket: await bindSocket(broadcast, port), broadcastError: null }
  } catch (error) {
    return { broadcastSocket: undefined, broadcastError: errorText(error) }
  }
}

/** @returns for 0.0.0.0 all subnets except loopback, otherwise the one of the address */
function subnetsOf(address: string): Subnet[] {
  const all = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  const ipv4 = all.filter(({ family }) => family === 'IPv4')
  if (address === EVERYWHERE) return ipv4.filter(({ internal }) => !internal)
  const own = ipv4.find(one => one.address === address) ?? ipv4.find(one => isSameSubnet(one.address, address, one.netmask))
  return own ? [{ address, netmask: own.netmask }] : []
}

async function bindSocket(address: string, port: number): Promise<Socket> {
  const socket = createSocket({
    type: 'udp4',
    // Otherwise another process could bind the port too and receive answers to this one.
    reuseAddr: false,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // Addresses are literals, so no name server is asked.
    lookup: (address, _, done) => done(null, address, 4),
  })
  try {
    // Listen first: with a lookup that answers at once, binding is over before `bind` returns.
    const listening = once(socket, 'listening')
    socket.bind({ address, port })
    await listening
    return socket
  } catch (error) {
    socket.close()
    const holder = (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? findPortOwner(address, port) : undefined
    const reason = `${errorText(error)}${holder ? `, which ${holder} holds` : ''}`
    throw new Error(`BACnet/IP cannot use UDP port ${port} of ${address}: ${reason}`, { cause: error })
  }
}
