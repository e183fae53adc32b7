/** How a device sends an answer that does not fit one datagram (135-2020 5.4.5.3), written by hand from the standard. */

const COMPLEX_ACK_SEGMENTED = 0x38
const MORE_FOLLOWS = 0x04
const SEGMENT_ACK = 4
const ABORT = 7
/** More than a device has, so that a busy machine is not taken for a lost connection. */
const REPEATS_MAX = 400

export type PartsOptions = {
  /** Bytes of the service's data in each part. */
  partBytes: number
  /** Parts that it offers to send before it waits. */
  window: number
  /** How long it waits for a SegmentACK before it sends the window again, ms. */
  resendMs: number
  send(apdu: Buffer): void
}

export type PartsSender = {
  /** Takes a SegmentACK or an Abort. @returns false for any other APDU and when nothing is being sent with that id */
  take(apdu: Buffer): boolean
  readonly isDone: boolean
  close(): void
}

/** The APDUs of an answer in parts, numbered from 0 (135-2020 20.1.5). */
export function segmentsOf(invokeId: number, service: number, body: Buffer, partBytes: number, window: number): Buffer[] {
  const count = Math.ceil(body.length / partBytes)
  return Array.from({ length: count }, (_, i) => {
    const type = COMPLEX_ACK_SEGMENTED | (i + 1 < count ? MORE_FOLLOWS : 0)
    const head = Buffer.of(type, invokeId, i & 0xff, window, service)
    return Buffer.concat([head, body.subarray(i * partBytes, (i + 1) * partBytes)])
  })
}

/**
 * Sends `body`, the data of an acknowledgement, and repeats what is not acknowledged.
 *
 * @param invokeId of the request, whose service is `service`
 */
export function sendInParts(invokeId: number, service: number, body: Buffer, options: PartsOptions): PartsSender {
  const { partBytes, resendMs, send } = options
  const parts = segmentsOf(invokeId, service, body, partBytes, options.window)
  const count = parts.length
  let [first, window, repeats, isDone] = [0, 1, 0, false]
  let timer: NodeJS.Timeout | undefined

  function sendWindow(): void {
    for (const part of parts.slice(first, first + window)) send(part)
    clearTimeout(timer)
    timer = setTimeout(() => (++repeats > REPEATS_MAX ? end() : sendWindow()), resendMs)
  }
  function end(): void {
    clearTimeout(timer)
    isDone = true
  }

  sendWindow()
  return {
    get isDone() {
      return isDone
    },
    take(apdu) {
      const kind = apdu.readUInt8(0) >> 4
      if (isDone || apdu[1] !== invokeId || (kind !== SEGMENT_ACK && kind !== ABORT)) return false
      if (kind === ABORT) {
        end()
        return true
      }
      const ahead = (apdu.readUInt8(2) - first) & 0xff
      // A SegmentACK from outside the window was overtaken by a later one (5.4.2.2).
      if (ahead >= window && ahead !== 0xff) return true
      first += ahead === 0xff ? 0 : ahead + 1
      window = apdu.readUInt8(3)
      repeats = 0
      if (first >= count) end()
      else sendWindow()
      return true
    },
    close: end,
  }
}
