/** One TCP connection to a Modbus server and the library's client on it. Opened, used, and thrown away when in doubt. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import ModbusSerial from 'modbus-serial'
import type { Place, Table } from '#shared/core/modbus/point.ts'

// The package is CommonJS that exports its class as `default` too.
type Client = InstanceType<typeof ModbusSerial.default>

export type Answer =
  /** Registers as 2 bytes each, bits packed from the lowest of the first byte on. */
  | { state: 'data'; bytes: Uint8Array }
  | { state: 'exception'; code: number }
  | { state: 'timeout' }
  /** Bytes came that answer nothing: the stream cannot be trusted any more. */
  | { state: 'garbled'; reason: string }
  | { state: 'closed'; reason: string }

export interface Connection {
  isOpen(): boolean
  /** One request; nothing else may be in flight. */
  read(unit: number, place: Place, timeoutMs: number): Promise<Answer>
  close(): void
}

const READS: Record<Table, 'readHoldingRegisters' | 'readInputRegisters' | 'readCoils' | 'readDiscreteInputs'> = {
  holding: 'readHoldingRegisters',
  input: 'readInputRegisters',
  coil: 'readCoils',
  discrete: 'readDiscreteInputs',
}

/** @throws Error when the server refuses, is not there within `timeoutMs`, or `signal` aborts */
export async function openConnection(host: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Connection> {
  const socket = await openSocket(host, port, timeoutMs, signal)
  let closed: string | undefined
  /** Settles the request in flight: the library tells it neither of a reset nor of a close. */
  let settle: ((answer: Answer) => void) | undefined
  const end = (reason: string) => {
    closed ??= reason
    settle?.({ state: 'closed', reason: closed })
  }
  socket.on('error', error => end(error.message))
  socket.on('close', () => end('the device closed the connection'))
  const client: Client = new ModbusSerial.default()
  client.on('error', () => socket.destroy())
  client.setTimeout(timeoutMs)
  await client.linkTCP(socket, { port })

  return {
    isOpen: () => closed === undefined,
    read(unit, place, timeoutMs) {
      client.setID(unit)
      client.setTimeout(timeoutMs)
      return new Promise(resolve => {
        settle = resolve
        client[READS[place.table]](place.address, place.count)
          .then(({ buffer }) => checkLength(buffer, place), explain)
          .then(resolve)
      })
    },
    close: () => client.destroy(() => undefined),
  }
}

async function openSocket(host: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port, noDelay: true })
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) })
    return socket
  } catch (error) {
    socket.on('error', () => undefined)
    socket.destroy()
    const isLate = (error as Error).name === 'AbortError'
    throw new Error(isLate ? `no connection within ${timeoutMs} ms` : (error as Error).message, { cause: error })
  }
}

/** The library believes the byte count of an answer and gives fewer registers than were asked for. */
function checkLength(bytes: Uint8Array, { table, count }: Place): Answer {
  const due = table === 'coil' || table === 'discrete' ? Math.ceil(count / 8) : 2 * count
  if (bytes.length === due) return { state: 'data', bytes }
  return { state: 'garbled', reason: `the answer has ${bytes.length} bytes where ${due} are due` }
}

function explain(error: Error & { modbusCode?: number; errno?: unknown }): Answer {
  if (error.modbusCode !== undefined) return { state: 'exception', code: error.modbusCode }
  if (error.errno === 'ETIMEDOUT') return { state: 'timeout' }
  return { state: 'garbled', reason: error.message }
}
