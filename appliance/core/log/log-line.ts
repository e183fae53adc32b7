/** Encodes and decodes the lines of a segmented log. FORMAT.md beside this file specifies them. */
import { crc32 } from 'node:zlib'

/** The state of a log after a line. The next line must follow it. */
export type LogPosition = {
  /** Sequence of the last record, 0 before the first. */
  seq: number
  /** Number of the last group, 0 before the first. */
  group: number
  /** CRC of the last line as eight hex digits; undefined when that line has been dropped. */
  crc: string | undefined
}
export const LOG_START: LogPosition = { seq: 0, group: 0, crc: '00000000' }

/** The members of a line. */
export type RecordLine = {
  seq: number
  group: number
  /** Records of the same group that follow; 0 in the last line of a group. */
  rest: number
  previous: string
  crc: string
  /** The payload's bytes within the line, `[from, to)`. */
  from: number
  to: number
}

/** Longest payload, bytes: much more than a full telemetry message, and little enough to be read at a start. */
export const PAYLOAD_MAX = 1024 * 1024
/** Shortest line with its newline: `{"n":1,"g":1,"r":0,"p":"00000000","d":0,"c":"00000000"}`. */
export const LINE_MIN = 56
export const NEWLINE = 0x0a

/** Longest text before the payload: five names, three numbers of 16 digits and a CRC take 87 characters. */
const HEAD_MAX = 96
const HEAD = /^\{"n":(\d{1,16}),"g":(\d{1,16}),"r":(\d{1,16}),"p":"([0-9a-f]{8})","d":/
/** `,"c":"89abcdef"}` */
const TAIL = /^,"c":"([0-9a-f]{8})"\}$/
const TAIL_LENGTH = 16

const hex = (crc: number): string => crc.toString(16).padStart(8, '0')

/**
 * Encodes payloads as one group.
 *
 * @param payloads JSON texts, at least one
 * @param after state of the log before the group
 * @returns the bytes to write, the offset of each line in them, and the state of the log after the group
 */
export function encodeGroup(payloads: string[], after: LogPosition): { bytes: Buffer; offsets: number[]; end: LogPosition } {
  const group = after.group + 1
  const lines: Buffer[] = []
  const offsets: number[] = []
  let { seq, crc = LOG_START.crc } = after
  let length = 0
  for (const [i, payload] of payloads.entries()) {
    seq++
    const body = Buffer.from(`{"n":${seq},"g":${group},"r":${payloads.length - 1 - i},"p":"${crc}","d":${payload}`)
    crc = hex(crc32(body))
    const line = Buffer.concat([body, Buffer.from(`,"c":"${crc}"}\n`)])
    offsets.push(length)
    lines.push(line)
    length += line.length
  }
  return { bytes: Buffer.concat(lines, length), offsets, end: { seq, group, crc } }
}

/**
 * Decodes a line without its newline.
 *
 * @returns undefined when the line does not verify; every changed bit is detected
 */
export function decodeLine(bytes: Buffer): RecordLine | undefined {
  const end = bytes.length - TAIL_LENGTH
  if (end <= 0) return undefined
  const head = HEAD.exec(bytes.toString('latin1', 0, Math.min(HEAD_MAX, end)))
  const tail = TAIL.exec(bytes.toString('latin1', end))
  if (!head || !tail) return undefined
  const crc = hex(crc32(bytes.subarray(0, end)))
  if (crc !== tail[1]) return undefined
  const [text, seq, group, rest, previous] = head as unknown as [string, string, string, string, string]
  return { seq: Number(seq), group: Number(group), rest: Number(rest), previous, crc, from: text.length, to: end }
}
