/** Answers requests for the priority history of this edge: over HTTP, over MQTT and for the pages of the appliance. */
import { LEGACY_TENANT } from '#shared/core/tenant.ts'
import type { PriorityJournal } from '#shared/core/ports.ts'
import { type CursorScope, readCursor, writeCursor } from '#shared/core/priority/history-cursor.ts'
import { type LevelMeaning, levelSettings } from '#shared/core/priority/priority-levels.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import type { AnswerOf, PriorityOperation, RequestOf } from '#shared/core/connector/edge-operations.ts'
import {
  HISTORY_SCHEMA,
  type HistoryAnswer,
  type HistoryRequest,
  PAGE_MAX,
  PRIORITY_OPERATIONS,
  RECORDS_BYTES_MAX,
  toWireRecord,
  toWireScanner,
  toWireVisit,
  type WireRecord,
} from '#shared/core/priority/priority-wire.ts'
import { Problem } from '#shared/core/problem.ts'
import { parseInstant } from '#shared/core/time.ts'
import type { EdgeOperations } from '../services/responder.ts'

export type HistoryService = {
  /** @throws Problem one of those that the route of the operation lists */
  ask<O extends PriorityOperation>(operation: O, request: RequestOf<O>): AnswerOf<O>
}
type HistoryServiceDeps = {
  edge_id: string
  journal: Pick<PriorityJournal, 'page' | 'state'>
  schedule: VisitSchedule
  levels: () => LevelMeaning[]
  /** Signs cursors. */
  cursorKey: Uint8Array
}

export function historyService(deps: HistoryServiceDeps): HistoryService {
  const { schedule } = deps
  const answers: { [O in PriorityOperation]: (request: RequestOf<O>) => AnswerOf<O> } = {
    priority_history: request => readPage(deps, request),
    priority_trigger: ({ device_instance, device_id }) => ({ ok: true, ...schedule.trigger(device_instance, device_id) }),
    priority_visit: ({ visit_id }) => {
      const visit = schedule.visit(visit_id)
      if (!visit) throw new Problem('unknown_visit', `No visit ${visit_id} is remembered`)
      return toWireVisit(visit)
    },
  }
  return { ask: (operation, request) => answers[operation](request) }
}

/** The operations of this service, for a hub that asks over MQTT. */
export const priorityOperations = ({ ask }: HistoryService): EdgeOperations =>
  Object.fromEntries(
    Object.entries(PRIORITY_OPERATIONS).map(([name, { request, status }]) => [
      name,
      { request, status, answer: asked => ask(name as PriorityOperation, asked) },
    ]),
  )

/** Reads the records of the page and looks for one more; nothing else is read. */
function readPage({ edge_id, journal, schedule, levels, cursorKey }: HistoryServiceDeps, request: HistoryRequest): HistoryAnswer {
  const { target, page_size = PAGE_MAX, cursor } = request
  const since = instantOf(request.since)
  const scope: CursorScope = { edge_id, tenant_id: LEGACY_TENANT, target, since }
  const before = cursor === undefined ? undefined : positionOf(cursor, scope, { journal, cursorKey })
  const page = journal.page({
    ...(target && { target }),
    ...(since !== undefined && { since }),
    ...(before !== undefined && { before }),
    limit: page_size,
  })
  if (cursor !== undefined && page.records.length === 0) assertReadable(journal)
  const records = fitToMessage(page.records.map(toWireRecord))
  const hasMore = page.more || records.length < page.records.length
  const last = records.at(-1)?.seq
  const own = levelSettings(levels())
  return {
    ok: true,
    schema: HISTORY_SCHEMA,
    records,
    ...(hasMore && last !== undefined && { next_cursor: writeCursor(last, scope, cursorKey) }),
    scanner: toWireScanner(schedule.state(), journal.state()),
    ...(own.length > 0 && { priority_levels: own }),
  }
}

function instantOf(since: string | undefined): number | undefined {
  if (since === undefined) return undefined
  const ms = parseInstant(since)
  if (ms !== undefined) return ms
  const message = `must be an RFC 3339 time with offset, not ${since}`
  throw new Problem('bad_request', `/since ${message}`, [{ pointer: '/since', message }])
}

/** @returns the sequence number that bounds the page */
function positionOf(
  cursor: string,
  scope: CursorScope,
  { journal, cursorKey }: Pick<HistoryServiceDeps, 'journal' | 'cursorKey'>,
): number {
  const before = readCursor(cursor, scope, cursorKey)
  if (before === undefined) {
    const message = 'was altered, or belongs to another edge or filter'
    throw new Problem('bad_cursor', `/cursor ${message}`, [{ pointer: '/cursor', message }])
  }
  const { first, last } = journal.state()
  if (last < first) assertReadable(journal)
  if (before > first && before <= last + 1) return before
  throw new Problem('cursor_expired', `The records before ${before} have been dropped; the oldest record is ${first}`)
}

/** A journal that cannot be read must not be answered with an empty page, which looks like the end of the history. */
function assertReadable(journal: HistoryServiceDeps['journal']): void {
  const { journal: health, reason } = journal.state()
  if (health === 'disabled') throw new Problem('history_damaged', `The history cannot be read: ${reason}`)
}

/** @returns the records that fit into one message, at least one */
function fitToMessage(records: WireRecord[]): WireRecord[] {
  let bytes = 0
  const end = records.findIndex(record => (bytes += Buffer.byteLength(JSON.stringify(record))) > RECORDS_BYTES_MAX)
  return end < 0 ? records : records.slice(0, Math.max(1, end))
}
