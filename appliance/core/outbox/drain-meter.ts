/** Measures how fast the messages that wait in the outbox become fewer. */
import { MINUTE, SECOND } from '#shared/core/time.ts'

/** Over this time at most: a shorter one jumps with each batch, a longer one shows late that the hub answers again. */
const WINDOW_MS = 3 * MINUTE
/** Less says more of one batch than of the backlog. */
const WINDOW_MIN_MS = 20 * SECOND
/** Changes closer together than this are one sample, so that at most 36 are kept. */
const SPACING_MS = 5 * SECOND

type DrainMeter = {
  /** So many messages wait since `at`, ms since 1970 UTC. */
  changed(rows: number, at: number): void
  /** Forgets what was: the connection has come or gone, or messages left for another reason than an acknowledgement. */
  restart(rows: number, at: number): void
  /** @returns messages by which the backlog falls in a minute, negative while it grows; null before there is enough to tell */
  perMinute(rows: number, at: number): number | null
}

/** @param rows messages that wait at `at`, ms since 1970 UTC */
export function drainMeter(rows: number, at: number): DrainMeter {
  let samples = [{ rows, at }]
  /** The newest sample that lies a whole window back, and what came after it; the backlog stayed as it was between two samples. */
  const within = (now: number) =>
    samples.slice(
      Math.max(
        0,
        samples.findLastIndex(sample => sample.at <= now - WINDOW_MS),
      ),
    )
  const meter: DrainMeter = {
    restart(count, now) {
      samples = [{ rows: count, at: now }]
    },
    changed(count, now) {
      const last = samples.at(-1)!
      if (now < last.at) return meter.restart(count, now)
      if (now - last.at < SPACING_MS) return
      samples = [...within(now), { rows: count, at: now }]
    },
    perMinute(count, now) {
      const first = within(now)[0]!
      const elapsed = now - Math.max(first.at, now - WINDOW_MS)
      return elapsed < WINDOW_MIN_MS ? null : ((first.rows - count) / elapsed) * MINUTE
    },
  }
  return meter
}
