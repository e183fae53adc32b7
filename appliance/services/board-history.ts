/** What Home counted over the last day, in memory: its small lines begin with the start of the process. */
import type { Clock } from '#shared/core/ports.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { Service } from '#shared/node/service.ts'

const EVERY_MS = 5 * MINUTE
const SAMPLES_MAX = DAY / EVERY_MS

/** Null where nothing is known, as of a box without devices. */
export type BoardCounts = { faults: number; silent: number | null; overrides: number | null; backlog: number | null }
export type BoardSample = BoardCounts & { at: number }
export type BoardHistory = { samples(): readonly BoardSample[] }

/** Counts every five minutes and keeps a day of it. */
export function boardHistory(clock: Clock, count: () => BoardCounts): BoardHistory & Service {
  const stopping = new AbortController()
  const kept: BoardSample[] = []
  let ended = Promise.resolve()
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      kept.push({ at: clock.now(), ...count() })
      if (kept.length > SAMPLES_MAX) kept.shift()
      await clock.sleep(EVERY_MS, stopping.signal).catch(() => undefined)
    }
  }
  return {
    name: 'board history',
    samples: () => kept,
    async start() {
      ended = run()
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
