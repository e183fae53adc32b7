import type { PriorityJournal } from '#shared/core/ports.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import type { Service } from '#shared/node/service.ts'

/** The priority history of an edge: what was seen, and who looks. */
export type PriorityHistory = {
  journal: PriorityJournal
  scanner: VisitSchedule
  /** Visits from start to stop; after it the journal is closed. */
  service: Service
}
