/** The hub's time for a box that has none of its own: a file, for whoever may set the clock. */
import { rm } from 'node:fs/promises'
import { uptime } from 'node:os'
import type { Logger } from 'pino'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { replaceFile } from '#shared/node/files.ts'
import { timeSynced } from '#shared/node/machine.ts'
import { repeated } from '#shared/node/repeated.ts'
import type { Service } from '#shared/node/service.ts'
import type { PublisherState } from './publisher.ts'

const LOOK_MS = MINUTE
/** A smaller difference is left: the network's delay may be the reason. */
const OFF_MIN_MS = 30 * SECOND
/** The clock was set when it went on by so much more or less than the time that passed. */
const STEP_MS = SECOND

type Parts = {
  /** Undefined where nobody sets the clock of this machine. */
  file: string | undefined
  hubState(): Pick<PublisherState, 'clock_offset_ms' | 'cert_not_after'>
  /** The clock was set, by whomever: what was measured before does not count any more. */
  clockWasSet(): void
  log: Logger
  /** Of the machine: clock, ms since 1970 UTC; time that passed, ms; time since it started, s; whether a time server sets the clock. */
  machine?: { now(): number; elapsed(): number; uptime(): number; isSynced(): boolean | null }
}

const MACHINE = { now: Date.now, elapsed: () => performance.now(), uptime, isSynced: timeSynced }

/**
 * Writes when this machine was started by the hub's time, s since 1970 UTC, while its own clock is far from it and no time server sets it.
 * That instant stays true however late it is read. A time at which the certificate of this box is not valid any more is not passed on.
 */
export function hubTimeService({
  file,
  hubState,
  clockWasSet,
  log,
  machine = MACHINE,
}: Parts): Service & { look(): Promise<void> } {
  let ahead: number | undefined
  let hasFailed = false
  const startedByHub = (): number | undefined => {
    const { clock_offset_ms: offset, cert_not_after } = hubState()
    if (machine.isSynced() === true || offset === null || Math.abs(offset) < OFF_MIN_MS) return undefined
    const at = machine.now() - offset
    if (cert_not_after === null || at > cert_not_after) return undefined
    return Math.round(at / SECOND - machine.uptime())
  }
  const lookNow = async () => {
    if (file === undefined) return
    const before = ahead
    ahead = machine.now() - machine.elapsed()
    if (before !== undefined && Math.abs(ahead - before) > STEP_MS) clockWasSet()
    try {
      const started = startedByHub()
      if (started === undefined) await rm(file, { force: true })
      else await replaceFile(file, `${started}\n`)
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.warn({ err: error, file }, "the hub's time cannot be written for the clock of this box")
      hasFailed = true
    }
  }
  const { run: look, start, stop } = repeated(lookNow, LOOK_MS)
  return { name: 'clock', look, start: async () => start(), stop }
}
