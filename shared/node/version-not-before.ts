import type { Clock } from '#shared/core/ports.ts'
import { wallClock } from './clock.ts'
import { timeSynced } from './machine.ts'
import { versionMadeAt } from './version.ts'

const madeAt = versionMadeAt()

/**
 * When the running version was made, ms since 1970 UTC: a clock that shows an earlier time is wrong. Undefined where that says nothing
 * about the clock: the clock of a demonstration is one of its own, and a file that is newer than a clock which a time server sets was
 * written while that clock was wrong.
 */
export function versionNotBefore(clock: Clock): number | undefined {
  if (clock !== wallClock || madeAt === undefined) return undefined
  return madeAt > clock.now() && timeSynced() === true ? undefined : madeAt
}
