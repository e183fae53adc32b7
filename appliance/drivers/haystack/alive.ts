import { HaystackFailure } from './core/failure.ts'
import type { HaystackClient } from './client.ts'
import type { Patience } from './session.ts'

/**
 * Whether a question failed by itself: the server was reached, and says what it is. What ends the login, and a caller who gives
 * up, concern every question.
 */
export async function isAlive(client: HaystackClient, { step }: HaystackFailure, patience: Patience): Promise<boolean> {
  if ((step !== 'op' && step !== 'parse') || patience.signal.aborted) return false
  try {
    await client.about(patience)
    return true
  } catch (error) {
    if (!(error instanceof HaystackFailure)) throw error
    return false
  }
}
