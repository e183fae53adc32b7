/** Checks the bytes of a segment: clean, torn by a power cut, or corrupt. FORMAT.md beside this file specifies the rules. */
import { decodeLine, LINE_MIN, type RecordLine, type LogPosition, NEWLINE } from './log-line.ts'

type VerifiedPart = {
  /** Offset of each line that counts. */
  offsets: number[]
  /** State of the log after them. */
  end: LogPosition
}
/** `cutAt`: the first byte of the incomplete group, which is cut whole. */
export type TornSegment = VerifiedPart & { state: 'torn'; cutAt: number; reason: string }
type CorruptSegment = { state: 'corrupt'; offset: number; reason: string }
export type SegmentScan = (VerifiedPart & { state: 'clean' }) | TornSegment | CorruptSegment

const HEAD_START = Buffer.from('{"n":')

/**
 * Scans a segment from its first byte to its last.
 *
 * Damage is *torn* only when it can be the end of the one group that was being written at a power cut: in the last segment,
 * behind every complete group, without a sign of a later group, and in bytes that look as if they had not reached the disk.
 * All other damage is corrupt.
 *
 * @param bytes the whole segment
 * @param after state of the log before the segment
 * @param isLast whether no segment follows
 */
export function scanSegment(bytes: Buffer, after: LogPosition, isLast: boolean): SegmentScan {
  const offsets: number[] = []
  let position = after
  let complete = { offset: 0, records: 0, position: after }
  let rest = 0
  let offset = 0
  while (offset < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, offset)
    const line = newline < 0 ? undefined : decodeLine(bytes.subarray(offset, newline))
    if (!line) break
    const fault = sequenceFault(line, position, rest)
    if (fault) return { state: 'corrupt', offset, reason: fault }
    offsets.push(offset)
    offset = newline + 1
    position = { seq: line.seq, group: line.group, crc: line.crc }
    rest = line.rest
    if (rest === 0) complete = { offset, records: offsets.length, position }
  }
  if (offset === bytes.length && rest === 0) return { state: 'clean', offsets, end: position }
  if (!isLast) return { state: 'corrupt', offset, reason: 'damage in a segment that others follow' }
  const open = complete.position.group + 1
  const damage = classifyDamage(bytes, offset, complete.offset, open)
  if (damage.state === 'corrupt') return { state: 'corrupt', offset, reason: damage.reason }
  const verified = { offsets: offsets.slice(0, complete.records), end: complete.position }
  return { state: 'torn', cutAt: complete.offset, reason: damage.reason, ...verified }
}

/** @returns why a line that verifies cannot follow `after`; undefined when it can */
function sequenceFault(line: RecordLine, after: LogPosition, rest: number): string | undefined {
  const group = rest > 0 ? after.group : after.group + 1
  if (line.seq !== after.seq + 1) return `record ${line.seq} stands where ${after.seq + 1} must`
  if (line.group !== group) return `group ${line.group} stands where ${group} must`
  if (rest > 0 && line.rest !== rest - 1) return `group ${line.group} says ${line.rest} to come where ${rest - 1} must`
  if (after.crc !== undefined && line.previous !== after.crc) return `record ${line.seq} does not follow the one before it`
  return undefined
}

type Damage = { state: 'torn' | 'corrupt'; reason: string }
const torn = (reason: string): Damage => ({ state: 'torn', reason })
const corrupt = (reason: string): Damage => ({ state: 'corrupt', reason })

/**
 * Classifies the bytes behind the last line that verifies.
 *
 * @param offset of the first byte that is not part of a verified line
 * @param groupStart offset of the incomplete group, at or before `offset`
 * @param open number of that group
 */
function classifyDamage(bytes: Buffer, offset: number, groupStart: number, open: number): Damage {
  const later = laterGroup(bytes, offset, open)
  if (later !== undefined) return corrupt(`damage before group ${later}, which was written later`)
  if (offset === bytes.length) return torn('the last group ends early')
  const newline = bytes.indexOf(NEWLINE, offset)
  if (newline < 0 && decodeLine(bytes.subarray(offset, -1))) {
    return bytes.at(-1) === 0 ? torn('the last newline was not written') : corrupt('the last newline has been altered')
  }
  if (newline < 0) return torn('the last line ends early')
  if (looksUnwritten(bytes, groupStart)) return torn('the last group was not written whole')
  return corrupt('a line does not verify')
}

/** @returns the number of a group after `open` of which a line at or behind `offset` verifies */
function laterGroup(bytes: Buffer, offset: number, open: number): number | undefined {
  for (let start = bytes.indexOf(HEAD_START, offset); start >= 0; start = bytes.indexOf(HEAD_START, start + 1)) {
    const newline = bytes.indexOf(NEWLINE, start)
    const line = decodeLine(bytes.subarray(start, newline < 0 ? bytes.length : newline))
    if (line && line.group > open) return line.group
  }
  return undefined
}

/**
 * Whether the bytes behind the last complete group look like a write that did not reach the disk whole: too few for a line,
 * or a first byte NUL, or two control characters. File systems show NUL for space that was allocated and not written, and old
 * bytes elsewhere. A line has no control character. One flipped bit makes at most one and never turns the first byte into
 * NUL, so a single flip in a group that is on the disk never looks like this.
 */
function looksUnwritten(bytes: Buffer, groupStart: number): boolean {
  if (bytes.length - groupStart < LINE_MIN || bytes[groupStart] === 0) return true
  let controls = 0
  for (const byte of bytes.subarray(groupStart)) {
    if ((byte < 0x20 && byte !== NEWLINE) || byte === 0x7f) controls++
    if (controls > 1) return true
  }
  return false
}
