/** Journals in temporary folders. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import pino from 'pino'
import type { PriorityRecord } from '#shared/core/priority/priority-record.ts'
import { type JournalOptions, type OpenPriorityJournal, openPriorityJournal } from '#appliance/priority/priority-journal.ts'

/** Opens a journal that closes when the test ends. */
export async function openJournal(
  t: ExecutionContext,
  options: Partial<JournalOptions> & { dir: string },
): Promise<OpenPriorityJournal> {
  const journal = await openPriorityJournal({ maxRecords: 1000, log: pino({ level: 'silent' }), ...options })
  t.teardown(() => journal.close())
  return journal
}

export function journalFolder(t: ExecutionContext, root = tmpdir()): string {
  const path = mkdtempSync(join(root, 'plenum-priority-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return join(path, 'journal')
}

/** All records within the retention, newest first, read page by page. */
export function allRecords(journal: OpenPriorityJournal): PriorityRecord[] {
  const all: PriorityRecord[] = []
  for (let before: number | undefined; ; before = all.at(-1)!.seq) {
    const { records, more } = journal.page({ limit: 100, ...(before !== undefined && { before }) })
    all.push(...records)
    if (!more) return all
  }
}
