/** Answers requests of the hub that arrive over MQTT, each with the answer that its operation also gives over HTTP. */
import { createHash } from 'node:crypto'
import type { TSchema } from '@sinclair/typebox'
import type { Logger } from 'pino'
import { getOwn } from '#shared/core/get-own.ts'
import { type EdgeResponse, readEdgeRequest, writeEdgeResponse } from '#shared/core/connector/edge-request.ts'
import { Problem, toProblemJson } from '#shared/core/problem.ts'
import { MESSAGE_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import { toProblem } from '#shared/node/http/errors.ts'
import { fits, schemaErrors } from '#shared/node/http/schema-check.ts'

/** Most answers that are held for a repeated request: twice as many as pages ask one edge for at once, each of at most 256 KiB. */
const ANSWERS_HELD = 8

/** What a hub may ask. `answer` gets a request that fits the schema; a Problem that it throws is the answer. */
type EdgeOperation = { request: TSchema; status: number; answer: (request: any) => object | Promise<object> }
export type EdgeOperations = Readonly<Record<string, EdgeOperation>>

/** @returns the body to publish under `responses`; undefined for an unreadable request, whose answer could not be matched */
export type Responder = (payload: Uint8Array) => Promise<object | undefined>

export function responder(operations: EdgeOperations, log: Logger): Responder {
  return async payload => {
    const body = unpackBody(payload, MESSAGE_MAX)
    const asked = body.ok ? readEdgeRequest(body.value) : body
    if (!asked.ok) return void log.warn(`request of the hub unreadable: ignoring it: ${asked.reason}`)
    const { correlation_id, operation, request } = asked.value
    const response = { correlation_id, ...(await answer(operations, operation, request, { correlation_id, log })) }
    const bytes = Buffer.byteLength(JSON.stringify(writeEdgeResponse(response)))
    if (bytes <= MESSAGE_MAX) return writeEdgeResponse(response)
    const problem = new Problem('too_large', `The answer has ${bytes} bytes; at most ${MESSAGE_MAX} go over the broker`)
    return writeEdgeResponse({ correlation_id, ...problemOf(problem, operation, correlation_id) })
  }
}

/**
 * A hub repeats a request that a session may have lost. One that was answered is not carried out again: it gets the answer of the
 * first time, which is still under way or went to the session before.
 */
export function answeringOnce(answer: Responder): Responder {
  const answers = new Map<string, ReturnType<Responder>>()
  return payload => {
    // The correlation id is part of the bytes, so two requests differ.
    const key = createHash('sha256').update(payload).digest('base64')
    const before = answers.get(key)
    if (before) return before
    const first = answer(payload)
    answers.set(key, first)
    for (const oldest of [...answers.keys()].slice(0, -ANSWERS_HELD)) answers.delete(oldest)
    return first
  }
}

type RequestLog = { correlation_id: string; log: Logger }

async function answer(
  operations: EdgeOperations,
  name: string,
  request: object,
  { correlation_id, log }: RequestLog,
): Promise<Omit<EdgeResponse, 'correlation_id'>> {
  try {
    const operation = getOwn(operations, name)
    if (!operation) throw new Problem('not_found', `This edge knows no operation ${name}`)
    if (!fits(operation.request, request)) {
      const errors = schemaErrors(operation.request, request)
      throw new Problem('bad_request', `${errors[0]?.pointer || 'The request'} ${errors[0]?.message}`, errors)
    }
    return { status: operation.status, body: (await operation.answer(request)) as Record<string, unknown> }
  } catch (error) {
    const problem = toProblem(error, correlation_id)
    if (problem.code === 'internal')
      log.error({ err: error, operation: name, correlation_id }, 'request of the hub failed: answering with internal error')
    return problemOf(problem, name, correlation_id)
  }
}

function problemOf(problem: Problem, operation: string, request_id: string) {
  const body = toProblemJson(problem, { instance: operation, request_id })
  return { status: body.status as number, body }
}
