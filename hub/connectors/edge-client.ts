/** The ways from the hub to an edge, and what is made of an edge's answer. */
import type { EdgeRecord } from '#shared/core/stores.ts'
import { type AnswerOf, OPERATIONS, type Operation } from '#shared/core/priority/priority-wire.ts'
import { type DataError, Problem, type ProblemCode } from '#shared/core/problem.ts'
import { fits, schemaErrors } from '#shared/node/http/schema-check.ts'

export type EdgeAnswer = { status: number; body: unknown }
/** @throws Problem edge_unreachable, edge_failed or edge_timeout */
export type Way = (edge: EdgeRecord, operation: Operation, request: object) => Promise<EdgeAnswer>

/** What an edge refuses and the caller can do something about; anything else is the edge's own trouble. */
const PASSED_ON = [
  'bad_request',
  'bad_cursor',
  'cursor_expired',
  'history_damaged',
  'unknown_device',
  'unknown_visit',
  'visit_in_progress',
  'scanner_disabled',
] as const satisfies ProblemCode[]

/** @throws Problem what the edge refused, or edge_failed for an answer that the contract does not know */
export function readAnswer<O extends Operation>(edge_id: string, operation: O, { status, body }: EdgeAnswer): AnswerOf<O> {
  const { answer, status: wanted } = OPERATIONS[operation]
  if (status === wanted && fits(answer, body)) return body as AnswerOf<O>
  if (status === wanted) {
    const [first] = schemaErrors(answer, body)
    throw new Problem('edge_failed', `The answer of ${edge_id} does not fit: ${first?.pointer || 'it'} ${first?.message}`)
  }
  const { code, detail, errors } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const known = PASSED_ON.find(each => each === code)
  const said = typeof detail === 'string' ? detail.slice(0, 1000) : 'it does not say why'
  if (known) throw new Problem(known, said, errorsOf(errors))
  throw new Problem('edge_failed', `${edge_id} answered with ${status}: ${said}`)
}

/** The places that an edge names, as far as they are such. */
function errorsOf(errors: unknown): DataError[] {
  if (!Array.isArray(errors)) return []
  return errors.slice(0, 100).flatMap((error: unknown) => {
    const { pointer, message } = (error ?? {}) as Record<string, unknown>
    return typeof pointer === 'string' && typeof message === 'string' ? [{ pointer, message }] : []
  })
}
