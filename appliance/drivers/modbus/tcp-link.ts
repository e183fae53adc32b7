/** Modbus TCP over one socket. A stream that lost its framing is closed, because later answers could not be assigned. */
import { errorText } from '#shared/core/error-text.ts'
import { once } from 'node:events'
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { noTraffic, type ByteCounts } from '#shared/core/poll/traffic.ts'
import { readModbusReply } from './core/pdu.ts'
import type { RegisterRange } from './core/point.ts'
import { CRC_BYTES } from './core/rtu.ts'
import { mayAnswerFor, readOverstatedException, readTcpFrame, tcpFrame } from './core/tcp.ts'
import type { ConnectionAnswer, EncodeRequest, ModbusConnection, ModbusLink } from './bus.ts'

/** Timeouts in a row before the connection is closed. A single late answer is recognised by its transaction id. */
const TIMEOUTS_MAX = 2
const SOCKET = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
/** A frame has at most 260 bytes; late answers may follow one another. */
const INPUT_BYTES = 1024

/** Called with bytes that are valid only until it returns. */
type Take = (bytes: Uint8Array) => void

type OpenPorts = () => readonly number[] | undefined

/**
 * @param openPorts those that the firewall of this box lets out; undefined where that is not ours to know
 * @param traffic counts the bytes of the frames
 */
export const tcpLink = (host: string, port: number, openPorts?: OpenPorts, traffic: ByteCounts = noTraffic()): ModbusLink => ({
  name: `${host}:${port}`,
  traffic,
  async open(timeoutMs, signal) {
    const { encodeRequest } = await import('./codec.ts')
    let take: Take = () => {}
    // One buffer for all input: without it each short answer would allocate 64 KiB.
    const onread = {
      buffer: new Uint8Array(INPUT_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        traffic.received_bytes += bytes
        take(buffer.subarray(0, bytes))
        return true
      },
    }
    const hint = () => firewallHint(port, openPorts?.())
    const socket = await openSocket({ ...SOCKET, host, port, onread }, { timeoutMs, signal, hint })
    const send = (bytes: Uint8Array) => {
      traffic.sent_bytes += bytes.length
      socket.write(bytes)
    }
    return tcpConnection(socket, { encode: encodeRequest, send }, listener => {
      take = listener
    })
  },
})

/** A firewall drops without a word, as if the device were off. */
function firewallHint(port: number, open: readonly number[] | undefined): string {
  if (open === undefined || open.includes(port)) return ''
  const ports = open.length === 0 ? 'no TCP port' : `TCP port ${open.join(', ')} alone`
  return `; the firewall of this box lets Modbus out at ${ports}: modbus_ports of system.json on a USB stick opens others`
}

type Opening = { timeoutMs: number; signal: AbortSignal; hint: () => string }

/** @throws Error when the server refuses, does not answer within `timeoutMs`, or `signal` aborts */
async function openSocket(options: TcpNetConnectOpts, { timeoutMs, signal, hint }: Opening): Promise<Socket> {
  const socket = connect(options)
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) })
    return socket
  } catch (error) {
    socket.on('error', () => undefined)
    socket.destroy()
    const isLate = (error as Error).name === 'AbortError'
    throw new Error(isLate ? `no connection within ${timeoutMs} ms${hint()}` : errorText(error), { cause: error })
  }
}

type Pending = { id: number; unit: number; place: RegisterRange; settle(answer: ConnectionAnswer): void }

/** The function is long because the socket's events and the requests share the pending request. */
function tcpConnection(
  socket: Socket,
  { encode, send }: { encode: EncodeRequest; send: (bytes: Uint8Array) => void },
  listen: (take: Take) => void,
): ModbusConnection {
  let closed: string | undefined
  let pending: Pending | undefined
  /** The beginning of an incomplete frame. */
  let rest: Uint8Array = new Uint8Array(0)
  let lastId = 0
  let timeouts = 0
  let hasAnswered = false

  function end(reason: string, answer?: ConnectionAnswer): void {
    if (closed !== undefined) return
    closed = reason
    socket.destroy()
    pending?.settle(answer ?? { state: 'closed', reason, isAfterAnswer: hasAnswered && rest.length === 0 })
  }

  function take(chunk: Uint8Array): void {
    let bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk
    while (closed === undefined && bytes.length) {
      const frame = readTcpFrame(bytes)
      if (frame.state === 'garbled') return end(frame.reason, frame)
      if (frame.state === 'partial') break
      bytes = bytes.subarray(frame.end)
      // A late answer carries the id of an earlier request.
      if (!pending || frame.id !== pending.id) continue
      const answer = mayAnswerFor(pending.unit, frame.unit)
        ? readModbusReply(frame.pdu.slice(), pending.place)
        : wrongUnit(frame.unit, pending.unit)
      if (answer.state === 'garbled') return end(answer.reason, answer)
      timeouts = 0
      hasAnswered = true
      pending.settle(answer)
    }
    rest = bytes.slice()
    const exception = pending && readOverstatedException(rest, pending)
    // What is announced and missing never comes, so `rest` stays and the next request gets a new connection.
    if (pending && exception) pending.settle(readModbusReply(exception, pending.place))
  }

  listen(take)
  socket.on('error', error => end(error.message))
  socket.on('end', () => end('the device closed the connection'))
  socket.on('close', () => end('the device closed the connection'))

  return {
    // An incomplete frame between two requests belongs to neither.
    isOpen: () => closed === undefined && rest.length === 0,
    read(unit, place, timeoutMs) {
      lastId = (lastId + 1) & 0xffff
      const id = lastId
      return new Promise(resolve => {
        const timer = setTimeout(() => {
          pending?.settle({ state: 'timeout' })
          if (++timeouts === TIMEOUTS_MAX) end('two timeouts in a row')
        }, timeoutMs)
        const settle = (answer: ConnectionAnswer) => {
          clearTimeout(timer)
          pending = undefined
          resolve(answer)
        }
        pending = { id, unit, place, settle }
        if (closed !== undefined) settle({ state: 'closed', reason: closed })
        else send(tcpFrame(id, encode(unit, place).subarray(0, -CRC_BYTES)))
      })
    },
    async close() {
      end('closed')
    },
  }
}

const wrongUnit = (answering: number, asked: number): ConnectionAnswer => ({
  state: 'garbled',
  reason: `unit ${answering} answered for unit ${asked}`,
})
