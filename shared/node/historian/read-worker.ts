/** The process that answers queries. */
import type { HistoryQuery, PointSpan } from '#shared/core/ports.ts'
import type { Buckets, Series } from '#shared/core/series/series.ts'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'
import { openHistoryReader } from './reader.ts'

export type ReadInit = { dbPath: string; root: string; memoryMb: number }
export type ReadHandlers = {
  read(query: HistoryQuery): Promise<Series[]>
  buckets(query: HistoryQuery & { maxBuckets: number }): Promise<Buckets[]>
  spans(of: { building_id: string; point_ids?: string[] | undefined }): Promise<PointSpan[]>
  firsts(building_id: string): Promise<Record<string, number>>
}

serveWorker(async (init: ReadInit): Promise<ReadHandlers> => {
  const { read, buckets, spans, firsts, warm } = await openHistoryReader(init)
  return {
    read,
    async buckets(query) {
      // Who looks at a plot of today may ask for a year next.
      setImmediate(warm)
      return buckets(query)
    },
    spans: ({ building_id, point_ids }) => spans(building_id, point_ids),
    firsts,
  }
})
