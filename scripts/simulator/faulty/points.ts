/** A BACnet/IP device on a real socket of which single points misbehave, and every request that they are in with them. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { apduOf, datagram, real } from '../bacnet/wire.ts'
import { ackWith, type FaultyRequest, type AskedTarget, heldBy, readAsked, READ_PROPERTY, resultOf } from './exchange.ts'

/**
 * Effects of a bad point on a request: `short` a REAL of two bytes in a whole answer, `stranger` the name of another object,
 * `silent` no answer, `mute` no answer, nor to the next two requests, `large` Abort for an answer that does not fit,
 * `lonely` no answer unless it is asked alone, `declined` Reject unless it is asked alone.
 */
export type BadPoint = 'short' | 'stranger' | 'silent' | 'mute' | 'large' | 'lonely' | 'declined'

type FaultyPoints = {
  host: string
  port: number
  /** By instance of the analog input. */
  bad: Map<number, BadPoint>
  /** Share of the requests that are lost, and answers. */
  loss: number
  /** The device as a whole says nothing. */
  isDown: boolean
  /** Points in each request that came, in turn; 0 for a ReadProperty. */
  sizes: number[]
  /** Answers instead of the device when it gives something. */
  forge?: (asked: FaultyRequest) => Buffer | undefined
  close(): Promise<void>
}

const ABORT_SEGMENTATION_NOT_SUPPORTED = 4
const REJECT_OTHER = 0
const MUTE_FOR = 2
const STRANGE = 100_000
const REAL_OF_TWO_BYTES = Buffer.of(0x42, 0x42, 0x28)

/** @param random in [0, 1), says what is lost */
export async function openFaultyPoints(random: () => number): Promise<FaultyPoints> {
  const socket = createSocket('udp4')
  let muteFor = 0
  const device: FaultyPoints = {
    host: '127.0.0.1',
    port: 0,
    bad: new Map(),
    loss: 0,
    isDown: false,
    sizes: [],
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }

  function answer(asked: FaultyRequest): Buffer | undefined {
    const alone = asked.service === READ_PROPERTY
    const found = asked.targets.map(({ instance }) => device.bad.get(instance))
    if (muteFor-- > 0) return undefined
    if (found.includes('mute')) muteFor = MUTE_FOR
    if (found.includes('mute') || found.includes('silent') || (found.includes('lonely') && !alone)) return undefined
    if (found.includes('declined') && !alone) return Buffer.of(0x60, asked.invokeId, REJECT_OTHER)
    if (found.includes('large')) return Buffer.of(0x71, asked.invokeId, ABORT_SEGMENTATION_NOT_SUPPORTED)
    return ackWith(asked, Buffer.concat(asked.targets.map(target => result(asked, target))))
  }

  function result(asked: FaultyRequest, target: AskedTarget): Buffer {
    const how = device.bad.get(target.instance)
    if (how === 'short') return resultOf(asked, target, REAL_OF_TWO_BYTES)
    const named = how === 'stranger' ? { ...target, instance: target.instance + STRANGE } : target
    return resultOf(asked, named, real(heldBy(target.instance)))
  }

  socket.on('message', (bytes, { port, address }) => {
    const apdu = apduOf(bytes)
    if (!apdu || apdu[0]! >> 4 !== 0) return
    const asked = readAsked(apdu)
    device.sizes.push(asked.service === READ_PROPERTY ? 0 : asked.targets.length)
    if (device.isDown || random() < device.loss) return
    const reply = device.forge?.(asked) ?? answer(asked)
    if (reply && random() >= device.loss) socket.send(datagram(reply), port, address)
  })
  socket.bind(0, device.host)
  await once(socket, 'listening')
  device.port = socket.address().port
  return device
}
