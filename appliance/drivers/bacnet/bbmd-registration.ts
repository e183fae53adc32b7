/** Registers as a foreign device with a broadcast manager (BBMD) of another network, to receive its broadcasts (135-2020 J.5). */
import type { Logger } from 'pino'
import type { Endpoint } from './core/frame.ts'
import { encodeRegistration } from './codec.ts'

export type Bbmd = Endpoint & { ttlSecs: number }

/** `waiting`: no answer yet. `silent`: the manager does not answer. */
type RegistrationState = 'waiting' | 'registered' | 'refused' | 'silent'
export type RegistrationReport = Endpoint & { ttl_secs: number; state: RegistrationState; registrations: number }

export type BbmdRegistration = {
  /** Takes a BVLC-Result. @returns false when it is not from the manager */
  take(from: Endpoint, code: number): boolean
  report(): RegistrationReport
  close(): void
}

/** Time between attempts while the manager refuses or does not answer, unless the renewal is due sooner. */
const RETRY_MS = 10_000
const REGISTRATION_REFUSED = 0x30
const BROADCAST_REFUSED = 0x60

/**
 * Registers now, again after half of each lifetime, and every 10 s while it is not registered. Each change of state is logged,
 * not each attempt.
 *
 * @param send sends a datagram; a failure to send is treated like no answer
 */
export function startRegistration(
  bbmd: Bbmd,
  send: (datagram: Buffer, to: Endpoint, done: () => void) => void,
  log: Logger,
): BbmdRegistration {
  const { host, port, ttlSecs } = bbmd
  const datagram = encodeRegistration(ttlSecs)
  const renewMs = (ttlSecs * 1000) / 2
  let state: RegistrationState = 'waiting'
  let registrations = 0
  let isAnswered = true
  let isClosed = false
  let timer: NodeJS.Timeout

  function become(next: RegistrationState, level: 'info' | 'warn', words: string): void {
    if (state !== next) log[level]({ bbmd: `${host}:${port}` }, `broadcast manager ${host}:${port} ${words}`)
    state = next
  }

  function register(): void {
    if (!isAnswered) become('silent', 'warn', 'does not answer')
    isAnswered = false
    send(datagram, bbmd, () => undefined)
    again(Math.min(RETRY_MS, renewMs))
  }

  function again(afterMs: number): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(register, afterMs)
  }

  register()
  return {
    take(from, code) {
      if (from.host !== host || from.port !== port) return false
      // Some managers also answer each broadcast that they pass on, which renews nothing.
      if (code === 0 && isAnswered && state === 'registered') return true
      if (code === 0) {
        isAnswered = true
        registrations++
        become('registered', 'info', 'has registered this process')
        again(renewMs)
      } else if (code === REGISTRATION_REFUSED) {
        isAnswered = true
        become('refused', 'warn', 'refuses to register this process as a foreign device')
      } else if (code === BROADCAST_REFUSED && state === 'registered') {
        // For example, the manager was restarted and has lost its table.
        become('waiting', 'warn', 'has lost the registration: registering again')
        register()
      }
      return true
    },
    report: () => ({ host, port, ttl_secs: ttlSecs, state, registrations }),
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
