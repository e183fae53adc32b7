/** Asks for many records in few requests, without one odd record spoiling the others. */
import { HaystackFailure } from '#shared/core/haystack/failure.ts'

/** Records in one request. */
const BATCH_MAX = 200
/** Requests without one answer that can be read, after which nothing of this server can be. Halving 200 down to one takes nine. */
const FRUITLESS_MAX = 9

/**
 * Asks in batches; one whose answer cannot be read is halved until the record that spoils it stands alone.
 *
 * @param spoil hears of such a record
 * @throws HaystackFailure for everything else, and when no answer at all can be read
 */
export async function inParts(
  ids: readonly string[],
  ask: (part: readonly string[]) => Promise<void>,
  spoil: (id: string, reason: string) => void,
): Promise<void> {
  const todo: (readonly string[])[] = []
  for (let i = 0; i < ids.length; i += BATCH_MAX) todo.push(ids.slice(i, i + BATCH_MAX))
  const spoiled: [id: string, reason: string][] = []
  let answered = 0
  let fruitless = 0
  for (let part = todo.shift(); part; part = todo.shift()) {
    try {
      await ask(part)
      answered++
    } catch (error) {
      if (!(error instanceof HaystackFailure) || error.step !== 'parse') throw error
      if (answered === 0 && ++fruitless > FRUITLESS_MAX) throw error
      const half = Math.ceil(part.length / 2)
      if (part.length > 1) todo.unshift(part.slice(0, half), part.slice(half))
      else spoiled.push([part[0]!, error.message])
      if (answered === 0 && todo.length === 0) throw error
    }
  }
  for (const one of spoiled) spoil(...one)
}
