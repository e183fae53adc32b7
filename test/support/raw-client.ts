/** MQTT by hand over TLS: what no well-behaved client would send. */
import type { Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { ExecutionContext } from 'ava'

export type Access = { port: number; cert_pem: string; key_pem: string; ca_pem: string; cn: string }

const field = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** A fixed header that announces `length` bytes. */
export function header(first: number, length: number): Buffer {
  const bytes = [first]
  do {
    bytes.push((length % 128) | (length >= 128 ? 128 : 0))
    length = Math.floor(length / 128)
  } while (length > 0)
  return Buffer.from(bytes)
}
export const packet = (first: number, body: Buffer): Buffer => Buffer.concat([header(first, body.length), body])

/** @param will body of a last will, under `status` */
export function connectPacket(cn: string, { clean = true, will }: { clean?: boolean; will?: Buffer } = {}): Buffer {
  const flags = (clean ? 2 : 0) | (will ? 0b100 : 0)
  const [, site, edge] = cn.split(':')
  const parts = [field('MQTT'), Buffer.of(4, flags, 0, 60), field(cn)]
  if (will) parts.push(field(`sites/${site}/edges/${edge}/status`), field(will))
  return packet(0x10, Buffer.concat(parts))
}

/** @param flags of the fixed header: 2 is QoS 1, 4 QoS 2, 1 retain */
export function publishPacket(topic: string, body: Buffer, flags = 2, id = 1): Buffer {
  const mid = flags & 6 ? Buffer.of(id >> 8, id & 255) : Buffer.alloc(0)
  return packet(0x30 | flags, Buffer.concat([field(topic), mid, body]))
}

export const subscribePacket = (filters: string[]): Buffer =>
  packet(0x82, Buffer.concat([Buffer.of(0, 1), ...filters.flatMap(filter => [field(filter), Buffer.of(1)])]))

/** Waits for an event, or that the connection has ended; an error is no failure. */
export const eventOrEnd = (socket: Socket, event: string): Promise<void> =>
  new Promise(resolve => {
    if (socket.destroyed) return resolve()
    const done = () => {
      socket.off(event, done).off('close', done)
      resolve()
    }
    socket.on(event, done).on('close', done)
  })

/** An open TLS connection, ended with the test; what it meets is no failure of the test. */
export async function dial(t: ExecutionContext, { port, cert_pem: cert, key_pem: key, ca_pem: ca }: Access): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, cert, key, ca, servername: 'localhost' })
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await eventOrEnd(socket, 'secureConnect')
  return socket
}

/** Connected and accepted. */
export async function enter(t: ExecutionContext, access: Access, options = {}): Promise<TLSSocket> {
  const socket = await dial(t, access)
  socket.write(connectPacket(access.cn, options))
  await eventOrEnd(socket, 'data')
  return socket
}

/** Writes until all is out or the other side has ended it. @returns whether all was taken */
export async function pour(socket: TLSSocket, chunks: Iterable<Buffer>): Promise<boolean> {
  for (const chunk of chunks) {
    if (!socket.writable) return false
    if (!socket.write(chunk)) await eventOrEnd(socket, 'drain')
  }
  return socket.writable
}
