/** Writes a segmented log: one group at a time, each with one write and one fdatasync. */
import { type FileHandle, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { encodeGroup, type LogPosition } from '../../core/log/log-line.ts'
import { scanSegment } from '../../core/log/segment-check.ts'
import { syncFolder } from '#shared/node/files.ts'
import { emptySegment, type LogSegment } from './log-verify.ts'

export type WritableFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>
type Options = {
  dir: string
  /** Grows when a segment is begun. The owner drops old segments from the front. */
  segments: LogSegment[]
  position: LogPosition
  segmentBytes: number
  openFile: (path: string) => Promise<WritableFile>
}

/** Waiting appends are combined into one group up to this size, which an SD card writes within a second. */
const GROUP_BYTES = 8 * 1024 * 1024

/**
 * Writes groups to the last segment. After a failed write or fsync the file is closed, and the next write first reopens,
 * truncates and verifies it.
 */
export class LogWriter {
  readonly #options: Options
  #position: LogPosition
  /** Undefined before `begin`, and after a failure. */
  #file: WritableFile | undefined

  constructor(options: Options) {
    this.#options = options
    this.#position = options.position
  }

  /** Sequence of the last record, 0 before the first. */
  last(): number {
    return this.#position.seq
  }

  /**
   * Opens the last segment and truncates it to the bytes that are known to be on the disk. After a failed fsync the kernel
   * may show bytes that it will never write, so the bytes of a refused group are cut.
   *
   * @throws Error when the file cannot be opened or synced, or does not verify
   */
  async begin(): Promise<void> {
    const { dir, openFile } = this.#options
    const { path, after, bytes } = this.#active()
    const file = await openFile(path)
    try {
      await file.truncate(bytes)
      await file.datasync()
      syncFolder(dir)
      const scan = scanSegment(await readFile(path), after, true)
      if (scan.state !== 'clean' || scan.end.seq !== this.last()) throw new Error(`${basename(path)} does not verify any more`)
    } catch (error) {
      await file.close()
      throw error
    }
    this.#file = file
  }

  /**
   * Writes one group. Durable when resolved.
   *
   * @param startsSegment the group begins a new segment, unless the last one is empty
   * @throws Error when the group was not written; a power cut may still leave it whole, and never half of it
   */
  async write(payloads: string[], startsSegment: boolean): Promise<void> {
    if (!this.#file) await this.begin()
    if (payloads.length === 0) return
    const { bytes, offsets, end } = encodeGroup(payloads, this.#position)
    try {
      const used = this.#active().bytes
      if (used > 0 && (startsSegment || used + bytes.length > this.#options.segmentBytes)) await this.#beginSegment()
      const { bytesWritten } = await this.#file!.write(bytes, 0, bytes.length, this.#active().bytes)
      if (bytesWritten < bytes.length)
        throw diskFull(`no space left: only ${bytesWritten} of ${bytes.length} bytes could be written`)
      await this.#file!.datasync()
    } catch (error) {
      await this.close().catch(() => undefined)
      throw error
    }
    const segment = this.#active()
    for (const offset of offsets) segment.offsets.push(segment.bytes + offset)
    segment.bytes += bytes.length
    this.#position = end
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  #active(): LogSegment {
    return this.#options.segments.at(-1)!
  }

  async #beginSegment(): Promise<void> {
    const { dir, segments, openFile } = this.#options
    const full = this.#file!
    const segment = emptySegment(dir, this.#position)
    this.#file = await openFile(segment.path)
    segments.push(segment)
    await full.close()
    syncFolder(dir)
  }
}

const diskFull = (text: string): Error => Object.assign(new Error(text), { code: 'ENOSPC' })

type Append = {
  payloads: string[]
  startsSegment: boolean
  resolve: (last: number) => void
  reject: (error: unknown) => void
}

/** Combines the appends that wait while a group is being written into the next group, so that one fsync serves many. */
export class AppendQueue {
  readonly #writer: LogWriter
  readonly #waiting: Append[] = []
  #running: Promise<void> | undefined
  #closed = false

  constructor(writer: LogWriter) {
    this.#writer = writer
  }

  /** @returns sequence of the last of these records */
  async append(payloads: string[], startsSegment: boolean): Promise<number> {
    return payloads.length === 0 && !this.#closed ? this.#writer.last() : this.#enqueue(payloads, startsSegment)
  }

  /** Reopens and verifies the last segment after a failed write. @throws Error while that is not possible */
  async recover(): Promise<void> {
    await this.#enqueue([], false)
  }

  /** Resolves when all appends have been written or refused. Later appends are refused. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
    await this.#writer.close()
  }

  async #enqueue(payloads: string[], startsSegment: boolean): Promise<number> {
    if (this.#closed) throw new Error('the log is closed')
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#waiting.push({ payloads, startsSegment, resolve, reject })
    this.#running ??= this.#run()
    return promise
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = takeBatch(this.#waiting)
      try {
        let last = this.#writer.last()
        await this.#writer.write(
          batch.flatMap(({ payloads }) => payloads),
          batch[0]!.startsSegment,
        )
        for (const { payloads, resolve } of batch) resolve((last += payloads.length))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#running = undefined
  }
}

/** Takes the oldest append and those behind it that fit into the same group. */
function takeBatch(waiting: Append[]): Append[] {
  const batch = [waiting.shift()!]
  let bytes = sizeOf(batch[0]!)
  while (waiting[0]?.startsSegment === false && (bytes += sizeOf(waiting[0])) <= GROUP_BYTES) batch.push(waiting.shift()!)
  return batch
}

const sizeOf = ({ payloads }: Append): number => payloads.reduce((sum, { length }) => sum + length, 0)
