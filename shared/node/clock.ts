import { setTimeout as wait } from 'node:timers/promises'
import type { Clock } from '#shared/core/ports.ts'

/** Longest single timer: setTimeout overflows beyond 2^31 - 1 ms. */
export const TIMER_MAX_MS = 2 ** 31 - 1

/** The machine's clock. */
export const wallClock: Clock = { now: Date.now, sleep: (ms, signal) => pause(ms, signal) }

/**
 * A clock that runs `speed` times as fast as the wall clock and showed `epochMs` when the wall clock showed `atMs`.
 * Processes that share the three values agree on the time.
 */
export function simulatedClock({ speed, epochMs, atMs }: { speed: number; epochMs: number; atMs: number }): Clock {
  return {
    now: () => Math.round(epochMs + (Date.now() - atMs) * speed),
    sleep: (ms, signal) => pause(ms / speed, signal),
  }
}

const SIMULATED = /^(\d+(?:\.\d+)?)@(\d+)@(\d+)$/

/**
 * Reads `<speed>@<epoch ms>@<wall ms>`, the form in which a demonstration passes one clock to several processes.
 *
 * @returns the wall clock when `text` is undefined; undefined when `text` has another form
 */
export function clockOf(text: string | undefined): Clock | undefined {
  if (text === undefined) return wallClock
  const match = SIMULATED.exec(text)
  if (!match) return undefined
  return simulatedClock({ speed: Number(match[1]), epochMs: Number(match[2]), atMs: Number(match[3]) })
}

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  for (let left = ms; left > 0 && !signal?.aborted; left -= TIMER_MAX_MS) {
    await wait(Math.min(left, TIMER_MAX_MS), undefined, signal && { signal }).catch(() => undefined)
  }
}
