/** What the hub last said of this edge's standing. It is not kept across a restart: the hub repeats it. */
import type { Logger } from 'pino'
import { type HeardNotice, NOTICE_MS } from '#shared/core/telemetry/notice.ts'
import type { Clock } from '#shared/core/ports.ts'

export type NoticeBoard = {
  hear(notices: readonly HeardNotice[]): void
  /** Whether the hub does not take what this edge says of itself: it may take it the next time. */
  isRefused(): boolean
  /** The texts, until they are taken back or have not been repeated for a while. */
  current(): string[]
}

export function noticeBoard(clock: Clock, log: Logger): NoticeBoard {
  let heard: { notices: readonly HeardNotice[]; at: number } = { notices: [], at: -Infinity }
  const standing = () => (clock.now() - heard.at <= NOTICE_MS ? heard.notices : [])
  const current = () => standing().map(({ text }) => text)
  return {
    hear(notices) {
      const before = current()
      for (const { text } of notices) if (!before.includes(text)) log.warn(text)
      if (before.length > 0 && notices.length === 0) log.info('the hub has nothing against this edge any more')
      heard = { notices, at: clock.now() }
    },
    isRefused: () => standing().some(({ code }) => code === 'metadata_refused'),
    current,
  }
}
