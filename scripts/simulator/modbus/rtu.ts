/**
 * A serial line with Modbus RTU devices on it: a real terminal device (a pseudo-terminal, of `script` from util-linux), with
 * the devices at its other end. Written from the protocol and not on the product's own framing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type RtuAsked = { unit: number; code: number; address: number; count: number }
/** `send` puts bytes on the line as they are. */
export type RtuBehaviour = (request: RtuAsked, send: (bytes: Buffer) => void) => void

export type RtuLine = {
  /** Stays the same when the line is unplugged and plugged in again, as names by id do. */
  path: string
  asked: RtuAsked[]
  unplug(): Promise<void>
  plug(): Promise<void>
  close(): Promise<void>
}

const REQUEST_BYTES = 8

/** @param behaviour what the devices of the line do with each request that reaches them whole */
export async function openRtuLine(behaviour: RtuBehaviour): Promise<RtuLine> {
  const folder = await mkdtemp(join(tmpdir(), 'plenum-rtu-'))
  const path = join(folder, 'usb-Adapter-if00-port0')
  const asked: RtuAsked[] = []
  let terminal: ChildProcess | undefined

  async function plug(): Promise<void> {
    const child = spawn('script', ['-qfec', 'tty; exec sleep 86400', '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] })
    terminal = child
    child.stdin.on('error', () => undefined)
    const device = await firstLine(child.stdout)
    let rest = Buffer.alloc(0)
    const send = (bytes: Buffer) => void (child.exitCode ?? child.stdin.write(bytes))
    child.stdout.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (; rest.length >= REQUEST_BYTES; rest = rest.subarray(REQUEST_BYTES)) {
        if (crc(rest.subarray(0, REQUEST_BYTES)) !== 0) throw new Error(`no request: ${rest.toString('hex')}`)
        const request = { unit: rest[0]!, code: rest[1]!, address: rest.readUInt16BE(2), count: rest.readUInt16BE(4) }
        asked.push(request)
        behaviour(request, send)
      }
    })
    await symlink(device, path)
  }
  async function unplug(): Promise<void> {
    const child = terminal
    terminal = undefined
    if (!child) return
    await rm(path)
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  await plug()
  return {
    path,
    asked,
    plug,
    unplug,
    async close() {
      await unplug()
      await rm(folder, { recursive: true })
    },
  }
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  while (!text.includes('\n')) text += String((await once(stream, 'data'))[0])
  return text.trim()
}

/** A frame of unit and PDU with its checksum. */
export function rtuFrame(unit: number, pdu: Buffer): Buffer {
  const body = Buffer.concat([Buffer.of(unit), pdu])
  const sum = crc(body)
  return Buffer.concat([body, Buffer.of(sum & 0xff, sum >> 8)])
}

/** The right answer of a device whose registers hold 1000 × unit + address, and whose odd bits are set. */
export function rtuAnswer({ unit, code, address, count }: RtuAsked): Buffer {
  const isBits = code === 1 || code === 2
  const data = Buffer.alloc(isBits ? Math.ceil(count / 8) : 2 * count)
  for (let i = 0; i < count; i++) {
    if (!isBits) data.writeUInt16BE((1000 * unit + address + i) & 0xffff, 2 * i)
    else if ((address + i) % 2) data[i >> 3]! |= 1 << (i & 7)
  }
  return rtuFrame(unit, Buffer.concat([Buffer.of(code, data.length), data]))
}

/** Modbus over Serial Line V1.02, 6.2.1, bit by bit; 0 over a frame with its own checksum. */
function crc(bytes: Buffer): number {
  let sum = 0xffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >> 1) ^ 0xa001 : sum >> 1
  }
  return sum
}
