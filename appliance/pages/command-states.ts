/** Every point's course, read from the journal once and kept up from there. */
import { setImmediate } from 'node:timers/promises'
import type { PriorityJournal } from '#shared/core/ports.ts'
import { type CommandState, createCommandTracker } from '#shared/core/priority/command-state.ts'

/** Records that are read in one go; polling has its turn in between. */
const CHUNK = 500

export type OverridesBook = {
  /** As of the journal's newest record. */
  courses(): Promise<CommandState[]>
  /** What is known without waiting; undefined before the journal has been read, which begins then. */
  known(): CommandState[] | undefined
}

export function overridesBook(journal: Pick<PriorityJournal, 'page' | 'state'>): OverridesBook {
  const book = createCommandTracker()
  let busy: Promise<void> | undefined
  /** Whether it has been read to its end, and so tells how things are. */
  let isRead = false

  const catchUp = async () => {
    const { first, last } = journal.state()
    // It was set aside, and a new one begins at one.
    if (last < book.last()) {
      book.clear()
      isRead = false
    }
    // Oldest first, chunk by chunk: all of it at once would be half of what the box may take.
    for (let from = Math.max(first, book.last() + 1); from <= last; from += CHUNK) {
      const { records } = journal.page({ before: Math.min(from + CHUNK, last + 1), limit: CHUNK })
      if (records.length === 0) return
      for (const record of records.toReversed()) if (record.seq > book.last()) book.add(record)
      await setImmediate()
    }
    isRead = true
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
    known() {
      // A failure is the next reader's, who waits for it.
      current().catch(() => undefined)
      return isRead ? book.all() : undefined
    },
  }
}
