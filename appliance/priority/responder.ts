/** Answers requests of the hub that arrive over MQTT, with the answers of the HTTP routes. */
import type { Logger } from 'pino'
import { type EdgeResponse, readEdgeRequest, writeEdgeResponse } from '#shared/core/priority/edge-request.ts'
import { isOperation, OPERATIONS } from '#shared/core/priority/priority-wire.ts'
import { Problem, toProblemJson } from '#shared/core/problem.ts'
import { MESSAGE_MAX, SMALL_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { toProblem } from '#shared/node/http/errors.ts'
import { fits, schemaErrors } from '#shared/node/http/schema-check.ts'
import type { HistoryService } from './history-service.ts'

/** @returns the body to publish under `responses`; undefined for an unreadable request, whose answer could not be matched */
export type Responder = (payload: Uint8Array) => object | undefined

export function responder(service: HistoryService, log: Logger): Responder {
  return payload => {
    const body = unpackBody(payload, SMALL_MAX)
    const asked = body.ok ? readEdgeRequest(body.value) : body
    if (!asked.ok) return void log.warn(`request of the hub unreadable: ignoring it: ${asked.reason}`)
    const { correlation_id, operation, request } = asked.value
    const response = { correlation_id, ...answer(service, operation, request, { correlation_id, log }) }
    const bytes = Buffer.byteLength(JSON.stringify(writeEdgeResponse(response)))
    if (bytes <= MESSAGE_MAX) return writeEdgeResponse(response)
    const problem = new Problem('too_large', `The answer has ${bytes} bytes; at most ${MESSAGE_MAX} go over the broker`)
    return writeEdgeResponse({ correlation_id, ...problemOf(problem, operation, correlation_id) })
  }
}

type RequestLog = { correlation_id: string; log: Logger }

function answer(
  service: HistoryService,
  operation: string,
  request: object,
  { correlation_id, log }: RequestLog,
): Omit<EdgeResponse, 'correlation_id'> {
  try {
    if (!isOperation(operation)) throw new Problem('not_found', `This edge knows no operation ${operation}`)
    const { request: schema, status } = OPERATIONS[operation]
    if (!fits(schema, request)) {
      const errors = schemaErrors(schema, request)
      throw new Problem('bad_request', `${errors[0]?.pointer || 'The request'} ${errors[0]?.message}`, errors)
    }
    return { status, body: service.ask(operation, request as never) }
  } catch (error) {
    const problem = toProblem(error, correlation_id)
    if (problem.code === 'internal')
      log.error({ err: error, operation, correlation_id }, 'request of the hub failed: answering with internal error')
    return problemOf(problem, operation, correlation_id)
  }
}

function problemOf(problem: Problem, operation: string, request_id: string) {
  const body = toProblemJson(problem, { instance: operation, request_id })
  return { status: body.status as number, body }
}
