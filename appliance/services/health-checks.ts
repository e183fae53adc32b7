/** What health says of polling, of the priority history and of the ways out, the same in every process that polls. */
import type { HealthCheck } from '#shared/central/context.ts'
import type { PriorityState } from '#shared/core/ports.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { type Storing, storingStatus } from '#shared/core/storage-status.ts'
import type { ForwardState } from './forward-state.ts'

/**
 * @param storing of what is read; it waits, but not without end
 * @param now ms of the process's clock
 */
export function pollCheck(status: PollStatus, { waiting, waiting_max, trouble }: Storing, now: number): HealthCheck {
  const { running, enabled, points_ok, points_stale, points_down, points_fault } = status
  const devices_in_conflict = status.devices.filter(({ conflict }) => conflict !== undefined).length
  const stored = storingStatus(trouble, now)
  const storedOrWarned = stored.status === 'ok' && devices_in_conflict > 0 ? 'warn' : stored.status
  return {
    status: !running && enabled ? 'fail' : storedOrWarned,
    ...(trouble && { detail: `readings are not stored, and wait: ${trouble.reason}` }),
    ...{ points_ok, points_stale, points_down, points_fault, devices_in_conflict },
    ...{ not_stored_secs: stored.not_stored_secs, readings_waiting: waiting, readings_waiting_max: waiting_max },
  }
}

/** A destination that is away, or that the outbox cannot be read for, is a warning: what is read waits for it. */
export function wayCheck({
  state,
  reason,
  conflict,
  notices,
  note,
  backlog,
  dropped,
  thinned,
  rejected,
}: ForwardState): HealthCheck {
  const isWell =
    state === 'off' ||
    (state === 'up' && reason === undefined && conflict === undefined && !notices && dropped + thinned + rejected === 0)
  const detail = [conflict, ...(notices ?? []), reason].filter(part => part !== undefined).join('. ')
  return {
    status: isWell ? 'ok' : 'warn',
    ...{ state, backlog, dropped, thinned, rejected },
    ...(detail !== '' && { detail }),
    ...(note !== undefined && { note }),
  }
}

/** Polling, rules and the way to the hub go on without the priority history. The reason is a place in its files, and no secret. */
export function journalCheck({ journal, reason, cuts = 0, lost = 0, first, last }: PriorityState): HealthCheck {
  return {
    status: journal === 'disabled' || lost > 0 ? 'warn' : 'ok',
    ...(journal === 'disabled' && reason !== undefined && { reason }),
    journal,
    records: Math.max(0, last - first + 1),
    cuts,
    lost,
  }
}
