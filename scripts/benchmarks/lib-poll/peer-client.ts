import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { ReadBatch } from './order.ts'

type Value = { value: number }
type Callback<T> = (error: Error | undefined, reply: T) => void
type Multiple = { values: { values: { value: Value[] }[] }[] }
type Client = {
  readProperty(address: string, object: object, property: number, callback: Callback<{ values: Value[] }>): void
  readPropertyMultiple(address: string, request: object[], callback: Callback<Multiple>): void
  on(event: 'listening' | 'error', listener: (error: Error) => void): void
}

const PRESENT_VALUE = 85
const WHOLE = 0xffff_ffff

/** node-bacnet's own client. It takes no port 0, so a free one is found for it. */
export async function open(port: number): Promise<ReadBatch> {
  const NodeBacnet = createRequire(import.meta.url)('node-bacnet') as new (options: object) => Client
  const client = new NodeBacnet({ port: await freePort(), interface: '127.0.0.1', reuseAddr: false })
  client.on('error', error => {
    throw error
  })
  await new Promise<void>(resolve => client.on('listening', () => resolve()))
  const address = `127.0.0.1:${port}`
  const requests = new Map<number, object[]>()

  const single = (first: number) =>
    new Promise<(number | undefined)[]>((resolve, reject) =>
      client.readProperty(address, { type: 0, instance: first }, PRESENT_VALUE, (error, reply) =>
        error ? reject(error) : resolve([reply.values[0]?.value as unknown as number]),
      ),
    )
  const multiple = (request: object[]) =>
    new Promise<(number | undefined)[]>((resolve, reject) =>
      client.readPropertyMultiple(address, request, (error, reply) =>
        error ? reject(error) : resolve(reply.values.map(one => one.values[0]?.value[0]?.value as unknown as number)),
      ),
    )
  return (first, count) => {
    if (count === 1) return single(first)
    let request = requests.get(first)
    if (!request) requests.set(first, (request = requestOf(first, count)))
    return multiple(request)
  }
}

const requestOf = (first: number, count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    objectId: { type: 0, instance: first + i },
    properties: [{ id: PRESENT_VALUE, index: WHOLE }],
  }))

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  const listening = once(socket, 'listening')
  socket.bind(0, '127.0.0.1')
  await listening
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
