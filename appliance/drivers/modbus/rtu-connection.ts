/** Modbus RTU over one serial port: requests a gap apart, and after one that was given up silence, until its answer cannot come. */
import { isDeepStrictEqual } from 'node:util'
import { type UnansweredRequest, findRivals, stillExpected } from './core/late-replies.ts'
import type { Reply } from './core/pdu.ts'
import { findRtuReply, frameGapMs, wireMs } from './core/rtu.ts'
import type { RegisterRange } from './core/point.ts'
import { encodeRequest } from './codec.ts'
import type { Answer, Connection } from './connection.ts'

/** The part of a serial port that is used. */
type Port = {
  readonly isOpen: boolean
  write(bytes: Uint8Array, done: (error: Error | null | undefined) => void): unknown
  close(done: () => void): void
  on(event: 'data', take: (bytes: Uint8Array) => void): unknown
  on(event: 'error' | 'close', take: (error: Error | null | undefined) => void): unknown
}

/** What is known of the line beyond one opening of its port; instants of `performance.now`. */
export type Line = { readonly baud: number; quietUntil: number; owed: UnansweredRequest[] }
export const openLine = (baud: number): Line => ({ baud, quietUntil: 0, owed: [] })

/** Longest frame is 256 bytes; noise and an echo may stand before it. */
const INPUT_MAX = 1024
/** Adapters hand on bytes in lumps: after stray ones a rest may follow within this time. */
const STRAY_GAP_MS = 50
/** Longest wait for the line to fall silent, beyond what is waited for anyway. */
const CHATTER_MS = 1000

type Pending = { take(bytes: Uint8Array): void; settle(answer: Answer): void }

export function rtuConnection(port: Port, line: Line): Connection {
  let closed: string | undefined
  let pending: Pending | undefined
  let strays: Uint8Array = new Uint8Array(0)
  let wake = () => {}

  function end(reason: string): void {
    closed ??= reason
    pending?.settle({ state: 'closed', reason: closed })
    wake()
  }

  /** What comes between two requests is a late answer, or noise: the line is left alone until it ends. */
  function takeStray(bytes: Uint8Array): void {
    const now = performance.now()
    strays = appended(strays, bytes)
    const late = line.owed.findIndex(({ unit, place }) => findRtuReply(strays, unit, place))
    if (late < 0) line.quietUntil = Math.max(line.quietUntil, now + STRAY_GAP_MS)
    else {
      const { unit } = line.owed[late]!
      line.owed = line.owed.filter((one, i) => one.unit !== unit || i > late)
      strays = new Uint8Array(0)
      line.quietUntil = now + frameGapMs(line.baud)
    }
    wake()
  }

  /** @returns false when the line does not fall silent in time */
  async function silence(timeoutMs: number): Promise<boolean> {
    const latest = Math.max(performance.now(), line.quietUntil) + timeoutMs + CHATTER_MS
    for (;;) {
      const now = performance.now()
      if (closed !== undefined || line.quietUntil <= now) return true
      if (now > latest) return false
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, line.quietUntil - now)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  function exchange(unit: number, place: RegisterRange, timeoutMs: number): Promise<Answer> {
    return new Promise(resolve => {
      const sentAt = performance.now()
      let input: Uint8Array = new Uint8Array(0)
      /** Answers that fit; when there is more than one, all but one are to earlier requests. */
      const answers: Reply[] = []
      let timer = setTimeout(giveUp, timeoutMs + wireMs(place, line.baud))

      function settle(answer: Answer): void {
        clearTimeout(timer)
        pending = undefined
        strays = new Uint8Array(0)
        resolve(answer)
      }
      function take(bytes: Uint8Array): void {
        input = appended(input, bytes)
        for (let found = findRtuReply(input, unit, place); found; found = findRtuReply(input, unit, place)) {
          input = input.subarray(found.end)
          answers.push(found.reply)
          const now = performance.now()
          const rivals = findRivals(stillExpected(line.owed, sentAt), unit, place, found.reply, now)
          if (answers.length > rivals.count) return answered(soleOf(answers))
          clearTimeout(timer)
          timer = setTimeout(giveUp, rivals.waitMs)
        }
      }
      function answered(answer: Answer): void {
        line.owed = line.owed.filter(one => one.unit !== unit)
        line.quietUntil = performance.now() + frameGapMs(line.baud)
        settle(answer)
      }
      function giveUp(): void {
        if (answers.length) return answered(soleOf(answers))
        const now = performance.now()
        line.owed = [...stillExpected(line.owed, now), { unit, place, sentAt, timeoutMs }]
        line.quietUntil = now + timeoutMs
        settle(input.length ? { state: 'garbled', reason: strayWords(input.length) } : { state: 'timeout' })
      }
      pending = { take, settle }
      port.write(encodeRequest(unit, place), error => error && end(error.message))
    })
  }

  port.on('data', bytes => (pending ? pending.take(bytes) : takeStray(bytes)))
  port.on('error', error => end(error?.message ?? 'the port failed'))
  port.on('close', error => end(error ? 'the port was unplugged' : 'the port was closed'))

  return {
    isOpen: () => closed === undefined,
    async read(unit, place, timeoutMs) {
      const isSilent = await silence(timeoutMs)
      if (closed !== undefined) return { state: 'closed', reason: closed }
      if (!isSilent) return { state: 'garbled', reason: 'the line does not fall silent' }
      return exchange(unit, place, timeoutMs)
    },
    async close() {
      end('closed')
      if (port.isOpen) await new Promise<void>(resolve => port.close(() => resolve()))
    },
  }
}

/** Which of several is the right one cannot be told, unless they say the same. */
const soleOf = (answers: readonly Reply[]): Reply =>
  answers.every(answer => isDeepStrictEqual(answer, answers[0]))
    ? answers[0]!
    : { state: 'garbled', reason: `${answers.length} answers came, to this and to earlier requests` }

/** The newest `INPUT_MAX` bytes of both. */
function appended(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const both = before.length ? Buffer.concat([before, bytes]) : bytes
  return both.length > INPUT_MAX ? both.subarray(both.length - INPUT_MAX) : both
}

const strayWords = (bytes: number): string => `${bytes} bytes came, but no whole answer with a right checksum`
