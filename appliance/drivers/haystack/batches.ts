/** Reads many records in few requests; a record that makes a request fail is isolated. */
import { HaystackFailure } from './core/failure.ts'
import { FAILURES_MAX, splitEvenly } from '../../core/poll/isolate.ts'

/** Records in one request. */
const BATCH_MAX = 200
/** Failed requests before the first success after which the server counts as failed. Halving 200 down to one takes nine. */
const FRUITLESS_MAX = 9
/** Parts into which a failed batch is split: 2 where a failure costs only a message, 4 where it costs its timeout. */
const HALVES = 2
const QUARTERS = 4

type BatchHandlers = {
  ask(part: readonly string[]): Promise<void>
  /** Called with a record that makes every request fail that contains it. */
  onBadRecord(id: string, reason: string): void
  /** Called with a record that was not requested, because too many other requests failed. */
  onNotAsked(id: string, reason: string): void
  /** @returns true when only this request failed: the server answers others */
  isWorthSplitting(error: HaystackFailure): Promise<boolean>
}

/**
 * Asks in batches. A batch whose answer cannot be read is split until the bad record is found.
 *
 * @throws HaystackFailure for a failure that is not worth splitting, and when no answer at all can be read
 */
export async function readInBatches(ids: readonly string[], handlers: BatchHandlers): Promise<void> {
  const { ask, onBadRecord, onNotAsked, isWorthSplitting } = handlers
  const todo: (readonly string[])[] = []
  for (let i = 0; i < ids.length; i += BATCH_MAX) todo.push(ids.slice(i, i + BATCH_MAX))
  const bad: [id: string, reason: string][] = []
  let answered = 0
  let failed = 0
  for (let part = todo.shift(); part; part = todo.shift()) {
    try {
      await ask(part)
      answered++
    } catch (error) {
      if (!(error instanceof HaystackFailure)) throw error
      const isUnreadable = error.step === 'parse'
      if (!isUnreadable && !(await isWorthSplitting(error))) throw error
      failed++
      if (answered === 0 && failed > FRUITLESS_MAX) throw error
      if (part.length === 1) bad.push([part[0]!, error.message])
      else todo.unshift(...splitEvenly(part, error.kind === 'silent' ? QUARTERS : HALVES))
      if (isUnreadable && answered === 0 && todo.length === 0) throw error
      if (error.kind === 'silent' && failed >= FAILURES_MAX) {
        for (const id of todo.flat()) onNotAsked(id, error.message)
        break
      }
    }
  }
  for (const record of bad) onBadRecord(...record)
}
