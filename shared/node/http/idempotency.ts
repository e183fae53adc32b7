import { createHash } from 'node:crypto'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'

/**
 * How long replies are stored for repeated requests, and how many. Later repetitions are safe as well, because writes can be
 * repeated.
 */
const KEPT_MS = DAY
const KEPT_MAX = 1000
const KEY = /^[\x21-\x7e]{1,128}$/

type StoredReply = { bodyHash: string; at: number; answer: Promise<unknown> }
export type Idempotency = { once(key: string, body: unknown, run: () => Promise<unknown>): Promise<unknown> }

/**
 * Runs a request once for each key: a repetition gets the first reply, also while the first request is still running. A
 * failed request may be repeated.
 *
 * @param now the wall clock, ms
 */
export function openIdempotency(now: () => number): Idempotency {
  const kept = new Map<string, StoredReply>()
  return {
    once(key, body, run) {
      const bodyHash = createHash('sha256')
        .update(JSON.stringify(body ?? null))
        .digest('hex')
      const known = kept.get(key)
      if (known && known.at > now() - KEPT_MS) {
        if (known.bodyHash === bodyHash) return known.answer
        throw new Problem('conflict', 'This Idempotency-Key was used before with another body')
      }
      const answer = run()
      kept.delete(key)
      kept.set(key, { bodyHash, at: now(), answer })
      answer.catch(() => kept.delete(key))
      if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value!)
      return answer
    },
  }
}

/** @throws Problem bad_request when the header is not a valid key */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !KEY.test(header)) {
    throw new Problem('bad_request', 'Idempotency-Key must have 1 to 128 visible ASCII characters')
  }
  return header
}
