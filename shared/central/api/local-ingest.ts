/** The way in for protocol processes on the same box, without a broker (contract §10). */
import { Type } from '@sinclair/typebox'
import { Problem, toProblemJson } from '#shared/core/problem.ts'
import { MESSAGE_MAX, METADATA_MAX, STATUS_MAX } from '#shared/core/telemetry/body.ts'
import { LocalIngest } from '#shared/flow/ingest/local-ingest.ts'
import { oneOf, route, type Route } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { IngestService } from '#shared/central/ingest-service.ts'

const Body = Type.Record(Type.String(), Type.Unknown())
const Mark = { through_seq: Type.Integer(), through_id: Type.Optional(Type.String()) }
const Refused = Type.Object({ pointer: Type.String(), reason: Type.String() })
const Answer = Type.Object({
  ok: Type.Literal(true),
  status: oneOf(['stored', 'duplicate', 'rejected']),
  ...Mark,
  rejected: Type.Array(Refused),
})

/** @param token SERVICE_LOCAL_INGEST_TOKEN; without it every request is refused */
export function localIngestRoutes(
  { site_id }: Pick<CentralContext, 'site_id'>,
  ingestService: Pick<IngestService, 'ingest'>,
  token: string | undefined,
): Route[] {
  const local = new LocalIngest(ingestService.ingest, site_id)
  const bearer = { subject: 'local ingest', value: token, variable: 'SERVICE_LOCAL_INGEST_TOKEN' }
  const common = { method: 'POST', auth: 'edge', bearer, body: Body } as const
  return [
    route({
      ...common,
      path: '/api/ingest/local',
      summary: 'Takes one telemetry message of a protocol process on this box; the same message again is a duplicate',
      bodyMax: MESSAGE_MAX,
      reply: Answer,
      problems: ['unknown_edge', 'invalid', 'conflict', 'not_ready'],
      handle: ({ body, request, reply, request_id }) => {
        const { status, ...answer } = local.storeTelemetry(body)
        if (status !== 'gap') return { ok: true, status, ...answer }
        const { through_seq, through_id } = answer
        const problem = new Problem('conflict', `Messages before this one are missing; the next is number ${through_seq + 1}`)
        const json = toProblemJson(problem, { instance: request.url, request_id })
        const mark = { through_seq, ...(through_id !== undefined && { through_id }) }
        return reply
          .code(json.status)
          .type('application/problem+json')
          .send(Buffer.from(JSON.stringify({ ...json, ...mark })))
      },
    }),
    route({
      ...common,
      path: '/api/ingest/local/metadata',
      summary: 'Takes the building, equipment and points of a protocol process on this box',
      bodyMax: METADATA_MAX,
      reply: Type.Object({ ok: Type.Literal(true), revision: Type.Integer() }),
      problems: ['invalid', 'not_ready'],
      handle: ({ body }) => ({ ok: true, ...local.applyMetadata(body) }),
    }),
    route({
      ...common,
      path: '/api/ingest/local/status',
      summary: 'Takes what a protocol process on this box says of itself and of its polling',
      bodyMax: STATUS_MAX,
      reply: Type.Object({
        ok: Type.Literal(true),
        metadata_revision: Type.Union([Type.Integer(), Type.Null()]),
        notices: Type.Optional(Type.Array(Type.Object({ code: Type.String(), text: Type.String() }))),
      }),
      problems: ['invalid', 'not_ready'],
      handle: ({ body }) => ({ ok: true, ...local.applyStatus(body) }),
    }),
  ]
}
