import type { FastifyReply } from 'fastify'
import { Problem } from '#shared/core/problem.ts'

/** Aborts when the connection closes before the answer has gone out: nobody waits for the work any more. */
export function untilGone({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new Problem('not_ready', 'Whoever asked has gone'))
  })
  return gone.signal
}
