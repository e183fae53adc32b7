/** How many requests a server answered, how, and in what time: traffic, errors and latency for whoever watches it. */
import type { FastifyInstance } from 'fastify'
import { SECOND } from '#shared/core/time.ts'

/** Upper bounds of a bucket, s: from an answer out of memory to the longest import. */
export const BUCKETS_SECS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60]

/** `api` includes what scripts and edges call; `page` is everything else that a person waits for. */
type RequestKind = 'api' | 'page' | 'static'
/** `aborted`: the caller went away before the answer was complete. */
type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'aborted'

/** `buckets` counts the answers within each bound of BUCKETS_SECS, not added up; slower ones are in `count` alone. */
type Latency = { buckets: number[]; count: number; sumSecs: number }
export type RequestCounts = {
  /** Requests that are being answered now. */
  running: number
  answered: Map<RequestKind, Map<StatusClass, number>>
  latency: Map<RequestKind, Latency>
}

export const createRequestCounts = (): RequestCounts => ({ running: 0, answered: new Map(), latency: new Map() })

/** Counts every request of a server from its first byte to the end of its answer, also those that no route takes. */
export function countRequests(app: FastifyInstance, counts: RequestCounts): void {
  app.addHook('onRequest', async (request, reply) => {
    counts.running++
    const startedAt = performance.now()
    reply.raw.once('close', () => {
      counts.running--
      const kind = kindOf(request.url)
      const isWhole = reply.raw.writableFinished
      const status = isWhole ? (`${Math.floor(reply.statusCode / 100)}xx` as StatusClass) : 'aborted'
      const answered = counts.answered.get(kind) ?? new Map<StatusClass, number>()
      counts.answered.set(kind, answered.set(status, (answered.get(status) ?? 0) + 1))
      // A stream of events lasts as long as somebody watches it, which says nothing about speed.
      const isStream = String(reply.getHeader('content-type')).startsWith('text/event-stream')
      if (isWhole && !isStream) addLatency(counts, kind, (performance.now() - startedAt) / SECOND)
    })
  })
}

function addLatency({ latency }: RequestCounts, kind: RequestKind, secs: number): void {
  const one = latency.get(kind) ?? { buckets: BUCKETS_SECS.map(() => 0), count: 0, sumSecs: 0 }
  latency.set(kind, one)
  one.count++
  one.sumSecs += secs
  const bucket = BUCKETS_SECS.findIndex(bound => secs <= bound)
  if (bucket >= 0) one.buckets[bucket]!++
}

const kindOf = (url: string): RequestKind =>
  /^\/(?:api|twins)(?:[/?]|$)/.test(url) ? 'api' : url.startsWith('/static/') ? 'static' : 'page'
