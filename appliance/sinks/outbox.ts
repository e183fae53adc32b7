import type { Logger } from 'pino'
import type { Finding } from '#shared/core/finding.ts'
import type { Protocol } from '#shared/core/model.ts'
import type { Sink } from '#shared/core/ports.ts'

/** What leaves for the hub: a sink of readings, and a place to put findings. Both are safe on disk when resolved. */
export type Outbox = Sink & {
  putFindings(findings: Finding[]): Promise<void>
  close(): Promise<void>
}

export declare function openOutbox(options: {
  dir: string
  /** SERVICE_OUTBOX_MAX_MB × 2^20 */
  maxBytes: number
  protocolOf: (point_id: string) => Protocol
  log: Logger
}): Promise<Outbox>
