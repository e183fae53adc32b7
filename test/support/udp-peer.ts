import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { ExecutionContext } from 'ava'
import { type Asked, datagram, readRequest } from './wire.ts'

export type UdpPeer = { host: string; port: number; socket: Socket; asked: Asked[]; raw: Buffer[] }
/** What a peer does with a request; `reply` sends an APDU back, `send` any datagram. */
export type Behaviour = (request: Asked, reply: (apdu: Buffer) => void, send: (bytes: Buffer) => void, from: RemoteInfo) => void

/** A UDP peer on loopback that does with each request what the test says. */
export async function openUdpPeer(t: ExecutionContext, behaviour: Behaviour, host = '127.0.0.1'): Promise<UdpPeer> {
  const socket = createSocket('udp4')
  const peer: UdpPeer = { host, port: 0, socket, asked: [], raw: [] }
  let isOpen = true
  socket.on('message', (bytes, from) => {
    const request = readRequest(bytes)
    peer.asked.push(request)
    peer.raw.push(bytes)
    const send = (answer: Buffer) => {
      if (isOpen) socket.send(answer, from.port, from.address)
    }
    behaviour(request, apdu => send(datagram(apdu)), send, from)
  })
  socket.bind(0, host)
  await once(socket, 'listening')
  peer.port = socket.address().port
  t.teardown(async () => {
    isOpen = false
    socket.close()
    await once(socket, 'close')
  })
  return peer
}
