/** Due times of polls. They are absolute, so a slow device, a slow machine or a restart causes no drift. */
import type { DevicePlan } from '#shared/core/poll/device.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'

/**
 * Circuit breaker of a device: after a failed read polling pauses, so that a dead device does not delay the others. `retryAt` null:
 * the device answers and is polled as planned.
 */
export type Breaker = { readonly failures: number; readonly retryAt: number | null; readonly since: number }

const FIRST_PAUSE_MS = 5 * SECOND
const LONGEST_PAUSE_MS = MINUTE

export const closedBreaker = (now: number): Breaker => ({ failures: 0, retryAt: null, since: now })

/** Applies a failed read of the whole device: the pause doubles from 5 s to a minute. */
export function tripBreaker(breaker: Breaker, now: number): Breaker {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** breaker.failures)
  return { failures: breaker.failures + 1, retryAt: now + pause, since: breaker.retryAt === null ? now : breaker.since }
}

/** Points of one device that are read together. Due at `phaseMs + k × periodMs` since 1970. */
export type PollGroup = { device_id: string; point_ids: string[]; periodMs: number; phaseMs: number }

/** A group and its next due time, ms since 1970. */
export type Due = { group: PollGroup; at: number }

/** After a start every group is read once within this time, even when its period is longer. */
const START_SPREAD_MS = 10 * SECOND

/**
 * Groups by device and period. The groups of one period are spread evenly over it, so that not every device is asked in
 * the same second. Neighbours in `devices` are polled far apart, because they often share a trunk.
 */
export function planGroups(devices: readonly DevicePlan[]): PollGroup[] {
  const groups: PollGroup[] = []
  for (const { device_id, enabled, points } of devices) {
    if (!enabled) continue
    const bySecs = Map.groupBy(points, point => point.poll_secs)
    for (const [poll_secs, members] of bySecs) {
      const point_ids = members.map(({ point_id }) => point_id)
      groups.push({ device_id, point_ids, periodMs: poll_secs * SECOND, phaseMs: 0 })
    }
  }
  for (const [periodMs, alike] of Map.groupBy(groups, group => group.periodMs)) {
    const stride = strideOver(alike.length)
    for (const [i, group] of alike.entries()) {
      group.phaseMs = Math.floor((((i * stride) % alike.length) * periodMs) / alike.length)
    }
  }
  return groups
}

/** The golden section of `count`, made coprime to it: its multiples reach every index once, and near indexes late. */
function strideOver(count: number): number {
  let stride = Math.max(1, Math.round(count * 0.618))
  while (greatestDivisor(stride, count) > 1) stride++
  return stride
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

/** First due times after a start at `now`. */
export function startDue(groups: readonly PollGroup[], now: number): Due[] {
  return groups.map(group => {
    const { phaseMs, periodMs } = group
    const early = (phaseMs / periodMs) * Math.min(periodMs, START_SPREAD_MS)
    return { group, at: now + Math.floor(early) }
  })
}

/** The group to read next; undefined when there is none. */
export const earliest = (dues: readonly Due[]): Due | undefined =>
  dues.reduce<Due | undefined>((first, due) => (first && first.at <= due.at ? first : due), undefined)

/**
 * Moves on after a poll of `done` that ended at `now`.
 *
 * @returns `late`: due times of its group that passed meanwhile; they are skipped, so polls never pile up
 */
export function advance(dues: readonly Due[], done: Due, now: number): { dues: Due[]; late: number } {
  const { group, at } = done
  // Timers may fire a little early; a due time far ahead means that the clock was set back.
  const next = after(group, at - now > group.periodMs / 2 ? now : at)
  const upcoming = next > now ? next : after(group, now)
  const moved = dues.map(due => {
    if (due === done) return { group, at: upcoming }
    return due.at - now > due.group.periodMs ? { group: due.group, at: after(due.group, now) } : due
  })
  const skipped = Math.round((upcoming - next) / group.periodMs)
  // A read off the grid, after a start or a return, stands for the due time that comes while it lasts.
  const covered = (at - group.phaseMs) % group.periodMs === 0 ? 0 : 1
  return { dues: moved, late: Math.max(0, skipped - covered) }
}

/** Resumes polling of a device after a pause: missed polls are due now, and none counts as late. */
export const resume = (dues: readonly Due[], now: number): Due[] =>
  dues.map(({ group, at }) => ({ group, at: Math.max(at, now) }))

/** The group's first due time later than `ms`. */
function after({ phaseMs, periodMs }: PollGroup, ms: number): number {
  return phaseMs + (Math.floor((ms - phaseMs) / periodMs) + 1) * periodMs
}
