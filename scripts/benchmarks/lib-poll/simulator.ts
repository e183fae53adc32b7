/**
 * Devices for the poll bench, in a process of their own. A question is answered by the simulated device once and from
 * memory afterwards, so that the client under test is the slower side.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { answererOf } from '../../simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '../../simulator/bacnet/objects.ts'
import { apduOf, datagram } from '../../simulator/bacnet/wire.ts'
import { type DeviceAt, type SimulatorOrder, DEVICE_INSTANCE, valueAt } from './order.ts'

/** BVLC 4, NPCI 2, PDU type 1. */
const INVOKE_ID_AT = 7
/** More different questions than any run asks. */
const KEPT_MAX = 20_000
const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024

const order = JSON.parse(process.argv[2] ?? '') as SimulatorOrder
const objects = Array.from({ length: order.points }, (_, instance) => ({
  type: OBJECT_TYPES.AI,
  instance,
  name: `Point ${instance}`,
  value: () => valueAt(instance),
}))
const respond = answererOf({ device_instance: DEVICE_INSTANCE, name: 'Bench', objects })
const kept = new Map<string, Buffer>()

function replyTo(request: Buffer): Buffer {
  const key = request.toString('latin1', 3)
  let reply = kept.get(key)
  if (!reply) {
    reply = datagram(respond(request))
    if (kept.size < KEPT_MAX) kept.set(key, reply)
  }
  reply[INVOKE_ID_AT] = request[2]!
  return reply
}

async function open({ host, afterMs }: DeviceAt): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: RECEIVE_BUFFER_BYTES })
  socket.on('message', (bytes, { port, address }) => {
    const request = apduOf(bytes)
    if (!request) return
    const reply = replyTo(request)
    if (afterMs === 0) socket.send(reply, port, address)
    // The kept bytes get another invoke id while this one waits.
    else setTimeout(bytes => socket.send(bytes, port, address), afterMs, Buffer.from(reply))
  })
  const listening = once(socket, 'listening')
  socket.bind(0, host)
  await listening
  return socket
}

const ports: number[] = []
for (const device of order.devices) ports.push((await open(device)).address().port)
process.send?.(ports)
process.on('disconnect', () => process.exit())
