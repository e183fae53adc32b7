/**
 * Modbus RTU over one serial port. Requests are a frame gap apart. After a request without an answer the line stays silent until
 * a late answer can no longer arrive.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConnectionAnswer, EncodeRequest, ModbusConnection } from './bus.ts'
import { findCompetingRequests, stillExpected, type UnansweredRequest } from './core/late-replies.ts'
import type { ModbusReply } from './core/pdu.ts'
import type { RegisterRange } from './core/point.ts'
import { findRtuReply, frameGapMs, wireMs } from './core/rtu.ts'

/** The methods of a serial port that are used. */
type Port = {
  readonly isOpen: boolean
  write(bytes: Uint8Array, done: (error: Error | null | undefined) => void): unknown
  close(done: () => void): void
  on(event: 'data', take: (bytes: Uint8Array) => void): unknown
  on(event: 'error' | 'close', take: (error: Error | null | undefined) => void): unknown
}

/** The state of the line that outlives one opening of its port; instants of `performance.now`. */
export type SerialLine = { readonly baud: number; quietUntil: number; unanswered: UnansweredRequest[] }
export const createLine = (baud: number): SerialLine => ({ baud, quietUntil: 0, unanswered: [] })

/** Input that is kept, bytes: the longest frame has 256, with noise and an echo before it. */
const INPUT_MAX = 1024
/** Adapters deliver bytes in chunks: more stray bytes may follow within this time. */
const STRAY_GAP_MS = 50
/** Longest wait for silence on the line, in addition to the other waits. */
const NOISE_MS = 1000

export class RtuConnection implements ModbusConnection {
  readonly #port: Port
  readonly #line: SerialLine
  readonly #encode: EncodeRequest
  #closedReason: string | undefined
  #exchange: RtuExchange | undefined
  #strays: Uint8Array = new Uint8Array(0)
  #wake = () => {}

  constructor(port: Port, line: SerialLine, encode: EncodeRequest) {
    this.#port = port
    this.#line = line
    this.#encode = encode
    port.on('data', bytes => (this.#exchange ? this.#exchange.take(bytes) : this.#takeStray(bytes)))
    port.on('error', error => this.#end(error?.message ?? 'the port failed'))
    port.on('close', error => this.#end(error ? 'the port was unplugged' : 'the port was closed'))
  }

  isOpen(): boolean {
    return this.#closedReason === undefined
  }

  async read(unit: number, range: RegisterRange, timeoutMs: number): Promise<ConnectionAnswer> {
    const isSilent = await this.#waitForSilence(timeoutMs)
    if (this.#closedReason !== undefined) return { state: 'closed', reason: this.#closedReason }
    if (!isSilent) return { state: 'garbled', reason: 'the line is never silent' }
    return new Promise(resolve => {
      this.#exchange = new RtuExchange(this.#line, { unit, range, timeoutMs }, answer => {
        this.#exchange = undefined
        this.#strays = new Uint8Array(0)
        resolve(answer)
      })
      this.#port.write(this.#encode(unit, range), error => error && this.#end(error.message))
    })
  }

  async close(): Promise<void> {
    this.#end('closed')
    if (this.#port.isOpen) await new Promise<void>(resolve => this.#port.close(() => resolve()))
  }

  #end(reason: string): void {
    this.#closedReason ??= reason
    this.#exchange?.finish({ state: 'closed', reason: this.#closedReason })
    this.#wake()
  }

  /** Handles bytes between two requests, a late answer or noise: the next request waits until they end. */
  #takeStray(bytes: Uint8Array): void {
    const line = this.#line
    const now = performance.now()
    this.#strays = appendBytes(this.#strays, bytes)
    const late = line.unanswered.findIndex(({ unit, range }) => findRtuReply(this.#strays, unit, range))
    if (late < 0) line.quietUntil = Math.max(line.quietUntil, now + STRAY_GAP_MS)
    else {
      const { unit } = line.unanswered[late]!
      line.unanswered = line.unanswered.filter((one, i) => one.unit !== unit || i > late)
      this.#strays = new Uint8Array(0)
      line.quietUntil = now + frameGapMs(line.baud)
    }
    this.#wake()
  }

  /** @returns false when the line is not silent in time */
  async #waitForSilence(timeoutMs: number): Promise<boolean> {
    const line = this.#line
    const latest = Math.max(performance.now(), line.quietUntil) + timeoutMs + NOISE_MS
    for (;;) {
      const now = performance.now()
      if (this.#closedReason !== undefined || line.quietUntil <= now) return true
      if (now > latest) return false
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, line.quietUntil - now)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}

/** One request on the line, and the replies until it ends. */
class RtuExchange {
  readonly #line: SerialLine
  readonly #request: { unit: number; range: RegisterRange; timeoutMs: number }
  readonly #resolve: (answer: ConnectionAnswer) => void
  readonly #sentAt = performance.now()
  #timer: NodeJS.Timeout
  #input: Uint8Array = new Uint8Array(0)
  /** Replies that match the request; when there are several, all but one answer earlier requests. */
  readonly #replies: ModbusReply[] = []

  constructor(
    line: SerialLine,
    request: { unit: number; range: RegisterRange; timeoutMs: number },
    resolve: (answer: ConnectionAnswer) => void,
  ) {
    this.#line = line
    this.#request = request
    this.#resolve = resolve
    this.#timer = setTimeout(() => this.#giveUp(), request.timeoutMs + wireMs(request.range, line.baud))
  }

  take(bytes: Uint8Array): void {
    const { unit, range } = this.#request
    this.#input = appendBytes(this.#input, bytes)
    for (let found = findRtuReply(this.#input, unit, range); found; found = findRtuReply(this.#input, unit, range)) {
      this.#input = this.#input.subarray(found.end)
      this.#replies.push(found.reply)
      const expected = stillExpected(this.#line.unanswered, this.#sentAt)
      const competing = findCompetingRequests(expected, unit, range, found.reply, performance.now())
      if (this.#replies.length > competing.count) return this.#answer()
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#giveUp(), competing.waitMs)
    }
  }

  finish(answer: ConnectionAnswer): void {
    clearTimeout(this.#timer)
    this.#resolve(answer)
  }

  #answer(): void {
    const line = this.#line
    line.unanswered = line.unanswered.filter(one => one.unit !== this.#request.unit)
    line.quietUntil = performance.now() + frameGapMs(line.baud)
    this.finish(onlyReply(this.#replies))
  }

  #giveUp(): void {
    if (this.#replies.length) return this.#answer()
    const line = this.#line
    const now = performance.now()
    line.unanswered = [...stillExpected(line.unanswered, now), { ...this.#request, sentAt: this.#sentAt }]
    line.quietUntil = now + this.#request.timeoutMs
    const bytes = this.#input.length
    const reason = `${bytes} bytes arrived, but no complete answer with a valid checksum`
    this.finish(bytes ? { state: 'garbled', reason } : { state: 'timeout' })
  }
}

/** @returns the reply; of several different ones the right one is unknown, so none is used */
const onlyReply = (replies: readonly ModbusReply[]): ModbusReply =>
  replies.every(reply => isDeepStrictEqual(reply, replies[0]))
    ? replies[0]!
    : { state: 'garbled', reason: `${replies.length} different answers arrived, to this and to earlier requests` }

/** @returns the newest `INPUT_MAX` bytes of both */
function appendBytes(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const both = before.length ? Buffer.concat([before, bytes]) : bytes
  return both.length > INPUT_MAX ? both.subarray(both.length - INPUT_MAX) : both
}
