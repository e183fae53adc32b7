/** A BACnet/IP device on a real socket that misbehaves in a way chosen from a list. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { answererOf } from '../bacnet/device.ts'
import { OBJECT_TYPES } from '../bacnet/objects.ts'
import { apduOf, datagram } from '../bacnet/wire.ts'
import { type FaultyRequest, type Exchange, heldBy, type Misbehaviour, readAsked } from './exchange.ts'
import { FAULTY_REPLIES } from './replies.ts'
import { FAULTY_SEGMENTS } from './segments.ts'
import { FAULTY_TRAFFIC } from './traffic.ts'

const MISBEHAVIOURS: Readonly<Record<string, Misbehaviour>> = { ...FAULTY_TRAFFIC, ...FAULTY_REPLIES, ...FAULTY_SEGMENTS }
/** Its port is closed; the sender receives ICMP port unreachable. */
const PORT_CLOSED = 'port_closed'
/** All faults that a simulated device can have. */
export const MISBEHAVIOUR_NAMES: readonly string[] = [PORT_CLOSED, ...Object.keys(MISBEHAVIOURS)]

type FaultyDevice = {
  host: string
  port: number
  /** @param name one of `MISBEHAVIOUR_NAMES`; undefined for a device that is well */
  misbehave(name: string | undefined): Promise<void>
  close(): Promise<void>
}

/** Analog inputs that it holds, each `heldBy` its instance. */
const POINTS = 100

/**
 * @param random in [0, 1), the same in every run
 * @param host a loopback address other than 127.0.0.2, which is the stranger's; one of its own where the port is closed, so
 *   that nobody takes that meanwhile
 */
export async function openFaultyDevice(random: () => number, host = '127.0.0.1'): Promise<FaultyDevice> {
  const objects = Array.from({ length: POINTS }, (_, instance) => ({
    type: OBJECT_TYPES.AI,
    instance,
    name: `ai ${instance}`,
    value: () => heldBy(instance),
  }))
  const right = answererOf({ device_instance: 77, name: 'Faulty', objects })
  const timers = new Set<NodeJS.Timeout>()
  const strangers = { other_port: await bound(0, host), other_address: await bound(0, '127.0.0.2') }
  const kept: FaultyRequest[] = []
  /** Segmented replies in progress, by invoke id. */
  const senders = new Map<number, Parameters<Exchange['hear']>[0]>()
  let misbehaviour: Misbehaviour | undefined
  let turn = 0
  let isOpen = true
  let socket = await listening(0)
  const { port } = socket.address()

  async function listening(at: number): Promise<Socket> {
    const opened = await bound(at, host)
    opened.on('message', receive)
    return opened
  }

  function receive(bytes: Buffer, from: RemoteInfo): void {
    const apdu = apduOf(bytes)
    if (!apdu) return
    if (apdu[0]! >> 4 !== 0) return void senders.get(apdu[1]!)?.take(apdu)
    const exchange = exchangeOf(apdu, from)
    if (misbehaviour) misbehaviour(exchange)
    else exchange.reply(exchange.right)
  }

  function exchangeOf(apdu: Buffer, { port, address }: RemoteInfo): Exchange {
    const send = (bytes: Buffer, by: Socket) => void (isOpen && by.send(bytes, port, address))
    const asked = readAsked(apdu)
    return {
      asked,
      turn: turn++,
      right: right(apdu),
      reply: answer => send(datagram(answer), socket),
      send: bytes => send(bytes, socket),
      replyFrom: (where, answer) => send(datagram(answer), strangers[where]),
      after(ms, act) {
        const timer = setTimeout(() => {
          timers.delete(timer)
          act()
        }, ms)
        timers.add(timer)
      },
      hear(sender) {
        senders.get(asked.invokeId)?.close()
        senders.set(asked.invokeId, sender)
      },
      random,
      kept,
    }
  }

  return {
    host,
    port,
    async misbehave(name) {
      const next = name === undefined || name === PORT_CLOSED ? undefined : MISBEHAVIOURS[name]
      if (name !== undefined && name !== PORT_CLOSED && !next) throw new RangeError(`${name} is no misbehaviour`)
      misbehaviour = next
      const wasOpen = isOpen
      isOpen = wasOpen && name !== PORT_CLOSED
      if (wasOpen && !isOpen) await shut(socket)
      else if (!wasOpen && name !== PORT_CLOSED) {
        socket = await listening(port)
        isOpen = true
      }
    },
    async close() {
      for (const timer of timers) clearTimeout(timer)
      for (const sender of senders.values()) sender.close()
      const open = isOpen ? [socket] : []
      await Promise.all([...open, strangers.other_port, strangers.other_address].map(shut))
    },
  }
}

async function shut(socket: Socket): Promise<void> {
  socket.close()
  await once(socket, 'close')
}

async function bound(port: number, host: string): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', reuseAddr: false })
  socket.on('error', () => undefined)
  const listening = once(socket, 'listening')
  socket.bind(port, host)
  await listening
  return socket
}
