/** What the bytes of a segment say: clean, torn by a power cut, or corrupt. FORMAT.md beside this file has the rule. */
import { decodeLine, type Line, LINE_MIN, NEWLINE, type Position } from './log-line.ts'

type Read = {
  /** Offset of each line that counts. */
  offsets: number[]
  /** Where the log stands after them. */
  end: Position
}
/** `cutAt`: the first byte that is not kept; a group is kept whole or not at all. */
export type Torn = Read & { state: 'torn'; cutAt: number; reason: string }
export type Corrupt = { state: 'corrupt'; offset: number; reason: string }
export type SegmentScan = (Read & { state: 'clean' }) | Torn | Corrupt

const HEAD_START = Buffer.from('{"n":')

/**
 * Reads a segment from its first byte to its last.
 *
 * Damage is *torn* only where it can be the end of the one group that was being written when the power went: in the
 * last segment, after every complete group, with no sign of a later group, and with the look of bytes that never
 * reached the disk. Everything else is corrupt.
 *
 * @param bytes the whole segment
 * @param after where the log stands before it
 * @param last whether no segment follows
 */
export function scanSegment(bytes: Buffer, after: Position, last: boolean): SegmentScan {
  const offsets: number[] = []
  let position = after
  let complete = { offset: 0, records: 0, position: after }
  let rest = 0
  let offset = 0
  while (offset < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, offset)
    const line = newline < 0 ? undefined : decodeLine(bytes.subarray(offset, newline))
    if (!line) break
    const fault = misfit(line, position, rest)
    if (fault) return { state: 'corrupt', offset, reason: fault }
    offsets.push(offset)
    offset = newline + 1
    position = { seq: line.seq, group: line.group, crc: line.crc }
    rest = line.rest
    if (rest === 0) complete = { offset, records: offsets.length, position }
  }
  if (offset === bytes.length && rest === 0) return { state: 'clean', offsets, end: position }
  if (!last) return { state: 'corrupt', offset, reason: 'damage in a segment that others follow' }
  const open = complete.position.group + 1
  const damage = judge(bytes, offset, complete.offset, open)
  if (damage.state === 'corrupt') return { state: 'corrupt', offset, reason: damage.reason }
  const kept = { offsets: offsets.slice(0, complete.records), end: complete.position }
  return { state: 'torn', cutAt: complete.offset, reason: damage.reason, ...kept }
}

/** @returns why a line that verifies cannot stand here, or undefined when it can */
function misfit(line: Line, after: Position, rest: number): string | undefined {
  const group = rest > 0 ? after.group : after.group + 1
  if (line.seq !== after.seq + 1) return `record ${line.seq} stands where ${after.seq + 1} must`
  if (line.group !== group) return `group ${line.group} stands where ${group} must`
  if (rest > 0 && line.rest !== rest - 1) return `group ${line.group} says ${line.rest} to come where ${rest - 1} must`
  if (after.crc !== undefined && line.previous !== after.crc) return `record ${line.seq} does not follow the one before it`
  return undefined
}

type Verdict = { state: 'torn' | 'corrupt'; reason: string }
const torn = (reason: string): Verdict => ({ state: 'torn', reason })
const corrupt = (reason: string): Verdict => ({ state: 'corrupt', reason })

/**
 * Judges what follows the last good line.
 *
 * @param offset of the first byte that is no good line
 * @param groupStart where the group that was never completed begins, at or before `offset`
 * @param open that group's number
 */
function judge(bytes: Buffer, offset: number, groupStart: number, open: number): Verdict {
  const later = laterGroup(bytes, offset, open)
  if (later !== undefined) return corrupt(`damage before group ${later}, which was written later`)
  if (offset === bytes.length) return torn('the last group ends early')
  const newline = bytes.indexOf(NEWLINE, offset)
  if (newline < 0 && decodeLine(bytes.subarray(offset, -1))) {
    return bytes.at(-1) === 0 ? torn('the last newline was not written') : corrupt('the last newline has been altered')
  }
  if (newline < 0) return torn('the last line ends early')
  if (isUnwritten(bytes, groupStart)) return torn('the last group was not written whole')
  return corrupt('a line does not verify')
}

/** @returns the number of a group after `open` that a line at or behind `offset` verifies for */
function laterGroup(bytes: Buffer, offset: number, open: number): number | undefined {
  for (let start = bytes.indexOf(HEAD_START, offset); start >= 0; start = bytes.indexOf(HEAD_START, start + 1)) {
    const newline = bytes.indexOf(NEWLINE, start)
    const line = decodeLine(bytes.subarray(start, newline < 0 ? bytes.length : newline))
    if (line && line.group > open) return line.group
  }
  return undefined
}

/**
 * Whether the bytes behind the last complete group look like a write that did not reach the disk whole: too few for a
 * line, or not beginning with a written byte, or with two control characters (NUL where room was made and not filled,
 * anything where old bytes shine through). No line has a control character, and one flipped bit makes at most one and
 * never a NUL of the first byte, so no single flip in a group that was fsynced looks like this.
 */
function isUnwritten(bytes: Buffer, groupStart: number): boolean {
  if (bytes.length - groupStart < LINE_MIN || bytes[groupStart] === 0) return true
  let controls = 0
  for (const byte of bytes.subarray(groupStart)) {
    if ((byte < 0x20 && byte !== NEWLINE) || byte === 0x7f) controls++
    if (controls > 1) return true
  }
  return false
}
