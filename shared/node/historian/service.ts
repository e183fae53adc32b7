import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { failureLog } from '../failure-log.ts'
import type { Service } from '../service.ts'
import type { StoredHistorian } from './historian.ts'

type HistorianServiceOptions = {
  clock: Clock
  log: Logger
  /** How often samples are sealed, ms of the clock. */
  everyMs: number
  /** The age at which samples are sealed, ms of the clock. */
  keepMs: number
}

/** Seals on a schedule, and then keeps the quota. A failed seal is logged and tried again at the next turn; the rows stay in the database. */
export function historianService(historian: StoredHistorian, { clock, log, everyMs, keepMs }: HistorianServiceOptions): Service {
  const ending = new AbortController()
  let loop: Promise<void> = Promise.resolve()
  const sealing = failureLog(log, 'sealing history failed: rows stay in the database', 'sealing history works again')

  const run = async () => {
    while (!ending.signal.aborted) {
      try {
        const count = await historian.seal({ before: clock.now() - keepMs })
        if (count.rows) log.debug(count, 'history sealed')
        await shrinkAll(historian, clock.now(), log, ending.signal)
        sealing.worked()
      } catch (error) {
        if (!ending.signal.aborted) sealing.failed(error)
      }
      await clock.sleep(everyMs, ending.signal)
    }
  }
  return {
    name: 'historian',
    start: async () => {
      loop = run()
    },
    stop: async () => {
      ending.abort()
      await historian.stop()
      await loop
    },
  }
}

const LOST = { thin: 'kept as one value for 15 minutes', drop: 'dropped' }

async function shrinkAll(historian: StoredHistorian, now: number, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const step = await historian.shrink(now)
    if (!step) return
    const { building_id, month, what } = step
    log.warn(
      { building_id, month, max_bytes: historian.extent().max_bytes },
      `history takes more than its quota: a month is ${LOST[what]}`,
    )
  }
}
