/** The command state of every point, read from the journal once and updated with its new records. */
import { setImmediate } from 'node:timers/promises'
import type { PriorityJournal } from '#shared/core/ports.ts'
import { type CommandState, CommandTracker } from '#shared/core/priority/command-state.ts'

/** Records read at once. Polling continues between two such reads. */
const CHUNK = 500

export class CommandStates {
  readonly #journal: Pick<PriorityJournal, 'page' | 'state'>
  readonly #tracker = new CommandTracker()
  #running: Promise<void> | undefined
  /** The journal has been read to its end. */
  #isComplete = false

  constructor(journal: Pick<PriorityJournal, 'page' | 'state'>) {
    this.#journal = journal
  }

  /** The states as of the newest record of the journal. */
  async current(): Promise<CommandState[]> {
    await this.#update()
    return this.#tracker.states()
  }

  /** The states that are known now; undefined until the journal has been read, which this call starts. */
  cached(): CommandState[] | undefined {
    // A failure is reported by the next call of `current`.
    this.#update().catch(() => undefined)
    return this.#isComplete ? this.#tracker.states() : undefined
  }

  /** Calls during an update wait for that update. */
  #update(): Promise<void> {
    this.#running ??= this.#readNewRecords().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #readNewRecords(): Promise<void> {
    const { first, last } = this.#journal.state()
    const tracker = this.#tracker
    // A journal that was set aside is followed by a new one, which begins at record 1.
    if (last < tracker.last) {
      tracker.clear()
      this.#isComplete = false
    }
    // Oldest first, in chunks: all records at once would take half of the memory that the appliance may use.
    for (let from = Math.max(first, tracker.last + 1); from <= last; from += CHUNK) {
      const { records } = this.#journal.page({ before: Math.min(from + CHUNK, last + 1), limit: CHUNK })
      if (records.length === 0) return
      for (const record of records.toReversed()) if (record.seq > tracker.last) tracker.add(record)
      await setImmediate()
    }
    this.#isComplete = true
  }
}
