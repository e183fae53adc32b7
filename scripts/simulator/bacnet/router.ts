import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { answererOf, type BacnetDeviceOptions, iAm } from './device.ts'

export type Station = BacnetDeviceOptions & { mac: number[] }
/** A network behind the router. */
export type Trunk = { network: number; stations: Station[] }
type RouterOptions = {
  host?: string
  /** How long a trunk is busy with one request and its answer, ms. Default 2. */
  answerMs?: number
}
type BacnetRouter = {
  host: string
  port: number
  /** Most requests that waited for their answer at the same time. */
  together(): number
  /** Whether it knows the way to its networks; while it does not, it refuses what is sent to them. */
  isConnected(is: boolean): void
  close(): Promise<void>
}

const UNICAST = 0x0a
const BROADCAST = 0x0b
const NETWORK_MESSAGE = 0x80
const HAS_DESTINATION = 0x20
const HAS_SOURCE = 0x08
const WHO_IS = 8
const ALL_NETWORKS = 0xffff
const HOPS_LEFT = 254
const REJECT_MESSAGE_TO_NETWORK = 0x03
const NO_WAY = 1
const TRUNK_MS = 2

/**
 * A router between BACnet/IP and networks behind it: passes on what is addressed to a station there (135-2020 6.5), one request
 * after the other on each network, refuses what it cannot pass on, and answers a Who-Is in the name of all stations, by
 * broadcast as they do. It has no object of its own.
 */
export async function openBacnetRouter(
  trunks: Trunk[],
  { host = '127.0.0.1', answerMs = TRUNK_MS }: RouterOptions = {},
): Promise<BacnetRouter> {
  const socket = createSocket('udp4')
  const answers = new Map(
    trunks.flatMap(({ network, stations }) =>
      stations.map(station => [`${network}/${station.mac.join()}`, { station, answer: answererOf(station) }] as const),
    ),
  )
  const queues = new Map(trunks.map(({ network }) => [network, Promise.resolve()]))
  let waiting = 0
  let together = 0
  let isOpen = true
  let isConnected = true

  socket.on('message', (bytes, from) => {
    const { destination, apdu } = readNpdu(bytes)
    const send = (datagram: Buffer) => void (isOpen && socket.send(datagram, from.port, from.address))
    if (apdu[0] === 0x10 && apdu[1] === WHO_IS) {
      for (const { network, stations } of trunks.filter(one => isConnected && isCalled(one.network, destination)))
        for (const { device_instance, maxApdu = 1476, mac } of stations)
          send(announcement(iAm(device_instance, maxApdu), network, mac))
      return
    }
    if (!destination) return
    const { network, mac } = destination
    const queue = isConnected ? queues.get(network) : undefined
    if (!queue) return send(rejection(network))
    const found = answers.get(`${network}/${mac.join()}`)
    together = Math.max(together, ++waiting)
    const turn = queue.then(async () => {
      await new Promise(resolve => setTimeout(resolve, answerMs))
      waiting--
      // A station of a small buffer does not hear what is longer.
      if (found && apdu.length <= (found.station.maxApdu ?? 1476)) send(fromStation(found.answer(apdu), network, mac))
    })
    queues.set(network, turn)
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  return {
    host,
    port: socket.address().port,
    together: () => together,
    isConnected: is => void (isConnected = is),
    async close() {
      isOpen = false
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** A call without a destination is for the router itself. */
const isCalled = (network: number, destination: { network: number } | undefined): boolean =>
  destination?.network === network || destination?.network === ALL_NETWORKS

function readNpdu(bytes: Buffer): { destination?: { network: number; mac: number[] }; apdu: Buffer } {
  if (!(bytes[5]! & HAS_DESTINATION)) return { apdu: bytes.subarray(6) }
  const length = bytes[8]!
  const destination = { network: bytes.readUInt16BE(6), mac: [...bytes.subarray(9, 9 + length)] }
  // The hop count stands behind the destination.
  return { destination, apdu: bytes.subarray(10 + length) }
}

const twoBytes = (value: number): number[] => [value >> 8, value & 0xff]

function datagramOf(linkFunction: number, npdu: number[], apdu: Buffer): Buffer {
  const length = 4 + npdu.length + apdu.length
  return Buffer.concat([Buffer.of(0x81, linkFunction, ...twoBytes(length)), Buffer.from(npdu), apdu])
}

const fromStation = (apdu: Buffer, network: number, mac: number[]): Buffer =>
  datagramOf(UNICAST, [1, HAS_SOURCE, ...twoBytes(network), mac.length, ...mac], apdu)

/** A global broadcast of a station: both addresses, and the hops that are left (135-2020 6.2.2). */
const announcement = (apdu: Buffer, network: number, mac: number[]): Buffer =>
  datagramOf(
    BROADCAST,
    [1, HAS_DESTINATION | HAS_SOURCE, ...twoBytes(ALL_NETWORKS), 0, ...twoBytes(network), mac.length, ...mac, HOPS_LEFT],
    apdu,
  )

const rejection = (network: number): Buffer =>
  datagramOf(UNICAST, [1, NETWORK_MESSAGE, REJECT_MESSAGE_TO_NETWORK, NO_WAY, ...twoBytes(network)], Buffer.alloc(0))
