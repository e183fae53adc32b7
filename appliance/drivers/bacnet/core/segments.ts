/** Assembles a segmented answer, and decides which acknowledgements to send (135-2020 5.4.4.3). */

/** One part of a ComplexACK. */
export type Segment = {
  invokeId: number
  service: number
  /** 0..255, then 0 again. */
  sequence: number
  /** Parts that the device proposes to send before it waits for an acknowledgement, 1..127. */
  window: number
  isLast: boolean
  payload: Uint8Array
}

/** The received parts. */
export type Assembly = {
  readonly service: number
  /** Parts between two acknowledgements. */
  readonly window: number
  /** In order and without gaps. */
  readonly parts: Uint8Array[]
  readonly bytes: number
  /** Acknowledged parts. */
  readonly acknowledged: number
  /** Whether the current gap was reported; parts that were already on their way do not report it again. */
  readonly hasAskedAgain: boolean
  /** The device repeats received parts and begins its window again. */
  readonly isRepeated: boolean
}

export type SegmentAck = { sequence: number; window: number; isNegative: boolean }

export type Progress =
  /** `isNew`: the part was the next one. `ack`: to be sent now. */
  | { state: 'more'; assembly: Assembly; isNew: boolean; ack?: SegmentAck }
  | { state: 'whole'; service: number; payload: Uint8Array; ack: SegmentAck }
  /** Not a part of this answer; the received parts are unchanged. */
  | { state: 'foreign'; reason: string }
  | { state: 'too_large'; reason: string }

/** Largest window: the size of a receive buffer of a small device, and few enough to lose little. */
const WINDOW_MAX = 8
/** Maximum size of an answer, bytes: an object list of 13,000 objects. */
const BYTES_MAX = 65_536
const SEGMENTS_MAX = 256

/**
 * Takes one part.
 *
 * @param assembly undefined before the first part, which is the only one sent without an acknowledgement
 */
export function takeSegment(assembly: Assembly | undefined, segment: Segment): Progress {
  if (!assembly) return begin(segment)
  if (segment.service !== assembly.service)
    return { state: 'foreign', reason: `a part of an answer to service ${segment.service}` }
  const ahead = (segment.sequence - assembly.parts.length) & 0xff
  if (ahead === 0) return append(assembly, segment)
  return ahead < 128 ? reportGap(assembly) : handleRepeated(assembly, segment)
}

function begin(segment: Segment): Progress {
  if (segment.sequence !== 0) return { state: 'foreign', reason: `part ${segment.sequence} of an answer arrived first` }
  const window = Math.min(segment.window, WINDOW_MAX)
  const nothing: Assembly = {
    service: segment.service,
    window,
    parts: [],
    bytes: 0,
    acknowledged: 0,
    hasAskedAgain: false,
    isRepeated: false,
  }
  const progress = append(nothing, segment)
  // The device waits until it knows the window.
  return progress.state === 'more' ? acknowledge(progress.assembly, true) : progress
}

function append(assembly: Assembly, { payload, isLast }: Segment): Progress {
  const bytes = assembly.bytes + payload.length
  if (bytes > BYTES_MAX) return { state: 'too_large', reason: `the answer is longer than ${BYTES_MAX} bytes` }
  if (assembly.parts.length === SEGMENTS_MAX)
    return { state: 'too_large', reason: `the answer has more than ${SEGMENTS_MAX} parts` }
  // Appended in place, so that 256 parts are not copied 256 times; the list has no other owner.
  assembly.parts.push(payload)
  const grown = { ...assembly, bytes, hasAskedAgain: false, isRepeated: false }
  if (isLast) return { state: 'whole', service: grown.service, payload: join(grown), ack: ackOf(grown, false) }
  const isWindowFull = grown.parts.length - grown.acknowledged === grown.window
  return isWindowFull ? acknowledge(grown, true) : { state: 'more', assembly: grown, isNew: true }
}

const ackOf = ({ parts, window }: Assembly, isNegative: boolean): SegmentAck => ({
  sequence: (parts.length - 1) & 0xff,
  window,
  isNegative,
})

const acknowledge = (assembly: Assembly, isNew: boolean): Progress => ({
  state: 'more',
  isNew,
  assembly: { ...assembly, acknowledged: assembly.parts.length, isRepeated: false },
  ack: ackOf(assembly, false),
})

/** A part was lost or overtaken: the device continues after the last received part (135-2020 5.4.4.3). */
function reportGap(assembly: Assembly): Progress {
  if (assembly.hasAskedAgain) return { state: 'more', assembly, isNew: false }
  const again = { ...assembly, acknowledged: assembly.parts.length, hasAskedAgain: true }
  return { state: 'more', assembly: again, isNew: false, ack: ackOf(again, true) }
}

/**
 * Handles repeated parts. At the last received part the device waits for an acknowledgement that was lost or not sent: when the
 * report of a gap is lost, the window of the device ends before the local one.
 */
function handleRepeated(assembly: Assembly, { sequence }: Segment): Progress {
  const isLatest = sequence === ((assembly.parts.length - 1) & 0xff)
  if (!isLatest) return { state: 'more', assembly: { ...assembly, isRepeated: true }, isNew: false }
  const isAckLost = assembly.isRepeated || assembly.acknowledged === assembly.parts.length
  return isAckLost ? acknowledge(assembly, false) : { state: 'more', assembly, isNew: false }
}

function join({ parts, bytes }: Assembly): Uint8Array {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
