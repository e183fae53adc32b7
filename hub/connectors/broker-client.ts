/** Sends requests to an edge over the broker. Request and response are matched by a correlation id in the body. */
import { randomUUID } from 'node:crypto'
import { readEdgeResponse, writeEdgeRequest } from '#shared/core/connector/edge-request.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { MESSAGE_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { EdgeReply } from './edge-client.ts'

type BrokerClientOptions = {
  /** Resolves when the broker has acknowledged the message; rejects when the broker is not connected. */
  publish: (topic: Topic, body: object) => Promise<void>
  timeoutMs: number
}
type PendingRequest = {
  site_id: string
  edge_id: string
  settle: (outcome: EdgeReply | Problem) => void
  /** Sends it, and sends it again. The edge knows it by its correlation id, and answers it as before. */
  publish: () => void
}

type BrokerClient = {
  /** @throws Problem edge_unreachable or edge_timeout */
  send(edge: EdgeRecord, operation: string, request: object): Promise<EdgeReply>
  /** Handles a message under `responses`. A response to no pending request, or from another edge, is discarded. */
  onResponse(topic: Topic, payload: Uint8Array): void
  /**
   * A session of this edge has begun. What it has not answered is sent again: the session before may have ended before the request
   * or the answer was through, as it does when a certificate is renewed.
   */
  onSession(edge: EdgeKey): void
}

export function createBrokerClient({ publish, timeoutMs }: BrokerClientOptions): BrokerClient {
  const pending = new Map<string, PendingRequest>()
  return {
    send: ({ site_id, edge_id, online, status_body }, operation, request) => {
      if (!online) return refuse(`${edge_id} is not connected to the broker and has no HTTPS address`)
      if (status_body['via'] === 'local') return refuse(`${edge_id} has no connection to the broker and no HTTPS address`)
      const correlation_id = randomUUID()
      return new Promise((resolve, reject) => {
        const settle = (outcome: EdgeReply | Problem) => {
          clearTimeout(timer)
          pending.delete(correlation_id)
          if (outcome instanceof Problem) reject(outcome)
          else resolve(outcome)
        }
        const timeout = `${edge_id} did not answer over the broker within ${timeoutMs / 1000} s`
        const timer = setTimeout(() => settle(new Problem('edge_timeout', timeout)), timeoutMs)
        const body = writeEdgeRequest({ correlation_id, operation, request: { ...request } })
        const send = () =>
          void publish({ site_id, edge_id, kind: 'requests' }, body).catch((error: Error) =>
            settle(new Problem('edge_unreachable', `the request to ${edge_id} cannot be sent: ${error.message}`)),
          )
        pending.set(correlation_id, { site_id, edge_id, settle, publish: send })
        send()
      })
    },
    onResponse({ site_id, edge_id }, payload) {
      const body = unpackBody(payload, MESSAGE_MAX)
      const response = body.ok ? readEdgeResponse(body.value) : body
      if (!response.ok) return
      const request = pending.get(response.value.correlation_id)
      if (request && isSame(request, { site_id, edge_id })) request.settle(response.value)
    },
    onSession(edge) {
      for (const request of pending.values()) if (isSame(request, edge)) request.publish()
    },
  }
}

const isSame = (a: EdgeKey, b: EdgeKey): boolean => a.site_id === b.site_id && a.edge_id === b.edge_id

const refuse = (reason: string) => Promise.reject(new Problem('edge_unreachable', reason))
