/** A client's connection as aedes sees it: whole packets only, and never more unread bytes than the bound. */
import { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Budget } from '#shared/core/budget.ts'
import { type Frames, frames } from './frames.ts'
import { PACKET_MS, SLOWEST_BYTES_PER_SECOND, UNREAD_MAX } from './limits.ts'

/** Whole packets that wait to be read, bytes; a longer one may come on top. */
const WAITING_MAX = 64 * 1024

type GuardOptions = {
  /** The certificate's common name, which the bounds are counted under. */
  name: string
  partial: Budget
  /** Whether it is one that a hub waits for when it is slow; any other that does not read is ended. */
  mayLag: boolean
}

export class GuardedStream extends Duplex {
  readonly socket: TLSSocket
  readonly name: string
  readonly #frames: Frames
  readonly #mayLag: boolean
  /** Bytes that came behind CONNECT; they wait until it is answered. */
  #behind: Buffer | undefined
  #overdue: NodeJS.Timeout | undefined

  constructor(socket: TLSSocket, { name, partial, mayLag }: GuardOptions) {
    super({ readableHighWaterMark: WAITING_MAX, writableHighWaterMark: UNREAD_MAX, allowHalfOpen: false })
    this.socket = socket
    this.name = name
    this.#mayLag = mayLag
    this.#frames = frames(bytes => {
      if (bytes > 0) return partial.take(name, bytes)
      partial.give(name, -bytes)
      return true
    })
    socket.on('data', bytes => this.#take(bytes))
    socket.on('end', () => this.push(null))
    socket.on('error', error => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /** The session is accepted: what came behind CONNECT counts now. */
  accept(): void {
    const behind = this.#behind
    this.#behind = undefined
    if (behind && behind.length > 0) this.#take(behind)
    if (!this.destroyed && this.readableLength < WAITING_MAX) this.socket.resume()
  }

  #take(bytes: Buffer): void {
    if (this.destroyed) return
    const taken = this.#frames.take(bytes)
    if ('refused' in taken) return void this.destroy(new Error(taken.refused))
    let hungry = true
    for (const packets of taken.whole) hungry = this.push(packets)
    if (taken.rest) this.#behind = taken.rest
    if (!hungry || taken.rest) this.socket.pause()
    this.#watch()
  }

  /** A packet that has begun ends the connection when it is not whole in time. */
  #watch(): void {
    const announced = this.#frames.announced()
    if (announced === 0) {
      clearTimeout(this.#overdue)
      this.#overdue = undefined
      return
    }
    if (this.#overdue) return
    const end = () => this.destroy(new Error('a packet was not whole in time'))
    this.#overdue = setTimeout(end, PACKET_MS + (announced / SLOWEST_BYTES_PER_SECOND) * 1000)
    this.#overdue.unref()
  }

  override _read(): void {
    if (this.#behind === undefined) this.socket.resume()
  }

  /** A client that does not read is ended, because aedes would have all others wait for it. */
  override write(chunk: unknown, ...more: unknown[]): boolean {
    const goesOn = (super.write as (...all: unknown[]) => boolean).call(this, chunk, ...more)
    if (goesOn || this.#mayLag) return goesOn
    this.destroy(new Error(`has not read ${this.writableLength} bytes`))
    return true
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#overdue)
    this.#behind = undefined
    this.#frames.clear()
    this.socket.destroy()
    done(error)
  }
}
