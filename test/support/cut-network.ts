/** A network on loopback between clients and a server, which can be cut. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** @param to port of the server. @returns `cut` ends nothing: as with a pulled cable, no byte passes until `mend` */
export async function openNetwork(t: ExecutionContext, to: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const watch = (socket: Socket, other: Socket) => {
    sockets.add(socket)
    if (isCut) socket.pause()
    socket.on('data', bytes => {
      // What is under way at the cut is lost with it.
      if (!isCut) other.write(bytes)
    })
    socket.on('error', () => other.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      other.destroy()
    })
  }
  const server = createServer(socket => {
    const behind = connect(to, '127.0.0.1')
    watch(socket, behind)
    watch(behind, socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(async () => {
    endAll()
    server.close()
    await once(server, 'close')
  })
  return {
    port: (server.address() as { port: number }).port,
    cut() {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    /** Sessions from before the cut have lost bytes, so they are ended. */
    mend() {
      isCut = false
      endAll()
    },
  }
}
