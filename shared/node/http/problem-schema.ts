/** How the OpenAPI document states problems. */
import { Type } from '@sinclair/typebox'
import { type ProblemCode, PROBLEMS } from '#shared/core/problem.ts'

const PLACE = Type.Object({
  pointer: Type.Optional(Type.String({ description: 'into the request' })),
  row: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.String()),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
})
/** A component of the document. */
export const PROBLEM_SCHEMA = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
    request_id: Type.String(),
    ok: Type.Literal(false),
    error: Type.String(),
    code: Type.String(),
    errors: Type.Optional(Type.Array(PLACE, { description: 'where data is wrong, at most 100 places' })),
    errors_total: Type.Optional(Type.Integer({ description: 'of all places' })),
    agent_hints: Type.Optional(Type.Array(Type.Object({ code: Type.String(), action: Type.String(), example: Type.String() }))),
  },
  { $id: 'Problem' },
)

export const problemAnswer = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: `${PROBLEM_SCHEMA.$id}#` } } },
})

/** The codes of each status, and what they mean. */
export function problemsByStatus(codes: readonly ProblemCode[]): Record<string, object> {
  const byStatus = Map.groupBy(codes, code => PROBLEMS[code].status)
  const described = (own: ProblemCode[]) => own.map(code => `\`${code}\`: ${PROBLEMS[code].title}`).join('; ')
  return Object.fromEntries([...byStatus].map(([status, own]) => [status, problemAnswer(described(own))]))
}
