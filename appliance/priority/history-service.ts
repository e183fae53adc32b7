/** Answers questions about the priority history of this edge; the same over HTTP, over MQTT and for the pages on the box. */
import type { PriorityJournal } from '#shared/core/ports.ts'
import { type CursorScope, readCursor, writeCursor } from '#shared/core/priority/history-cursor.ts'
import type { VisitSchedule } from '#shared/core/priority/visit.ts'
import {
  type AnswerOf,
  HISTORY_SCHEMA,
  type HistoryAnswer,
  type HistoryRequest,
  type Operation,
  PAGE_MAX,
  RECORDS_BYTES_MAX,
  type RequestOf,
  toWireRecord,
  toWireScanner,
  toWireVisit,
  type WireRecord,
} from '#shared/core/priority/priority-wire.ts'
import { Problem } from '#shared/core/problem.ts'
import { parseInstant } from '#shared/core/time.ts'

export type PriorityDesk = {
  /** @throws Problem as the operation's route tells */
  ask<O extends Operation>(operation: O, request: RequestOf<O>): AnswerOf<O>
}
export type DeskParts = {
  edge_id: string
  journal: Pick<PriorityJournal, 'page' | 'state'>
  scanner: VisitSchedule
  /** Signs cursors. */
  cursorKey: Uint8Array
}

/** The tenant of an edge where tenants are off. */
const TENANT = 'legacy'

export function priorityDesk(parts: DeskParts): PriorityDesk {
  const { scanner } = parts
  const answers: { [O in Operation]: (request: RequestOf<O>) => AnswerOf<O> } = {
    priority_history: request => pageOf(parts, request),
    priority_trigger: ({ device_instance, device_id }) => ({ ok: true, ...scanner.trigger(device_instance, device_id) }),
    priority_visit: ({ visit_id }) => {
      const visit = scanner.visit(visit_id)
      if (!visit) throw new Problem('unknown_visit', `No visit ${visit_id} is remembered`)
      return toWireVisit(visit)
    },
  }
  return { ask: (operation, request) => answers[operation](request) }
}

/** Reads the page and one continuation probe, nothing more. */
function pageOf({ edge_id, journal, scanner, cursorKey }: DeskParts, request: HistoryRequest): HistoryAnswer {
  const { target, page_size = PAGE_MAX, cursor } = request
  const since = instantOf(request.since)
  const scope: CursorScope = { edge_id, tenant_id: TENANT, target, since }
  const before = cursor === undefined ? undefined : placeOf(cursor, scope, { journal, cursorKey })
  const page = journal.page({
    ...(target && { target }),
    ...(since !== undefined && { since }),
    ...(before !== undefined && { before }),
    limit: page_size,
  })
  if (cursor !== undefined && page.records.length === 0) assertReadable(journal)
  const records = fitting(page.records.map(toWireRecord))
  const goesOn = page.more || records.length < page.records.length
  const last = records.at(-1)?.seq
  return {
    ok: true,
    schema: HISTORY_SCHEMA,
    records,
    ...(goesOn && last !== undefined && { next_cursor: writeCursor(last, scope, cursorKey) }),
    scanner: toWireScanner(scanner.state(), journal.state()),
  }
}

function instantOf(since: string | undefined): number | undefined {
  if (since === undefined) return undefined
  const ms = parseInstant(since)
  if (ms !== undefined) return ms
  const message = `must be an RFC 3339 time with offset, not ${since}`
  throw new Problem('bad_request', `/since ${message}`, [{ pointer: '/since', message }])
}

/** @returns the sequence before which the page lies */
function placeOf(cursor: string, scope: CursorScope, { journal, cursorKey }: Pick<DeskParts, 'journal' | 'cursorKey'>): number {
  const before = readCursor(cursor, scope, cursorKey)
  if (before === undefined) {
    const message = 'was altered, or belongs to another edge or filter'
    throw new Problem('bad_cursor', `/cursor ${message}`, [{ pointer: '/cursor', message }])
  }
  const { first, last } = journal.state()
  if (last < first) assertReadable(journal)
  if (before > first && before <= last + 1) return before
  throw new Problem('cursor_expired', `What lies before record ${before} is no longer kept; the oldest is ${first}`)
}

/** An empty page must not look like the end of what can only not be read. */
function assertReadable(journal: DeskParts['journal']): void {
  const { journal: health, reason } = journal.state()
  if (health === 'disabled') throw new Problem('history_damaged', `The history cannot be read: ${reason}`)
}

/** @returns as many records as one message may hold, at least one */
function fitting(records: WireRecord[]): WireRecord[] {
  let bytes = 0
  const end = records.findIndex(record => (bytes += Buffer.byteLength(JSON.stringify(record))) > RECORDS_BYTES_MAX)
  return end < 0 ? records : records.slice(0, Math.max(1, end))
}
