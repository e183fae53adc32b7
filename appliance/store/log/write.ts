/** How a segmented log writes: one group at a time, one write and one fdatasync each. */
import { type FileHandle, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { encodeGroup, type Position } from '../../core/log/log-line.ts'
import { scanSegment } from '../../core/log/segment-check.ts'
import { syncFolder } from '#shared/node/files.ts'
import { emptySegment, type Segment } from './verify.ts'

export type WritableFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>
type Options = {
  dir: string
  /** Grows as segments are begun; whoever drops old ones takes them from the front. */
  segments: Segment[]
  position: Position
  segmentBytes: number
  openFile: (path: string) => Promise<WritableFile>
}

/** Waiting appends are gathered into one group up to this size: a write that an SD card takes within a second. */
const GROUP_BYTES = 8 * 1024 * 1024

/** Writes groups, one at a time. After a failure nothing is written until the file has been reopened and verified. */
export function logWriter({ dir, segments, position: start, segmentBytes, openFile }: Options) {
  let position = start
  /** Undefined when the last write failed, and before the first. */
  let file: WritableFile | undefined
  const active = () => segments.at(-1)!

  /**
   * Takes the file up at the last byte that is known to be on the disk. After a failed fsync the kernel may show bytes
   * that will never be written, so what was refused is cut, not kept.
   */
  const begin = async () => {
    const { path, after, bytes } = active()
    const opened = await openFile(path)
    try {
      await opened.truncate(bytes)
      await opened.datasync()
      syncFolder(dir)
      const scan = scanSegment(await readFile(path), after, true)
      if (scan.state !== 'clean' || scan.end.seq !== position.seq) throw new Error(`${basename(path)} does not verify any more`)
    } catch (error) {
      await opened.close()
      throw error
    }
    file = opened
  }

  const close = async () => {
    const open = file
    file = undefined
    await open?.close()
  }

  const rotate = async () => {
    const full = file!
    const segment = emptySegment(dir, position)
    file = await openFile(segment.path)
    segments.push(segment)
    await full.close()
    syncFolder(dir)
  }

  /** @returns sequence of the last record */
  const write = async (payloads: string[], fresh = false): Promise<number> => {
    if (!file) await begin()
    if (payloads.length === 0) return position.seq
    const { bytes, offsets, end } = encodeGroup(payloads, position)
    try {
      if (active().bytes > 0 && (fresh || active().bytes + bytes.length > segmentBytes)) await rotate()
      const { bytesWritten } = await file!.write(bytes, 0, bytes.length, active().bytes)
      if (bytesWritten < bytes.length)
        throw diskFull(`no space left: only ${bytesWritten} of ${bytes.length} bytes could be written`)
      await file!.datasync()
    } catch (error) {
      await close().catch(() => undefined)
      throw error
    }
    const segment = active()
    for (const offset of offsets) segment.offsets.push(segment.bytes + offset)
    segment.bytes += bytes.length
    position = end
    return end.seq
  }
  return { begin, write, close, last: () => position.seq }
}

const diskFull = (text: string): Error => Object.assign(new Error(text), { code: 'ENOSPC' })

type Waiting = { payloads: string[]; fresh: boolean; resolve: (last: number) => void; reject: (error: unknown) => void }

/** Gathers what is appended while a group is being written into the next group, so that one fsync serves many. */
export function gatherer(writer: ReturnType<typeof logWriter>) {
  const waiting: Waiting[] = []
  let running: Promise<void> | undefined
  let closed = false

  const run = async () => {
    while (waiting.length > 0) {
      const batch = takeBatch(waiting)
      try {
        let last = writer.last()
        await writer.write(
          batch.flatMap(({ payloads }) => payloads),
          batch[0]!.fresh,
        )
        for (const { payloads, resolve } of batch) resolve((last += payloads.length))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = undefined
  }
  const wait = async (payloads: string[], fresh: boolean): Promise<number> => {
    if (closed) throw new Error('the log is closed')
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    waiting.push({ payloads, fresh, resolve, reject })
    running ??= run()
    return promise
  }
  return {
    last: writer.last,
    append: async (payloads: string[], fresh: boolean): Promise<number> =>
      payloads.length === 0 && !closed ? writer.last() : wait(payloads, fresh),
    recover: async (): Promise<void> => void (await wait([], false)),
    close: async () => {
      closed = true
      await running
      await writer.close()
    },
  }
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  const batch = [waiting.shift()!]
  let bytes = sizeOf(batch[0]!)
  while (waiting[0]?.fresh === false && (bytes += sizeOf(waiting[0])) <= GROUP_BYTES) batch.push(waiting.shift()!)
  return batch
}

const sizeOf = ({ payloads }: Waiting): number => payloads.reduce((sum, { length }) => sum + length, 0)
