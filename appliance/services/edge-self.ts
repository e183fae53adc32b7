/** What an edge says of itself, the same by MQTT and over HTTP. */
import type { PollStatus } from '#shared/core/poll/poll-status.ts'
import type { EdgeModel } from '#shared/core/telemetry/metadata.ts'
import { writePollReport } from '#shared/core/telemetry/poll-report.ts'
import { writeStatus } from '#shared/core/telemetry/status.ts'
import type { Outbox } from '../sinks/outbox.ts'
import type { Sender } from './sender.ts'

export type EdgeSelf = {
  site_id: string
  edge_id: string
  /** Differs after every start of the process. */
  boot_id: string
  /** Read at each connection and with each status, and sent when it has changed. */
  model: () => EdgeModel
  pollStatus: () => PollStatus
  /** Whether it runs the rules itself; where it does not, central does. */
  runs_rules: boolean
}

/** @returns the body of a status, ready to be sent */
export function statusBody(
  { boot_id, model, pollStatus, runs_rules }: EdgeSelf,
  {
    online,
    outbox,
    sending,
    cert_not_after,
  }: { online: boolean; outbox: Outbox; sending: Sender; cert_not_after: number | null },
): object {
  const { backlog, oldest_at, dropped, thinned, clockOffset, note } = sending.state()
  return writeStatus({
    online,
    version: model().version,
    boot_id,
    backlog: { rows: backlog, oldest_at },
    clock_offset_ms: clockOffset,
    dropped,
    thinned,
    disk: { free_bytes: outbox.freeBytes() },
    cert_not_after,
    runs_rules,
    poll: writePollReport(pollStatus()),
    ...(note !== undefined && { note }),
  })
}
