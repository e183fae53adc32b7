/** Journals in folders of their own, and what is written into them: what record n says follows from n. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import pino from 'pino'
import { LEVELS, type PriorityReading, type PriorityRecord, type Slot } from '#shared/core/priority/record.ts'
import { type JournalOptions, type OpenPriorityJournal, openPriorityJournal } from '../../appliance/priority/journal.ts'

/** Points that are visited in turn, and records after which one says something else. */
export const POINTS = 13
const SAME = 61

/** The reading that becomes record `seq`. */
export function reading(seq: number): PriorityReading {
  const command = Math.floor(seq / SAME)
  const slots = Array.from({ length: LEVELS }, (_, i): Slot => {
    const level = i + 1
    if (level === 1 + (command % LEVELS)) return { level, state: 'value', type: 'real', value: command + 0.5 }
    return level === 10 ? { level, state: 'error', error: 'read-access-denied' } : { level, state: 'null' }
  })
  return {
    observed_at: Date.UTC(2026, 0, 1) + seq * 1000,
    target: { device_instance: 1000, object_type: 'analog-output', object_instance: seq % POINTS },
    label: `Damper ${seq % POINTS} "ü"`,
    slots,
    active_level: command % LEVELS === 9 ? null : 1 + (command % LEVELS),
    present_value: command + 0.5,
    source: 'scheduled',
  }
}

export const readings = (from: number, to: number): PriorityReading[] =>
  Array.from({ length: to - from + 1 }, (_, i) => reading(from + i))

/** Opens a journal that closes when the test ends. */
export async function opened(
  t: ExecutionContext,
  options: Partial<JournalOptions> & { dir: string },
): Promise<OpenPriorityJournal> {
  const journal = await openPriorityJournal({ maxRecords: 1000, log: pino({ level: 'silent' }), ...options })
  t.teardown(() => journal.close())
  return journal
}

export function folder(t: ExecutionContext, root = tmpdir()): string {
  const path = mkdtempSync(join(root, 'plenum-priority-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return join(path, 'journal')
}

/** Everything within retention, newest first, read page by page. */
export function everything(journal: OpenPriorityJournal): PriorityRecord[] {
  const all: PriorityRecord[] = []
  for (let before: number | undefined; ; before = all.at(-1)!.seq) {
    const { records, more } = journal.page({ limit: 100, ...(before !== undefined && { before }) })
    all.push(...records)
    if (!more) return all
  }
}

/** @returns what is not as it was written, in words; empty when all of it is */
export function strange(records: PriorityRecord[]): string[] {
  return records.flatMap(({ seq, changed, ...said }, i) => {
    const next = records[i - 1]
    if (next && next.seq !== seq + 1) return [`${next.seq} follows ${seq}`]
    const { observed_at, ...state } = said
    const { observed_at: at, ...wanted } = reading(seq)
    const differs = seq > POINTS && JSON.stringify(reading(seq - POINTS).slots) !== JSON.stringify(wanted.slots)
    const sameText = JSON.stringify(sorted(state)) === JSON.stringify(sorted(wanted)) && observed_at === at
    const sameChange = seq <= POINTS ? changed.length === LEVELS : changed.length > 0 === differs
    return sameText && sameChange ? [] : [`record ${seq} is not what was written`]
  })
}

const sorted = (record: object): [string, unknown][] => Object.entries(record).toSorted(([a], [b]) => a.localeCompare(b))
