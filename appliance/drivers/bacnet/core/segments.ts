/** Puts an answer together that comes in parts, and says what to tell the device meanwhile (135-2020 5.4.4.3). */

/** One part of a ComplexACK. */
export type Segment = {
  invokeId: number
  service: number
  /** 0..255, going round. */
  sequence: number
  /** How many parts the device would send before it waits for us, 1..127. */
  window: number
  isLast: boolean
  payload: Uint8Array
}

/** What has come so far. */
export type Assembly = {
  readonly service: number
  /** Parts between two of our acknowledgements. */
  readonly window: number
  /** In order and without gaps. */
  readonly parts: Uint8Array[]
  readonly bytes: number
  /** Parts that the device knows we have. */
  readonly acknowledged: number
  /** A gap is reported once; what was already on its way behind it says nothing new. */
  readonly hasAskedAgain: boolean
  /** The device has gone back to parts that we have, and begins its window anew. */
  readonly isRepeated: boolean
}

export type SegmentAck = { sequence: number; window: number; isNegative: boolean }

export type Progress =
  /** `isNew`: the part was the next one. `ack`: to be sent now. */
  | { state: 'more'; assembly: Assembly; isNew: boolean; ack?: SegmentAck }
  | { state: 'whole'; service: number; payload: Uint8Array; ack: SegmentAck }
  /** Belongs to no part of this answer; what has come so far stays as it is. */
  | { state: 'foreign'; reason: string }
  | { state: 'too_large'; reason: string }

/** Parts on their way at a time: what a receive buffer of a small device holds, and few enough to lose little. */
const WINDOW_MAX = 8
/** An object list of 13,000 objects. */
const BYTES_MAX = 65_536
const SEGMENTS_MAX = 256

/**
 * Takes one part.
 *
 * @param assembly undefined before the first part; it alone is sent unasked
 */
export function takeSegment(assembly: Assembly | undefined, segment: Segment): Progress {
  if (!assembly) return begin(segment)
  if (segment.service !== assembly.service)
    return { state: 'foreign', reason: `a part of an answer to service ${segment.service}` }
  const ahead = (segment.sequence - assembly.parts.length) & 0xff
  if (ahead === 0) return append(assembly, segment)
  return ahead < 128 ? reportGap(assembly) : ignoreDouble(assembly, segment)
}

function begin(segment: Segment): Progress {
  if (segment.sequence !== 0) return { state: 'foreign', reason: `part ${segment.sequence} of an answer came first` }
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
  // The device waits here until it knows our window.
  return progress.state === 'more' ? acknowledge(progress.assembly, true) : progress
}

function append(assembly: Assembly, { payload, isLast }: Segment): Progress {
  const bytes = assembly.bytes + payload.length
  if (bytes > BYTES_MAX) return { state: 'too_large', reason: `the answer is longer than ${BYTES_MAX} bytes` }
  if (assembly.parts.length === SEGMENTS_MAX)
    return { state: 'too_large', reason: `the answer has more than ${SEGMENTS_MAX} parts` }
  // In place, so that 256 parts are not copied 256 times; nobody else holds the list.
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

/** Something was lost or overtaken: the device goes on after the last part that we have (135-2020 5.4.4.3). */
function reportGap(assembly: Assembly): Progress {
  if (assembly.hasAskedAgain) return { state: 'more', assembly, isNew: false }
  const again = { ...assembly, acknowledged: assembly.parts.length, hasAskedAgain: true }
  return { state: 'more', assembly: again, isNew: false, ack: ackOf(again, true) }
}

/**
 * The device repeats what we have. When it comes to the last of it, it waits for a word that it has not heard, or that we
 * did not say: a gap that we reported in vain ends its window before ours.
 */
function ignoreDouble(assembly: Assembly, { sequence }: Segment): Progress {
  const isLatest = sequence === ((assembly.parts.length - 1) & 0xff)
  if (!isLatest) return { state: 'more', assembly: { ...assembly, isRepeated: true }, isNew: false }
  const isUnheard = assembly.isRepeated || assembly.acknowledged === assembly.parts.length
  return isUnheard ? acknowledge(assembly, false) : { state: 'more', assembly, isNew: false }
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
