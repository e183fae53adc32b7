/** Health checks of polling, of the priority history and of the publishers, the same in every process that polls. */
import type { HealthCheck, HealthSources } from '#shared/central/context.ts'
import type { IngestService } from '#shared/central/ingest-service.ts'
import type { Clock, PriorityJournal, PriorityState } from '#shared/core/ports.ts'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import { earlierTrouble, type Storing, storingStatus } from '#shared/core/storage-status.ts'
import { type MachineHardware, readHardware } from '#shared/node/machine-hardware.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import { type HealthBefore, lostSince } from '../core/system/since-update.ts'
import type { ProtocolTraffic } from '../core/poll/traffic.ts'
import type { EdgeServices } from './edge.ts'
import type { PublisherState } from './publisher.ts'

/** @returns whether devices are read where they should be */
export const isPolling = ({ running, enabled }: Pick<PollStatus, 'running' | 'enabled'>): boolean => running || !enabled

/**
 * @param storing readings that wait to be stored, up to a bound
 * @param now ms of the process's clock
 * @param traffic of the protocols of this process
 */
export function pollCheck(
  status: PollStatus,
  { waiting, waiting_max, trouble }: Storing,
  now: number,
  traffic: readonly ProtocolTraffic[],
): HealthCheck {
  const { points_ok, points_stale, points_down, points_fault } = status
  const devices_in_conflict = status.devices.filter(({ conflict }) => conflict !== undefined).length
  const stored = storingStatus(trouble, now)
  const storedOrWarned = stored.status === 'ok' && devices_in_conflict > 0 ? 'warn' : stored.status
  return {
    status: isPolling(status) ? storedOrWarned : 'fail',
    ...(trouble && { detail: `readings are queued because they cannot be stored: ${trouble.reason}` }),
    ...{ points_ok, points_stale, points_down, points_fault, devices_in_conflict },
    ...{ not_stored_secs: stored.not_stored_secs, readings_waiting: waiting, readings_waiting_max: waiting_max },
    ...Object.fromEntries(
      traffic.flatMap(({ protocol, sent_bytes, received_bytes }) => [
        [`${protocol}_sent_bytes`, sent_bytes],
        [`${protocol}_received_bytes`, received_bytes],
      ]),
    ),
  }
}

/** A destination that is not reached, or an outbox that cannot be read, is a warning: readings are queued for it. */
export function publisherCheck({
  state,
  reason,
  notices,
  note,
  backlog,
  oldest_at,
  drain_per_min,
  dropped,
  thinned,
  rejected,
}: PublisherState): HealthCheck {
  const isWell = state === 'off' || (state === 'up' && reason === undefined && !notices && dropped + thinned + rejected === 0)
  const detail = [...(notices ?? []), reason].filter(part => part !== undefined).join('. ')
  return {
    status: isWell ? 'ok' : 'warn',
    ...{ state, backlog, dropped, thinned, rejected, drain_per_min },
    oldest_at: oldest_at === null ? null : formatInstant(oldest_at),
    ...(detail !== '' && { detail }),
    ...(note !== undefined && { note }),
  }
}

/** A warning at most: polling, rules and the uplink work without the priority history. The reason names a place in its files, no secret. */
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

/** A version on trial fails while something that worked before it does not: the system of the box then goes back. */
export function updateCheck(before: HealthBefore | undefined, now: Parameters<typeof lostSince>[1]): HealthCheck {
  const lost = before ? lostSince(before, now) : []
  return {
    status: lost.length > 0 ? 'fail' : 'ok',
    on_trial: before !== undefined,
    ...(lost.length > 0 && { detail: `since the update: ${lost.join('; ')}` }),
  }
}

/** Wear from which a disk is to be replaced, percent of its life. */
const WORN_PERCENT = 90

/** A warning at most: the box works, and somebody should bring a power supply or a disk. `used_percent` is that of the most worn disk. */
export function hardwareCheck({ undervoltage, wear }: MachineHardware): HealthCheck {
  const used = wear.flatMap(({ used_percent }) => used_percent ?? [])
  const worn = wear.filter(({ used_percent, spare }) => (used_percent ?? 0) >= WORN_PERCENT || (spare ?? 'normal') !== 'normal')
  const details = [
    ...(undervoltage ? ['the supply voltage is too low: use a stronger power supply'] : []),
    ...worn.map(({ disk }) => `${disk} is worn out: replace it`),
  ]
  return {
    status: details.length > 0 ? 'warn' : 'ok',
    ...(details.length > 0 && { detail: details.join('; ') }),
    ...(undervoltage !== undefined && { undervoltage }),
    ...(used.length > 0 && { used_percent: Math.max(...used) }),
  }
}

/** How the storing of readings fares on this box: in its queue or in its history, whichever failed first. */
export function storingOf({ polling, storage }: Pick<EdgeServices, 'polling' | 'storage'>): Storing {
  const stored = polling.storing()
  const trouble = earlierTrouble(stored.trouble, storage.historyTrouble())
  return { ...stored, ...(trouble && { trouble }) }
}

/**
 * The health checks that an appliance adds to those of central.
 *
 * @param parts `healthBefore`: of the version before, while this one is on trial; absent where the system is not ours
 */
export function applianceHealth(parts: {
  edge: Pick<EdgeServices, 'polling' | 'storage' | 'uplink'>
  journal: Pick<PriorityJournal, 'state'>
  ingest: Pick<IngestService, 'edgeIds' | 'counters'>
  edges: Pick<EdgeStore, 'count'>
  clock: Pick<Clock, 'now'>
  healthBefore?: (() => HealthBefore | undefined) | undefined
  /** What the machine told at the start; a machine that tells nothing has no such check. */
  hardware: MachineHardware
}): HealthSources {
  const { edge, journal, ingest, edges, clock, healthBefore, hardware } = parts
  const isTold = hardware.undervoltage !== undefined || hardware.wear.length > 0
  const { polling, uplink } = edge
  return {
    checks: {
      poll: () => pollCheck(polling.pollStatus(), storingOf(edge), clock.now(), polling.traffic()),
      hub: () => publisherCheck(uplink.hubState()),
      priority_history: () => journalCheck(journal.state()),
      edge_ids: ingest.edgeIds,
      ...(isTold && { hardware: async () => hardwareCheck(await readHardware()) }),
      ...(healthBefore && {
        update: () => {
          const { points_ok } = polling.pollStatus()
          return updateCheck(healthBefore(), { points_ok, hub: uplink.hubState(), journal: journal.state() })
        },
      }),
    },
    counters: () => ({ edges: edges.count(), ...ingest.counters() }),
  }
}
