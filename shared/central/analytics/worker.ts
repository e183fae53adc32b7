/** The process that computes analytics, so that they never delay a poll. */
import { analyseEconomizer, type EconomizerAnswer, type EconomizerJob } from '#shared/flow/analytics/analyse-economizer.ts'
import {
  analyseOperations,
  countFaults,
  type FaultsJob,
  type OperationFaults,
  type OperationHistory,
  type OperationsJob,
} from '#shared/flow/analytics/analyse-operations.ts'
import { type ScreenJob, screenAnomalies, type Screening } from '#shared/flow/analytics/screen-anomalies.ts'
import type { HistoryReader } from '#shared/core/ports.ts'
import { openHistoryReader } from '#shared/node/historian/reader.ts'
import { serveWorker } from '#shared/node/worker/serve-worker.ts'
import { openReadOnly } from '#shared/node/sqlite.ts'
import { noteStore } from '#shared/node/store/notes.ts'
import { resultStores } from '#shared/node/store/results.ts'

export type AnalyticsInit = { dbPath: string; root: string; memoryMb: number }
export type AnalyticsHandlers = {
  economizer(job: EconomizerJob): Promise<EconomizerAnswer[]>
  operations(job: OperationsJob): Promise<OperationHistory>
  faults(job: FaultsJob): OperationFaults
  screen(job: ScreenJob): Promise<Screening>
}

serveWorker((init: AnalyticsInit): AnalyticsHandlers => {
  const withHistory = async <T>(work: (historian: HistoryReader) => Promise<T>): Promise<T> => {
    const historian = await openHistoryReader(init)
    try {
      return await work(historian)
    } finally {
      historian.close()
    }
  }
  return {
    economizer: job => withHistory(historian => analyseEconomizer(job, { historian })),
    screen: job => withHistory(historian => screenAnomalies(job, { historian })),
    operations: job => withHistory(historian => analyseOperations(job, { historian })),
    faults(job) {
      const db = openReadOnly(init.dbPath)
      try {
        return countFaults(job, { findings: resultStores(db).findings, notes: noteStore(db) })
      } finally {
        db.close()
      }
    },
  }
})
