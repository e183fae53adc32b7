import type { Logger } from 'pino'
import type { Clock, Inbox } from '#shared/core/ports.ts'
import type { EdgeStore, ModelStore } from '#shared/core/stores.ts'
import type { Service } from '#shared/node/service.ts'

/** Counts since the process started, for health. */
export type IngestCounters = {
  ingest_ok: number
  ingest_duplicate: number
  ingest_rejected: number
  /** Messages of edges whose metadata has not come yet; they are not acknowledged. */
  ingest_waiting: number
  last_ingest_at: number | null
  connected: boolean
}

export declare function ingestService(options: {
  broker: { host: string; port: number }
  ca_pem: string
  /** The certificate of `central:{site_id or *}` and its key. */
  cert_pem: string
  key_pem: string
  inbox: Inbox
  model: ModelStore
  edges: EdgeStore
  clock: Clock
  log: Logger
}): Service & { counters(): IngestCounters }
