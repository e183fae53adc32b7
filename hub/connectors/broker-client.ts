/** The way to an edge that has only its connection to the broker: one request, one response, matched by an id in the body. */
import { randomUUID } from 'node:crypto'
import { readEdgeResponse, writeEdgeRequest } from '#shared/core/priority/edge-request.ts'
import { Problem } from '#shared/core/problem.ts'
import { MESSAGE_MAX, unpackBody } from '#shared/core/telemetry/body.ts'
import type { Topic } from '#shared/core/topic/topics.ts'
import type { EdgeAnswer, Way } from './edge-client.ts'

type BrokerWayOptions = {
  /** Resolves when the broker has it; rejects when it is not reached. */
  publish: (topic: Topic, body: object) => Promise<void>
  timeoutMs: number
}
type Waiting = { site_id: string; edge_id: string; settle: (answer: EdgeAnswer | Problem) => void }

type BrokerWay = {
  ask: Way
  /** A message under `responses`. One that nobody waits for, or from another edge, changes nothing. */
  take(topic: Topic, payload: Uint8Array): void
}

export function brokerWay({ publish, timeoutMs }: BrokerWayOptions): BrokerWay {
  const waiting = new Map<string, Waiting>()
  return {
    ask: ({ site_id, edge_id, online, status_body }, operation, request) => {
      if (!online) return refuse(`${edge_id} is not connected to the broker, and no address of it is known`)
      if (status_body['via'] === 'local')
        return refuse(`${edge_id} has no connection to the broker, and no address of it is known`)
      const correlation_id = randomUUID()
      return new Promise((resolve, reject) => {
        const settle = (answer: EdgeAnswer | Problem) => {
          clearTimeout(timer)
          waiting.delete(correlation_id)
          if (answer instanceof Problem) reject(answer)
          else resolve(answer)
        }
        const late = `${edge_id} did not answer over the broker within ${timeoutMs / 1000} s`
        const timer = setTimeout(() => settle(new Problem('edge_timeout', late)), timeoutMs)
        waiting.set(correlation_id, { site_id, edge_id, settle })
        const body = writeEdgeRequest({ correlation_id, operation, request: { ...request } })
        publish({ site_id, edge_id, kind: 'requests' }, body).catch((error: Error) =>
          settle(new Problem('edge_unreachable', `${edge_id} cannot be asked: ${error.message}`)),
        )
      })
    },
    take({ site_id, edge_id }, payload) {
      const body = unpackBody(payload, MESSAGE_MAX)
      const response = body.ok ? readEdgeResponse(body.value) : body
      if (!response.ok) return
      const asked = waiting.get(response.value.correlation_id)
      if (asked?.site_id === site_id && asked.edge_id === edge_id) asked.settle(response.value)
    },
  }
}

const refuse = (reason: string) => Promise.reject(new Problem('edge_unreachable', reason))
