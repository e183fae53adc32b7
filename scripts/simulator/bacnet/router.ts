import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { answererOf, type BacnetDeviceOptions, iAm } from './device.ts'

type Station = BacnetDeviceOptions & { mac: number[] }
type BacnetRouter = {
  host: string
  port: number
  /** Most requests that waited for their answer at the same time. */
  together(): number
  close(): Promise<void>
}

const HAS_DESTINATION = 0x20
const HAS_SOURCE = 0x08
const WHO_IS = 8
/** How long a frame takes on the trunk, ms. */
const TRUNK_MS = 2

/**
 * A router between BACnet/IP and one network behind it: passes on what is addressed to a station there (135-2020 6.5), and
 * answers a Who-Is in the name of all of them. It has no object of its own.
 */
export async function openBacnetRouter(network: number, stations: Station[], host = '127.0.0.1'): Promise<BacnetRouter> {
  const socket = createSocket('udp4')
  const answers = new Map(stations.map(station => [station.mac.join(), answererOf(station)]))
  let waiting = 0
  let together = 0
  let isOpen = true
  socket.on('message', (bytes, from) => {
    const { destination, apdu } = readNpdu(bytes)
    const reply = (answer: Buffer, mac: number[]) => {
      if (isOpen) socket.send(fromStation(answer, network, mac), from.port, from.address)
    }
    if (apdu[0] === 0x10 && apdu[1] === WHO_IS) {
      for (const { device_instance, maxApdu = 1476, mac } of stations) reply(iAm(device_instance, maxApdu), mac)
      return
    }
    const answer = destination?.network === network ? answers.get(destination.mac.join()) : undefined
    if (!answer || !destination) return
    together = Math.max(together, ++waiting)
    setTimeout(() => {
      waiting--
      reply(answer(apdu), destination.mac)
    }, TRUNK_MS)
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  return {
    host,
    port: socket.address().port,
    together: () => together,
    async close() {
      isOpen = false
      socket.close()
      await once(socket, 'close')
    },
  }
}

function readNpdu(bytes: Buffer): { destination?: { network: number; mac: number[] }; apdu: Buffer } {
  if (!(bytes[5]! & HAS_DESTINATION)) return { apdu: bytes.subarray(6) }
  const length = bytes[8]!
  const destination = { network: bytes.readUInt16BE(6), mac: [...bytes.subarray(9, 9 + length)] }
  // The hop count stands behind the destination.
  return { destination, apdu: bytes.subarray(10 + length) }
}

function fromStation(apdu: Buffer, network: number, mac: number[]): Buffer {
  const npdu = Buffer.from([1, HAS_SOURCE, network >> 8, network & 0xff, mac.length, ...mac])
  const length = 4 + npdu.length + apdu.length
  return Buffer.concat([Buffer.of(0x81, 0x0a, length >> 8, length & 0xff), npdu, apdu])
}
