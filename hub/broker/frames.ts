/** Splits the bytes of a client into whole MQTT packets and checks the announced size of each before it is buffered (MQTT 3.1.1, 2.2). */
import { CONTROL_MAX, PACKET_MAX } from './limits.ts'

const CONNECT = 1
const PUBLISH = 3
/** PUBACK, SUBSCRIBE, UNSUBSCRIBE, PINGREQ, DISCONNECT: QoS 2 is not used. */
const OTHERS = new Set([4, 8, 10, 12, 14])
/** One byte of type and flags, and at most four of length. */
const HEADER_MAX = 5
/** First room of a packet that is not whole, bytes; it doubles with what has come, so nobody gets room by announcing. */
const ROOM = 4096

/** `total`: bytes with the header. */
type Header = { state: 'short' } | { state: 'refused'; why: string } | { state: 'good'; total: number; isConnect: boolean }

export type Frames = {
  /**
   * Takes bytes as they come.
   *
   * @returns whole packets, and `rest` where the first of them is CONNECT: nothing after it counts before it is answered; or why the
   *   connection must end
   */
  take(bytes: Buffer): { whole: Buffer[]; rest?: Buffer } | { refused: string }
  /** Announced length of the packet that has begun, bytes; 0 while none has begun. */
  announced(): number
  /** Drops the buffered bytes. */
  clear(): void
}

/**
 * The function is long because its parts share the bytes of the packet that is not whole yet.
 *
 * @param reserve called before bytes of an incomplete packet are buffered; a negative number releases them
 */
export function frames(reserve: (bytes: number) => boolean): Frames {
  let connected = false
  let held: Buffer = Buffer.alloc(0)
  let filled = 0
  let total = 0

  const clear = () => {
    if (held.length > 0) reserve(-held.length)
    held = Buffer.alloc(0)
    filled = 0
    total = 0
  }
  /** @returns whether there was room */
  const keep = (bytes: Buffer): boolean => {
    const wanted = filled + bytes.length
    if (wanted > held.length) {
      const size = Math.max(wanted, Math.min(Math.max(ROOM, 2 * held.length), total || ROOM))
      if (!reserve(size - held.length)) return false
      const next = Buffer.allocUnsafeSlow(size)
      held.copy(next, 0, 0, filled)
      held = next
    }
    bytes.copy(held, filled)
    filled = wanted
    return true
  }

  /** Continues the packet that has begun. @returns how many bytes it took, or why not */
  const goOn = (bytes: Buffer): number | string => {
    let used = 0
    while (total === 0 && used < bytes.length) {
      if (!keep(bytes.subarray(used, ++used))) return TOO_MUCH
      const header = readHeader(held.subarray(0, filled), connected)
      if (header.state === 'refused') return header.why
      if (header.state === 'good') total = header.total
    }
    if (total === 0) return used
    const more = bytes.subarray(used, used + total - filled)
    return keep(more) ? used + more.length : TOO_MUCH
  }

  return {
    clear,
    announced: () => (filled === 0 ? 0 : Math.max(1, total)),
    take(bytes) {
      const whole: Buffer[] = []
      let at = 0
      let from = 0
      while (at < bytes.length) {
        if (filled > 0) {
          const used = goOn(bytes.subarray(at))
          if (typeof used === 'string') return { refused: used }
          at += used
          from = at
          if (total === 0 || filled < total) break
          whole.push(held.subarray(0, total))
          clear()
        } else {
          const header = readHeader(bytes.subarray(at), connected)
          if (header.state === 'refused') return { refused: header.why }
          if (header.state === 'short' || at + header.total > bytes.length) {
            if (at > from) whole.push(bytes.subarray(from, at))
            total = header.state === 'good' ? header.total : 0
            if (!keep(bytes.subarray(at))) return { refused: TOO_MUCH }
            return { whole }
          }
          at += header.total
        }
        if (connected) continue
        connected = true
        if (at > from) whole.push(bytes.subarray(from, at))
        return { whole, rest: bytes.subarray(at) }
      }
      if (at > from) whole.push(bytes.subarray(from, at))
      return { whole }
    },
  }
}

const TOO_MUCH = 'too many bytes of packets that are not whole'

function readHeader(bytes: Buffer, connected: boolean): Header {
  const [first] = bytes
  if (first === undefined) return { state: 'short' }
  const type = first >> 4
  const refused = (why: string) => ({ state: 'refused', why }) as const
  if (!connected && type !== CONNECT) return refused('a packet came before CONNECT')
  if (connected && type === CONNECT) return refused('a second CONNECT')
  if (type !== CONNECT && type !== PUBLISH && !OTHERS.has(type)) return refused(`a packet of type ${type}`)
  if (type === PUBLISH && (first & 0b100) !== 0) return refused('a message of QoS 2')
  let length = 0
  for (let i = 1; i < HEADER_MAX; i++) {
    const byte = bytes[i]
    if (byte === undefined) return { state: 'short' }
    length += (byte & 127) * 128 ** (i - 1)
    if (byte >= 128) continue
    const most = type === PUBLISH ? PACKET_MAX : CONTROL_MAX
    if (length > most) return refused(`a packet of type ${type} announced ${length} bytes, more than ${most}`)
    return { state: 'good', total: 1 + i + length, isConnect: type === CONNECT }
  }
  return refused('a length that no packet has')
}
