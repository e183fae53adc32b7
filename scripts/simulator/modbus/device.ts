import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** A value in registers; 32-bit kinds take two, high word first unless `wordOrder` says otherwise. */
export type SimRegister = {
  table: 'holding' | 'input' | 'coil' | 'discrete'
  /** From 0, as on the wire. */
  address: number
  kind: 'bit' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32'
  value: () => number
  wordOrder?: 'ABCD' | 'CDAB'
}

type ModbusMisbehaviour = 'none' | 'silent' | 'garbage' | 'busy' | 'close'

type ModbusDeviceOptions = {
  registers: SimRegister[]
  /** Default 127.0.0.1, any free port. */
  host?: string
  port?: number
  /** Default: answers every unit. */
  unit_id?: number
  misbehaves?: ModbusMisbehaviour
}

type ModbusDevice = {
  host: string
  port: number
  requests(): number
  misbehave(how: ModbusMisbehaviour): void
  close(): Promise<void>
}

type Cells = Record<SimRegister['table'], Map<number, () => number>>

const TABLES: Record<number, SimRegister['table']> = { 1: 'coil', 2: 'discrete', 3: 'holding', 4: 'input' }
const ILLEGAL_FUNCTION = 1
const ILLEGAL_ADDRESS = 2
const ILLEGAL_VALUE = 3
const BUSY = 6
/** Most bits and registers of one request, Modbus application protocol 1.1b3, 6.1 and 6.3. */
const BITS_MAX = 2000
const REGISTERS_MAX = 125
const MBAP = 7

/**
 * A Modbus TCP device on a real socket: functions 1 to 4, exceptions for what it does not have. Written from the
 * protocol, not on the library that the product reads with, so that the two cannot share a mistake.
 *
 * @throws Error when the address is taken
 */
export async function openModbusDevice(options: ModbusDeviceOptions): Promise<ModbusDevice> {
  const { registers, host = '127.0.0.1', unit_id } = options
  const cells = cellsOf(registers)
  const sockets = new Set<Socket>()
  let how: ModbusMisbehaviour = options.misbehaves ?? 'none'
  let requests = 0

  const serve = (socket: Socket, frame: Buffer) => {
    if (unit_id !== undefined && frame[6] !== unit_id) return
    requests++
    if (how === 'silent') return
    if (how === 'close') return void socket.destroy()
    const pdu = how === 'busy' ? exception(frame[7]!, BUSY) : answer(frame.subarray(MBAP), cells)
    const reply = Buffer.concat([frame.subarray(0, MBAP), pdu])
    reply.writeUInt16BE(pdu.length + 1, 4)
    socket.write(how === 'garbage' ? Buffer.from(reply.map(byte => (byte * 31 + 17) & 0xff)) : reply)
  }

  const server = createServer(socket => {
    sockets.add(socket)
    let rest: Buffer = Buffer.alloc(0)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    socket.on('data', chunk => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= MBAP + 1 && rest.length >= 6 + rest.readUInt16BE(4)) {
        const length = 6 + rest.readUInt16BE(4)
        serve(socket, rest.subarray(0, length))
        rest = rest.subarray(length)
      }
    })
  })
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  const bound = server.address() as { port: number }

  return {
    host,
    port: bound.port,
    requests: () => requests,
    misbehave: next => {
      how = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function cellsOf(registers: SimRegister[]): Cells {
  const cells: Cells = { holding: new Map(), input: new Map(), coil: new Map(), discrete: new Map() }
  for (const register of registers) {
    const table = cells[register.table]
    if (register.kind === 'bit' || register.kind.endsWith('16')) {
      table.set(register.address, () => words(register)[0]!)
    } else {
      const [high, low] = register.wordOrder === 'CDAB' ? [1, 0] : [0, 1]
      table.set(register.address, () => words(register)[high]!)
      table.set(register.address + 1, () => words(register)[low]!)
    }
  }
  return cells
}

/** @returns a value's 16-bit words, high word first */
function words({ kind, value }: SimRegister): number[] {
  const bytes = Buffer.alloc(4)
  const number = value()
  switch (kind) {
    case 'bit':
      return [number ? 1 : 0]
    case 'uint16':
    case 'int16':
      return [Math.round(number) & 0xffff]
    case 'uint32':
    case 'int32':
      bytes.writeUInt32BE(Math.round(number) >>> 0)
      break
    case 'float32':
      bytes.writeFloatBE(number)
  }
  return [bytes.readUInt16BE(0), bytes.readUInt16BE(2)]
}

/** @returns the reply PDU to a request PDU */
function answer(pdu: Buffer, cells: Cells): Buffer {
  const code = pdu.readUInt8(0)
  const name = TABLES[code]
  if (!name || pdu.length < 5) return exception(code, ILLEGAL_FUNCTION)
  const from = pdu.readUInt16BE(1)
  const count = pdu.readUInt16BE(3)
  const isBits = name === 'coil' || name === 'discrete'
  if (count < 1 || count > (isBits ? BITS_MAX : REGISTERS_MAX)) return exception(code, ILLEGAL_VALUE)
  const reads = Array.from({ length: count }, (_, i) => cells[name].get(from + i))
  if (reads.includes(undefined)) return exception(code, ILLEGAL_ADDRESS)
  const values = reads.map(read => read!())
  const data = isBits ? packBits(values) : packRegisters(values)
  return Buffer.concat([Buffer.of(code, data.length), data])
}

const exception = (code: number, reason: number): Buffer => Buffer.of(code | 0x80, reason)

function packBits(values: number[]): Buffer {
  const data = Buffer.alloc(Math.ceil(values.length / 8))
  for (const [i, value] of values.entries()) if (value) data[i >> 3]! |= 1 << (i & 7)
  return data
}

function packRegisters(values: number[]): Buffer {
  const data = Buffer.alloc(values.length * 2)
  for (const [i, value] of values.entries()) data.writeUInt16BE(value, 2 * i)
  return data
}
