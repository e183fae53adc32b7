/** Every point's course, read from the journal once and kept up from there. */
import { setImmediate } from 'node:timers/promises'
import type { PriorityJournal } from '#shared/core/ports.ts'
import type { PriorityRecord } from '#shared/core/priority/record.ts'
import { type Course, courseBook } from '#shared/core/priority/timeline.ts'

/** Records that are read in one go; polling has its turn in between. */
const CHUNK = 500

export type OverridesBook = {
  /** As of the journal's newest record. */
  courses(): Promise<Course[]>
  course(key: string): Promise<Course | undefined>
  /** What is known without waiting; undefined before the journal has been read, which begins then. */
  known(): Course[] | undefined
}

export function overridesBook(journal: Pick<PriorityJournal, 'page' | 'state'>): OverridesBook {
  const book = courseBook()
  let busy: Promise<void> | undefined

  const catchUp = async () => {
    const { last } = journal.state()
    // It was set aside, and a new one begins at one.
    if (last < book.last()) book.clear()
    const fresh: PriorityRecord[][] = []
    for (let before = last + 1, more = true; more && before > book.last() + 1; ) {
      const page = journal.page({ before, limit: CHUNK })
      const records = page.records.filter(({ seq }) => seq > book.last())
      if (records.length > 0) fresh.push(records)
      before = page.records.at(-1)?.seq ?? 0
      more = page.more
      await setImmediate()
    }
    for (const records of fresh.toReversed()) for (const record of records.toReversed()) book.add(record)
  }
  /** One at a time: whoever comes meanwhile waits for the same. */
  const current = () => {
    busy ??= catchUp().finally(() => {
      busy = undefined
    })
    return busy
  }

  return {
    async courses() {
      await current()
      return book.all()
    },
    async course(key) {
      await current()
      return book.get(key)
    },
    known() {
      // A failure is the next reader's, who waits for it.
      current().catch(() => undefined)
      return book.last() > 0 ? book.all() : undefined
    },
  }
}
