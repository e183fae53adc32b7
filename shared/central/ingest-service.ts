/** What a central takes in from edges, whichever way they send: the flow over its stores, and what is known of edges. */
import type { Logger } from 'pino'
import type { Clock, Inbox } from '#shared/core/ports.ts'
import type { EdgeClaims, EdgeStore, ModelStore } from '#shared/core/stores.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'
import { ingest, type Ingest, type IngestEvent } from '#shared/flow/ingest/ingest.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import type { Service } from '#shared/node/service.ts'
import type { HealthCheck, IngestCounters as Counters } from './context.ts'

/** How often what was seen of edges is written, ms. */
const FLUSH_MS = SECOND
/** The same complaint about the same edge is logged once in this time, ms. */
const QUIET_MS = MINUTE
/** Most complaints that are remembered for it. */
const SAID_MAX = 10_000

export type IngestDesk = Service & {
  flow: Ingest
  /** What health says of it. */
  counters(): Omit<Counters, 'edges'>
  /** Whether each edge id is one process's. */
  edgeIds(): HealthCheck
  /** Runs a write of what is known of edges. What cannot be written stays for a later turn. @returns whether it was */
  keep(write: () => void): boolean
}

type Parts = { inbox: Inbox; model: ModelStore; edges: EdgeStore; claims: EdgeClaims; clock: Clock; log: Logger }

export function ingestDesk(parts: Parts): IngestDesk {
  const notify = notifier(parts.log)
  const flow = ingest({ ...parts, notify })
  const known = failureLog(
    parts.log,
    'ingest: what is known of edges is not kept',
    'ingest: what is known of edges is kept again',
  )
  const keep = (write: () => void): boolean => {
    try {
      write()
      known.worked()
      return true
    } catch (error) {
      known.failed(error)
      return false
    }
  }
  let timer: NodeJS.Timeout | undefined
  return {
    name: 'edges',
    flow,
    keep,
    counters: () => {
      const { ingest_ok, ingest_duplicate, ingest_rejected, last_ingest_at } = flow.counters()
      return { ingest_ok, ingest_duplicate, ingest_rejected, last_ingest_at }
    },
    edgeIds: () => {
      const shared = flow.book.sharedCount()
      if (shared === 0) return { status: 'ok', shared }
      return { status: 'warn', shared, detail: 'more than one process runs under an edge id; the log names them' }
    },
    start: async () => {
      timer = setInterval(() => keep(flow.flush), FLUSH_MS)
    },
    async stop() {
      clearInterval(timer)
      keep(flow.flush)
    },
  }
}

/** Logs each complaint about an edge when it begins, not each time. */
function notifier(log: Logger): (event: IngestEvent) => void {
  let said = new Map<string, number>()
  return event => {
    const text = `ingest: ${event.reason}`
    // The flow says these once, when it begins and when it is over.
    if (event.kind === 'failed') return log.error(event, text)
    if (event.kind === 'recovered') return log.info(event, text)
    const key = `${event.kind} ${event.edge}`
    const now = Date.now()
    if (now - (said.get(key) ?? -Infinity) < QUIET_MS) return
    if (said.size >= SAID_MAX) said = new Map()
    said.set(key, now)
    log.warn(event, text)
  }
}
