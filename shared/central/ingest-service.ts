/** Ingest of a central over its stores, with its log lines and the periodic write of edge observations. */
import type { Logger } from 'pino'
import type { Clock, Inbox } from '#shared/core/ports.ts'
import type { EdgeClaims, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import type { EdgeBounds } from '#shared/core/telemetry/edge-bounds.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { Ingest } from '#shared/flow/ingest/ingest.ts'
import type { IngestEvent } from '#shared/flow/ingest/ingest-monitor.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { Service } from '#shared/node/service.ts'
import type { HealthCheck, IngestCounters } from './context.ts'

/** Interval at which observations of edges are written, ms. */
const FLUSH_MS = SECOND
/** The same event of the same edge is logged once in this time, ms. */
const QUIET_MS = MINUTE
/** Most events whose last log time is remembered. */
const LOGGED_MAX = 10_000

export type IngestService = Service & {
  ingest: Ingest
  /** Counters for health. */
  counters(): Omit<IngestCounters, 'edges'>
  /** Health check: warns when more than one process runs under an edge id. */
  edgeIds(): HealthCheck
  /** Runs a write to the edge registry and logs its failure; the caller repeats it. @returns whether it succeeded */
  tryWrite(write: () => void): boolean
}

type Parts = {
  inbox: Inbox
  model: ModelStore
  edges: EdgeStore
  claims: EdgeClaims
  clock: Clock
  budget?: StorageBudget | undefined
  bounds?: EdgeBounds | undefined
  log: Logger
}

export function createIngestService(parts: Parts): IngestService {
  const ingest = new Ingest({ ...parts, notify: eventLog(parts.log) })
  const writes = failureLog(parts.log, 'ingest: edge state not written', 'ingest: edge state written again')
  const tryWrite = (write: () => void): boolean => {
    try {
      write()
      writes.worked()
      return true
    } catch (error) {
      writes.failed(error)
      return false
    }
  }
  const flush = () => tryWrite(() => ingest.registry.flush())
  let timer: NodeJS.Timeout | undefined
  return {
    name: 'edges',
    ingest,
    tryWrite,
    counters: () => {
      const { ingest_ok, ingest_duplicate, ingest_rejected, last_ingest_at } = ingest.monitor.counts()
      return { ingest_ok, ingest_duplicate, ingest_rejected, last_ingest_at }
    },
    edgeIds: () => {
      const shared = ingest.registry.sharedIdCount()
      if (shared === 0) return { status: 'ok', shared }
      return { status: 'warn', shared, detail: 'more than one process runs under an edge id; the log names them' }
    },
    start: async () => {
      timer = setInterval(flush, FLUSH_MS)
    },
    async stop() {
      clearInterval(timer)
      flush()
    },
  }
}

/** Logs an event of an edge when it begins, and again only after `QUIET_MS`. */
function eventLog(log: Logger): (event: IngestEvent) => void {
  let logged = new Map<string, number>()
  return event => {
    const text = `ingest: ${event.reason}`
    // The monitor reports failure and recovery once each.
    if (event.kind === 'failed') return log.error(event, text)
    if (event.kind === 'recovered') return log.info(event, text)
    const key = `${event.kind} ${event.edge}`
    const now = Date.now()
    if (now - (logged.get(key) ?? -Infinity) < QUIET_MS) return
    if (logged.size >= LOGGED_MAX) logged = new Map()
    logged.set(key, now)
    log.warn(event, text)
  }
}
