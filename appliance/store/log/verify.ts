/** What a segmented log does when it is opened: find its segments, verify them, cut a torn end and keep it aside. */
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Position, START } from '../../core/log/log-line.ts'
import { scanSegment, type Torn } from '../../core/log/segment-check.ts'
import { syncFolder } from '#shared/node/files.ts'

export type Segment = {
  path: string
  /** Sequence of the first record that it holds or will hold. */
  first: number
  /** Where the log stands before it. */
  after: Position
  /** Where each record's line begins. */
  offsets: number[]
  /** Length of what is known to be on the disk. */
  bytes: number
}
/** Bytes of a group that was never acknowledged, cut from the end; `aside` is where they are kept, if the disk had room. */
export type Cut = { file: string; offset: number; bytes: number; reason: string; aside: string | undefined }
export type Corruption = { state: 'corrupt'; file: string; offset: number; reason: string }
/** What the log's owner finds in the records of a segment that verifies: the first thing that is wrong, if any. */
export type CheckSegment = (segment: Segment, bytes: Buffer, end: SegmentEnd) => { offset: number; reason: string } | undefined
/** `closed`: another segment follows. `torn`: it is the newest, and its end will be cut. */
export type SegmentEnd = 'closed' | 'clean' | 'torn'
export type Verified = { state: 'verified'; segments: Segment[]; end: Position; cut: Cut | undefined }

/** Most cut ends that are kept aside; a machine that loses power in a loop must not fill its disk with them. */
const CUTS_MAX = 20
const NAME = /^(\d{16})-(\d{16})\.jsonl$/

const digits = (n: number): string => String(n).padStart(16, '0')

/** A segment that is still empty and follows `after`. */
export function emptySegment(dir: string, after: Position): Segment {
  const path = join(dir, `${digits(after.seq + 1)}-${digits(after.group + 1)}.jsonl`)
  return { path, first: after.seq + 1, after, offsets: [], bytes: 0 }
}

/**
 * Reads every segment of a log. At least one is returned; it may have no file yet.
 *
 * @param check looks at each segment, oldest first, with the bytes that count; a torn end is cut when it has passed all
 * @param repair cuts a torn end, and says where it is kept; `leaveEnd` touches nothing
 * @throws Error when a file cannot be read, or a torn end cannot be cut
 */
export async function verifyLog(dir: string, check?: CheckSegment, repair = cutEnd): Promise<Verified | Corruption> {
  const names = (await readdir(dir)).filter(name => NAME.test(name)).toSorted()
  const segments: Segment[] = []
  let end = names[0] === undefined ? START : before(names[0])
  let cut: Cut | undefined
  for (const [i, name] of names.entries()) {
    const segment = emptySegment(dir, end)
    if (basename(segment.path) !== name) {
      const reason = `a segment is missing: this one does not begin with record ${segment.first} in group ${end.group + 1}`
      return { state: 'corrupt', file: name, offset: 0, reason }
    }
    const bytes = await readFile(segment.path)
    const last = i === names.length - 1
    const scan = scanSegment(bytes, end, last)
    if (scan.state === 'corrupt') return { ...scan, file: name }
    const length = scan.state === 'torn' ? scan.cutAt : bytes.length
    const found = { ...segment, offsets: scan.offsets, bytes: length }
    const fault = check?.(found, bytes.subarray(0, length), last ? scan.state : 'closed')
    if (fault) return { state: 'corrupt', file: name, ...fault }
    if (scan.state === 'torn') cut = await repair(dir, name, bytes, scan)
    segments.push(found)
    end = scan.end
  }
  if (segments.length === 0) segments.push(emptySegment(dir, START))
  return { state: 'verified', segments, end, cut }
}

/** Where the log stood before its oldest segment. The line before has been dropped, so its CRC is not known. */
function before(name: string): Position {
  const [, first, group] = NAME.exec(name)!
  return first === group && Number(first) === 1 ? START : { seq: Number(first) - 1, group: Number(group) - 1, crc: undefined }
}

/** Says what would be cut. */
export const leaveEnd: typeof cutEnd = async (_, file, bytes, { cutAt, reason }) => ({
  file,
  offset: cutAt,
  bytes: bytes.length - cutAt,
  reason,
  aside: undefined,
})

async function cutEnd(dir: string, name: string, bytes: Buffer, { cutAt, reason }: Torn): Promise<Cut> {
  const aside = await keepAside(dir, `${name}.${cutAt}.cut`, bytes.subarray(cutAt))
  const file = await open(join(dir, name), 'r+')
  try {
    await file.truncate(cutAt)
    await file.sync()
  } finally {
    await file.close()
  }
  return { file: name, offset: cutAt, bytes: bytes.length - cutAt, reason, aside }
}

/** @returns the name under which the bytes are kept, or undefined on a full disk: then they are worth less than going on */
async function keepAside(dir: string, name: string, bytes: Buffer): Promise<string | undefined> {
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
  const kept = (await readdir(dir)).filter(other => other.endsWith('.cut')).toSorted()
  for (const oldest of kept.slice(0, -CUTS_MAX)) await rm(join(dir, oldest))
  syncFolder(dir)
  return name
}
