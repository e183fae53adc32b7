/** A request to an edge and its response over MQTT (contract §7, §8). MQTT 3.1.1 has no properties, so ids are in the bodies. */
import type { Decoded } from '#shared/core/telemetry/body.ts'
import { choice, decodeWith, fields, integer, text, uuid } from '#shared/core/telemetry/read.ts'

const EDGE_REQUEST_SCHEMA = 'svc_edge_request_v1'
const EDGE_RESPONSE_SCHEMA = 'svc_edge_response_v1'

type EdgeRequest = {
  correlation_id: string
  /** A name of `OPERATIONS`. An edge that does not know it answers not_found. */
  operation: string
  request: Record<string, unknown>
}
/** Status and body are those that the same request gets over HTTP. */
export type EdgeResponse = { correlation_id: string; status: number; body: Record<string, unknown> }

export const writeEdgeRequest = (request: EdgeRequest) => ({ schema: EDGE_REQUEST_SCHEMA, ...request })
export const writeEdgeResponse = (response: EdgeResponse) => ({ schema: EDGE_RESPONSE_SCHEMA, ...response })

export function readEdgeRequest(body: Record<string, unknown>): Decoded<EdgeRequest> {
  return decodeWith(() => {
    const from = fields(body, '')
    choice(from, 'schema', [EDGE_REQUEST_SCHEMA])
    return {
      correlation_id: uuid(from, 'correlation_id'),
      operation: text(from, 'operation', 64),
      request: fields(from.body['request'], 'request').body,
    }
  })
}

export function readEdgeResponse(body: Record<string, unknown>): Decoded<EdgeResponse> {
  return decodeWith(() => {
    const from = fields(body, '')
    choice(from, 'schema', [EDGE_RESPONSE_SCHEMA])
    return {
      correlation_id: uuid(from, 'correlation_id'),
      status: integer(from, 'status', 100),
      body: fields(from.body['body'], 'body').body,
    }
  })
}
