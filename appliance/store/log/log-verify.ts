/** Opens the segments of a log: finds them, verifies every byte, cuts a torn end and copies it to a file. */
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type LogPosition, LOG_START } from '../../core/log/log-line.ts'
import { scanSegment, type TornSegment } from '../../core/log/segment-check.ts'
import { syncFolder } from '#shared/node/files.ts'

export type LogSegment = {
  path: string
  /** Sequence of its first record, also while it is empty. */
  first: number
  /** State of the log before the segment. */
  after: LogPosition
  /** Offset of the line of each record. */
  offsets: number[]
  /** Bytes that are known to be on the disk. */
  bytes: number
}
/** A torn end that was cut; `aside` names the file that holds its bytes, unless the disk was full. */
export type CutEnd = { file: string; offset: number; bytes: number; reason: string; aside: string | undefined }
export type Corruption = { state: 'corrupt'; file: string; offset: number; reason: string }
/** Checks the records of a segment that verifies, for the owner of the log. @returns the first fault */
export type CheckSegment = (segment: LogSegment, bytes: Buffer, end: SegmentEnd) => { offset: number; reason: string } | undefined
/** `closed`: another segment follows. `torn`: it is the newest segment, and its end will be cut. */
type SegmentEnd = 'closed' | 'clean' | 'torn'
export type VerifiedLog = { state: 'verified'; segments: LogSegment[]; end: LogPosition; cut: CutEnd | undefined }

/** Most files of cut ends: a machine that loses power in a loop must not fill its disk with them. */
const CUTS_MAX = 20
const NAME = /^(\d{16})-(\d{16})\.jsonl$/

const digits = (n: number): string => String(n).padStart(16, '0')

/** @returns an empty segment that follows `after` */
export function emptySegment(dir: string, after: LogPosition): LogSegment {
  const path = join(dir, `${digits(after.seq + 1)}-${digits(after.group + 1)}.jsonl`)
  return { path, first: after.seq + 1, after, offsets: [], bytes: 0 }
}

/**
 * Verifies every segment of a log. Returns at least one segment, which may have no file yet.
 *
 * @param check is called for each segment, oldest first, with the bytes that count. A torn end is cut only after `check` has
 * found no fault in any segment
 * @param repair cuts a torn end; `reportTornEnd` leaves it
 * @throws Error when a file cannot be read, or a torn end cannot be cut
 */
export async function verifyLog(dir: string, check?: CheckSegment, repair = cutTornEnd): Promise<VerifiedLog | Corruption> {
  const names = (await readdir(dir)).filter(name => NAME.test(name)).toSorted()
  const segments: LogSegment[] = []
  let end = names[0] === undefined ? LOG_START : positionBefore(names[0])
  let cut: CutEnd | undefined
  for (const [i, name] of names.entries()) {
    const segment = emptySegment(dir, end)
    if (basename(segment.path) !== name) {
      const reason = `a segment is missing: this one does not begin with record ${segment.first} in group ${end.group + 1}`
      return { state: 'corrupt', file: name, offset: 0, reason }
    }
    const bytes = await readFile(segment.path)
    const isLast = i === names.length - 1
    const scan = scanSegment(bytes, end, isLast)
    if (scan.state === 'corrupt') return { ...scan, file: name }
    const length = scan.state === 'torn' ? scan.cutAt : bytes.length
    const found = { ...segment, offsets: scan.offsets, bytes: length }
    const fault = check?.(found, bytes.subarray(0, length), isLast ? scan.state : 'closed')
    if (fault) return { state: 'corrupt', file: name, ...fault }
    if (scan.state === 'torn') cut = await repair(dir, name, bytes, scan)
    segments.push(found)
    end = scan.end
  }
  if (segments.length === 0) segments.push(emptySegment(dir, LOG_START))
  return { state: 'verified', segments, end, cut }
}

/** State of the log before its oldest segment. The line before has been dropped, so its CRC is unknown. */
function positionBefore(name: string): LogPosition {
  const [, first, group] = NAME.exec(name)!
  return first === group && Number(first) === 1 ? LOG_START : { seq: Number(first) - 1, group: Number(group) - 1, crc: undefined }
}

/** Reports the torn end and leaves it. */
export const reportTornEnd: typeof cutTornEnd = async (_, file, bytes, { cutAt, reason }) => ({
  file,
  offset: cutAt,
  bytes: bytes.length - cutAt,
  reason,
  aside: undefined,
})

async function cutTornEnd(dir: string, name: string, bytes: Buffer, { cutAt, reason }: TornSegment): Promise<CutEnd> {
  const aside = await copyAside(dir, `${name}.${cutAt}.cut`, bytes.subarray(cutAt))
  const file = await open(join(dir, name), 'r+')
  try {
    await file.truncate(cutAt)
    await file.sync()
  } finally {
    await file.close()
  }
  return { file: name, offset: cutAt, bytes: bytes.length - cutAt, reason, aside }
}

/** @returns the name of the file with the bytes; undefined on a full disk, where going on matters more than they do */
async function copyAside(dir: string, name: string, bytes: Buffer): Promise<string | undefined> {
  const path = join(dir, name)
  const file = await open(path, 'w')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    await rm(path)
    return undefined
  } finally {
    await file.close()
  }
  const files = (await readdir(dir)).filter(other => other.endsWith('.cut')).toSorted()
  for (const oldest of files.slice(0, -CUTS_MAX)) await rm(join(dir, oldest))
  syncFolder(dir)
  return name
}
