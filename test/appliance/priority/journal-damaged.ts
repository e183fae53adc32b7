/** Journals for tests of damage, and assertions about them. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { inspectJournal } from '#appliance/priority/journal-log.ts'
import { allRecords, journalFolder, openJournal } from '../../support/journal-harness.ts'
import { reading, readings } from '../../support/journal-written.ts'

export const segmentBytes = 4800
export const inspectQuietly = async (dir: string) => inspectJournal(dir, { record: () => undefined })
export const segmentsOf = (dir: string) =>
  readdirSync(dir)
    .filter(name => name.endsWith('.jsonl'))
    .toSorted()
const contents = (dir: string) => new Map(readdirSync(dir).map(name => [name, readFileSync(join(dir, name), 'latin1')]))
export const copyOf = (t: ExecutionContext, dir: string): string => {
  const copy = journalFolder(t)
  cpSync(dir, copy, { recursive: true })
  return copy
}

/** Three segments with visits of two to four records. `killed`: head.json does not name the last visits. */
export async function threeSegments(
  t: ExecutionContext,
  killed = false,
): Promise<{ dir: string; names: string[]; last: number }> {
  const dir = journalFolder(t)
  const journal = await openJournal(t, { dir, segmentBytes, headMs: 3_600_000 })
  const point = { target: { ...reading(1).target }, label: 'Damper' }
  let last = 0
  for (;;) {
    const size = 2 + (last % 3)
    await journal.append(readings(last + 1, last + size).map(seen => ({ ...seen, ...point })))
    last += size
    const names = segmentsOf(dir)
    if (names.length === 3 && readFileSync(join(dir, names[2]!), 'latin1').split('"r":0,').length === 4) break
    if (names.length > 3) throw new Error('a segment holds fewer than three visits')
  }
  const head = readFileSync(join(dir, 'head.json'))
  await journal.close()
  if (killed) writeFileSync(join(dir, 'head.json'), head)
  return { dir, names: segmentsOf(dir), last }
}

/** Asserts that a damaged journal stays closed and unchanged, with a reason that gives the place. */
export async function assertRefused(t: ExecutionContext, dir: string, reason: RegExp, what: string) {
  const before = contents(dir)
  const journal = await openJournal(t, { dir })
  const state = journal.state()
  t.is(state.journal, 'disabled', what)
  t.regex(state.reason!, reason, what)
  t.deepEqual(allRecords(journal), [])
  t.deepEqual(contents(dir), before, `${what}: nothing is changed`)
}

/** The end and the last record of each visit of the last segment, and the last record that `head.json` acknowledges. */
export function endsOf(dir: string, names: string[], whole: Buffer) {
  const head = Number(/"last":(\d+)/.exec(readFileSync(join(dir, 'head.json'), 'utf8'))![1])
  const ends = [...whole.toString('latin1').matchAll(/\{"n":(\d+),"g":\d+,"r":0,.*\n/g)].map(line => ({
    at: line.index + line[0].length,
    last: Number(line[1]),
  }))
  return { ends, head, first: Number(names[2]!.slice(0, 16)) }
}
