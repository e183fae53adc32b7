import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { type HeardNotice, NOTICE_MS } from '#shared/core/telemetry/notice.ts'

type HubNotices = {
  receive(notices: readonly HeardNotice[]): void
  /** Whether the hub refused the metadata of this edge; it may accept the next. */
  isMetadataRefused(): boolean
  /** Whether the hub stores nothing more of this edge for want of budget. */
  isHeldBack(): boolean
  /** The texts, until the hub takes them back or has not repeated them for a while. */
  current(): string[]
}

/** The latest notices of the hub about this edge. They are not stored: the hub repeats them after a restart. */
export function hubNotices(clock: Clock, log: Logger): HubNotices {
  let received: { notices: readonly HeardNotice[]; at: number } = { notices: [], at: -Infinity }
  const valid = () => (clock.now() - received.at <= NOTICE_MS ? received.notices : [])
  const has = (wanted: string) => valid().some(({ code }) => code === wanted)
  const current = () => valid().map(({ text }) => text)
  return {
    receive(notices) {
      const before = current()
      for (const { text } of notices) if (!before.includes(text)) log.warn(text)
      if (before.length > 0 && notices.length === 0) log.info('hub has withdrawn its notices about this edge')
      received = { notices, at: clock.now() }
    },
    isMetadataRefused: () => has('metadata_refused'),
    isHeldBack: () => has('tenant_over_budget'),
    current,
  }
}
