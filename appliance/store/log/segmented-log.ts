/** The segmented log in files, used by outbox and priority journal. appliance/core/log/FORMAT.md specifies the bytes. */
import { closeSync, constants, openSync, readSync, unlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { decodeLine, PAYLOAD_MAX } from '../../core/log/log-line.ts'
import type { SegmentedLog } from '#shared/core/ports.ts'
import { makeFolder, syncFolder } from '#shared/node/files.ts'
import { type CheckSegment, type Corruption, type CutEnd, type LogSegment, verifyLog } from './log-verify.ts'
import { AppendQueue, LogWriter, type WritableFile } from './log-write.ts'

export type SegmentInfo = { file: string; first: number; last: number; bytes: number }

/** A segmented log in a folder. */
export type FileLog<T> = SegmentedLog<T> & {
  /** `startsSegment`: the group begins a new segment, also when the last one has room. */
  append(records: T[], options?: { startsSegment: boolean }): Promise<number>
  /** The records of these sequences, in their order; missing ones are left out. */
  pick(seqs: number[]): { seq: number; record: T }[]
  /** Oldest first; appends go to the last one. */
  segments(): SegmentInfo[]
  /** One segment, counted from the oldest; a negative number counts from the newest, -1. */
  segment(place: number): SegmentInfo | undefined
  /** Sequence of the newest record, 0 before the first. */
  last(): number
  /** Reopens and verifies the last segment after a failed write, as the next append would. Rejects while that fails. */
  recover(): Promise<void>
  /** Resolves when all appends have been written or refused. Later appends are refused. */
  close(): Promise<void>
}
type LogOpening<T> = { state: 'open'; log: FileLog<T>; cut: CutEnd | undefined } | Corruption

export type LogOptions = {
  /** Largest segment. A group that does not fit begins the next one. Default 4 MiB. */
  segmentBytes?: number
  /** Opens a segment for writing. Tests simulate a failing disk with it. */
  openFile?: (path: string) => Promise<WritableFile>
  /** Checks each segment while it is verified. A fault that it finds counts as damage. */
  check?: CheckSegment
}

const SEGMENT_BYTES = 4 * 1024 * 1024
const openForWriting = (path: string): Promise<WritableFile> => open(path, constants.O_RDWR | constants.O_CREAT, 0o644)

/**
 * Opens the log in `dir`, or creates it, and verifies every byte. Only one process may have a log open.
 *
 * A torn end is cut and reported in `cut`. Other damage is returned, and the files are left as they are.
 *
 * @throws Error when the folder cannot be read or written
 */
export async function openSegmentedLog<T>(dir: string, options: LogOptions = {}): Promise<LogOpening<T>> {
  const { segmentBytes = SEGMENT_BYTES, openFile = openForWriting, check } = options
  await makeFolder(dir)
  const verified = await verifyLog(dir, check)
  if (verified.state === 'corrupt') return verified
  const writer = new LogWriter({ dir, segments: verified.segments, position: verified.end, segmentBytes, openFile })
  await writer.begin()
  return { state: 'open', log: fileLog<T>(dir, verified.segments, writer), cut: verified.cut }
}

function fileLog<T>(dir: string, segments: LogSegment[], writer: LogWriter): FileLog<T> {
  const queue = new AppendQueue(writer)
  return {
    append: async (records, { startsSegment = false } = {}) => queue.append(records.map(encodePayload), startsSegment),
    read(seq, limit) {
      const found: { seq: number; record: T }[] = []
      let next = Math.max(seq, segments[0]!.first)
      for (let i = segments.findLastIndex(({ first }) => first <= next); i < segments.length && found.length < limit; i++) {
        const count = Math.min(limit - found.length, lastOf(segments[i]!) - next + 1)
        const segment = segments[i]!
        const payloads = withFile(segment, descriptor => readPayloads(segment, descriptor, next, count))
        for (const payload of payloads) found.push({ seq: next++, record: JSON.parse(payload) as T })
      }
      return found
    },
    pick(seqs) {
      const found = new Map<number, T>()
      for (const [segment, some] of Map.groupBy(seqs, seq => segments.findLast(({ first }) => first <= seq))) {
        if (!segment) continue
        const held = some.filter(seq => seq <= lastOf(segment))
        withFile(segment, descriptor => {
          for (const seq of held) found.set(seq, JSON.parse(readPayloads(segment, descriptor, seq, 1)[0]!) as T)
        })
      }
      return seqs.flatMap(seq => (found.has(seq) ? [{ seq, record: found.get(seq)! }] : []))
    },
    dropThrough(seq) {
      let dropped = false
      while (segments.length > 1 && lastOf(segments[0]!) <= seq) {
        unlinkSync(segments[0]!.path)
        segments.shift()
        dropped = true
      }
      if (dropped) syncFolder(dir)
    },
    state: () => ({ first: segments[0]!.first, last: writer.last(), bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0) }),
    segments: () => segments.map(infoOf),
    segment(place) {
      const found = segments.at(place)
      return found && infoOf(found)
    },
    last: () => writer.last(),
    recover: () => queue.recover(),
    close: () => queue.close(),
  }
}

const infoOf = (segment: LogSegment): SegmentInfo => ({
  file: basename(segment.path),
  first: segment.first,
  last: lastOf(segment),
  bytes: segment.bytes,
})

const lastOf = ({ first, offsets }: LogSegment): number => first + offsets.length - 1

function encodePayload(record: unknown): string {
  const payload = JSON.stringify(record)
  if (payload === undefined) throw new TypeError('only what JSON can hold can be appended')
  const bytes = Buffer.byteLength(payload)
  if (bytes > PAYLOAD_MAX) throw new RangeError(`a record of ${bytes} bytes is larger than ${PAYLOAD_MAX}`)
  return payload
}

function withFile<R>({ path, offsets }: LogSegment, use: (descriptor: number) => R): R | [] {
  if (offsets.length === 0) return []
  const descriptor = openSync(path, 'r')
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads the payloads of `count` records from `seq` on, and verifies each line again. */
function readPayloads({ path, first, offsets, bytes }: LogSegment, descriptor: number, seq: number, count: number): string[] {
  if (count <= 0) return []
  const from = offsets[seq - first]!
  const to = offsets[seq - first + count] ?? bytes
  const buffer = Buffer.alloc(to - from)
  for (let done = 0; done < buffer.length; ) {
    const read = readSync(descriptor, buffer, done, buffer.length - done, from + done)
    if (read === 0) throw new Error(`${basename(path)} ends before byte ${to}`)
    done += read
  }
  return Array.from({ length: count }, (_, i) => {
    const start = offsets[seq - first + i]! - from
    const end = (offsets[seq - first + i + 1] ?? bytes) - from - 1
    const text = buffer.subarray(start, end)
    const line = decodeLine(text)
    if (line?.seq !== seq + i) throw new Error(`record ${seq + i} in ${basename(path)} does not verify any more`)
    return text.toString('utf8', line.from, line.to)
  })
}
