/** The parts that the publishers to the hub and to central share: sending from the outbox, status, notices and their state. */
import type { Logger } from 'pino'
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import type { Clock } from '#shared/core/ports.ts'
import type { EdgeModel } from '#shared/core/telemetry/metadata.ts'
import type { HeardNotice } from '#shared/core/telemetry/notice.ts'
import { writePollReport } from '#shared/core/telemetry/poll-report.ts'
import { type StatusAnswer, writeStatus } from '#shared/core/telemetry/status.ts'
import type { SystemReport } from '#shared/core/update/update-wire.ts'
import type { Service } from '#shared/node/service.ts'
import { clockOffsetMeter } from '../core/outbox/clock-offset.ts'
import type { TelemetryBody } from '../core/outbox/outbox-messages.ts'
import type { Outbox } from '../sinks/outbox.ts'
import type { Destination } from '../sinks/outbox-reader.ts'
import { hubNotices } from './hub-notices.ts'
import { OutboxSender, type OutboxSenderOptions } from './outbox-sender.ts'

/** The edge as its metadata and status describe it, to the hub and to central alike. */
export type EdgeDescription = {
  site_id: string
  edge_id: string
  /** Differs after every start of the process. */
  boot_id: string
  /** Read at each connection and with each status, and sent when it has changed. */
  model: () => EdgeModel
  pollStatus: () => PollStatus
  /** The newest reading of each point, split into messages. */
  newestReadings: () => TelemetryBody[]
  /** Whether this process runs the rules itself; if not, central does. */
  runs_rules: boolean
  /** When the newest run of the rules ended; only where this process runs them. */
  lastCheckAt?: (() => number | null) | undefined
  /** The system of the box; undefined where it is not ours. */
  system?: (() => SystemReport | undefined) | undefined
}

/** Sends what the outbox holds to one destination, as a service. */
export type Publisher = Service & {
  state(): PublisherState
  /** Sends the status at once: polling has started, or points were added or removed. */
  announce(): void
}

/** The state that pages and health show, of the publisher to the hub or to the central on the box. Times are ms since 1970 UTC. */
export type PublisherState = {
  state: 'off' | 'connecting' | 'up'
  /** Why it is not up, in words. */
  reason?: string
  /** Notices of the hub about this edge: that it is refused, or shares its id or its building. */
  notices?: string[]
  /** The reason for which the outbox began a new stream at this start. */
  note?: string
  /** Messages that are not acknowledged yet. */
  backlog: number
  /** When the oldest of them was written. */
  oldest_at: number | null
  /** By how many they become fewer in a minute, negative while they become more; null before that is known. */
  drain_per_min: number | null
  /** Messages dropped since start because there was no room for them. */
  dropped: number
  /** Messages reduced since start, for want of room, to one value for each point and quarter of an hour. */
  thinned: number
  /** Messages that the destination has refused since start; they are stored aside. */
  rejected: number
  last_ack_at: number | null
  /** When the certificate of the session ends; null where it has none. */
  cert_not_after: number | null
  /** By how much the clock of this machine is ahead of the hub's, ms; null while that is unknown. */
  clock_offset_ms: number | null
}

/** The state of a publisher that this process does not have. */
export const PUBLISHER_OFF: PublisherState = {
  state: 'off',
  backlog: 0,
  oldest_at: null,
  drain_per_min: null,
  dropped: 0,
  thinned: 0,
  rejected: 0,
  last_ack_at: null,
  cert_not_after: null,
  clock_offset_ms: null,
}

export type PublisherOptions = { outbox: Outbox; edge: EdgeDescription; clock: Clock; log: Logger }
export type PublisherParts = ReturnType<typeof publisherParts>

/** The parts that both publishers share. The function is long because state and messages share the sender. */
export function publisherParts(
  { outbox, edge, clock, log }: PublisherOptions,
  to: {
    destination: Destination
    /** Of the session; null where it has none. Both questions get the time, ms since 1970 UTC; the second is about the HTTPS port. */
    certificate: () => { not_after: number; isRenewalDue(now: number): boolean; isPortRenewalDue(now: number): boolean } | null
    publish: OutboxSenderOptions['publish']
  },
) {
  const { site_id, edge_id, boot_id } = edge
  const notices = hubNotices(clock, log)
  let clocks = clockOffsetMeter()
  const sender = new OutboxSender({
    reader: outbox.reader(to.destination),
    edge: { site_id, edge_id },
    building: () => edge.model().building.building_id,
    clock,
    log,
    publish: to.publish,
    isHeldBack: notices.isHeldBack,
    clocks: () => clocks.messages,
  })
  return {
    notices,
    receiveNotices(received: readonly HeardNotice[]): void {
      const before = notices.isHeldBack()
      notices.receive(received)
      if (notices.isHeldBack() !== before) sender.holdChanged()
    },
    sender,
    clockOffset: () => clocks.offset(),
    /** What was measured against the clock before it was set does not count any more. */
    clockWasSet(): void {
      clocks = clockOffsetMeter()
    },
    /** The destination has answered a status with its time. */
    statusAnswered: ({ sent_at, at }: StatusAnswer) => clocks.statuses.answered(sent_at, at, clock.now()),
    /** @returns the body of a status */
    status(online: boolean): object {
      const { backlog, oldest_at, drain_per_min, dropped, thinned, note } = sender.state()
      const certificate = to.certificate()
      const sent_at = clock.now()
      const clock_offset_ms = clocks.offset()
      const hubTime = sent_at - (clock_offset_ms ?? 0)
      clocks.statuses.sent(sent_at, sent_at)
      const system = edge.system?.()
      return writeStatus({
        online,
        sent_at,
        version: edge.model().version,
        boot_id,
        backlog: { rows: backlog, oldest_at, drain_per_min },
        clock_offset_ms,
        dropped,
        thinned,
        disk: outbox.disk(),
        cert_not_after: certificate?.not_after ?? null,
        ...(certificate?.isRenewalDue(hubTime) && { cert_renewal_due: true as const }),
        ...(certificate?.isPortRenewalDue(hubTime) && { port_cert_renewal_due: true as const }),
        runs_rules: edge.runs_rules,
        ...(edge.lastCheckAt && { last_check_at: edge.lastCheckAt() }),
        poll: writePollReport(edge.pollStatus()),
        ...(system && { system }),
        ...(note !== undefined && { note }),
      })
    },
    /** @param link `reason` says why the connection is not up */
    state(link: { isUp: boolean; reason: string | undefined }): PublisherState {
      const { backlog, oldest_at, drain_per_min, dropped, thinned, rejected, lastAckAt, damage, note } = sender.state()
      const reason = damage ?? link.reason
      const texts = notices.current()
      return {
        state: link.isUp ? 'up' : 'connecting',
        ...(reason !== undefined && { reason }),
        ...(texts.length > 0 && { notices: texts }),
        ...(note !== undefined && { note }),
        backlog,
        oldest_at,
        drain_per_min,
        dropped,
        thinned,
        rejected,
        last_ack_at: lastAckAt,
        cert_not_after: to.certificate()?.not_after ?? null,
        clock_offset_ms: clocks.offset(),
      }
    },
  }
}
