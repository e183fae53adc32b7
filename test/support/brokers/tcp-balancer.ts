import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

type TcpBalancer = { port: number; stop(): Promise<void> }

/** Passes each connection to the first of `ports` that takes it, as a load balancer before several brokers does. */
export async function startTcpBalancer(ports: readonly number[]): Promise<TcpBalancer> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    return socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const pass = (client: Socket, [port, ...others]: readonly number[]) => {
    if (port === undefined) return void client.destroy()
    const broker = keep(connect(port, '127.0.0.1'))
    broker.once('connect', () => {
      broker.on('close', () => client.destroy())
      client.on('close', () => broker.destroy())
      client.pipe(broker).pipe(client)
    })
    broker.once('error', () => broker.connecting || pass(client, others))
  }
  const server = createServer(client => pass(keep(client), ports)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
