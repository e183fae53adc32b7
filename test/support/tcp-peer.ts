import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { type ModbusPoint, parseModbusAddress } from '#appliance/drivers/modbus/core/point.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'

/** One Modbus request as it came: transaction id, unit, function, first address and count. */
export type TcpAsked = { id: number; unit: number; code: number; address: number; count: number }
export type TcpBehaviour = (request: TcpAsked, socket: Socket) => void

/** Length of a request to read, of all four tables. */
const REQUEST_BYTES = 12

const requestOf = (frame: Buffer): TcpAsked => ({
  id: frame.readUInt16BE(0),
  unit: frame[6]!,
  code: frame[7]!,
  address: frame.readUInt16BE(8),
  count: frame.readUInt16BE(10),
})

/** A TCP peer on loopback that does with each Modbus request what the test says. */
export async function openTcpPeer(t: ExecutionContext, behaviour: TcpBehaviour) {
  const sockets = new Set<Socket>()
  const asked: TcpAsked[] = []
  let connections = 0
  const server = createServer(socket => {
    sockets.add(socket)
    connections++
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    // Two requests come in one chunk when the client has given the first one up before this side runs.
    socket.on('data', chunk => {
      for (let at = 0; at < chunk.length; at += REQUEST_BYTES) {
        const request = requestOf(chunk.subarray(at, at + REQUEST_BYTES))
        asked.push(request)
        behaviour(request, socket)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { port: (server.address() as { port: number }).port, asked, connections: () => connections }
}

/** A Modbus TCP frame. */
export function modbusFrame({ id, unit }: { id: number; unit: number }, pdu: Buffer): Buffer {
  const head = Buffer.from([id >> 8, id & 0xff, 0, 0, 0, pdu.length + 1, unit])
  return Buffer.concat([head, pdu])
}

/** Registers that hold their own address. */
export function registersOf({ code, address, count }: TcpAsked): Buffer {
  const pdu = Buffer.alloc(2 + 2 * count)
  pdu[0] = code
  pdu[1] = 2 * count
  for (let i = 0; i < count; i++) pdu.writeUInt16BE(address + i, 2 + 2 * i)
  return pdu
}

export function points(...addresses: string[]): { point_id: string; address: ModbusPoint }[] {
  return addresses.map(text => {
    const address = parseModbusAddress(text, 'ABCD')
    if (typeof address === 'string') throw new Error(address)
    const kind = address.format === 'bit' ? 'bool' : 'number'
    return { point_id: text, address: { address, conversion: { kind, scale: 1, offset: 0 } } }
  })
}
export const words = (...addresses: number[]) => points(...addresses.map(address => `holding:${address}:uint16`))
export const values = (readings: Reading[]) => Object.fromEntries(readings.map(({ id, v }) => [id, v]))
export const well: TcpBehaviour = (request, socket) => void socket.write(modbusFrame(request, registersOf(request)))
