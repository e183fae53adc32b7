/** Forwards requests to edges: to their HTTPS address where one is known, otherwise over the broker. Responses are not stored. */
import { edgeName } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import type { Connectors } from '#shared/central/api/connectors.ts'
import type { AnswerOf, Operation, RequestOf } from '#shared/core/connector/edge-operations.ts'
import { type EdgeChoice, findEdge } from '#shared/core/telemetry/find-edge.ts'
import { type EdgeClient, readEdgeReply } from './edge-client.ts'

/** Most requests in flight to one edge, which is a small machine, and to all edges together. */
const PER_EDGE_MAX = 4
const ALL_MAX = 32

type ConnectorParts = {
  edges: Pick<EdgeStore, 'named'>
  https: EdgeClient | undefined
  /** Undefined where the hub is not connected to a broker. */
  broker: EdgeClient | undefined
}

/** Those of a hub ask an edge about its process, too. */
export type EdgeConnectors = Pick<Connectors, 'nameOf'> & {
  /** @throws Problem as `Connectors.ask` does */
  ask<O extends Operation>(edge: EdgeChoice, operation: O, request: RequestOf<O>): Promise<AnswerOf<O>>
}

export function createConnectors({ edges, https, broker }: ConnectorParts): EdgeConnectors {
  const inFlight = new Map<string, number>()
  let total = 0
  /** @param name edge id with its site, because two sites may use the same edge id */
  const enter = (name: string) => {
    const here = inFlight.get(name) ?? 0
    if (here >= PER_EDGE_MAX) throw new Problem('not_ready', `${here} requests to ${name} are in progress; try again`)
    if (total >= ALL_MAX) throw new Problem('not_ready', `${total} requests to edges are in progress; try again`)
    inFlight.set(name, here + 1)
    total++
  }
  const leave = (name: string) => {
    const rest = inFlight.get(name)! - 1
    if (rest === 0) inFlight.delete(name)
    else inFlight.set(name, rest)
    total--
  }
  return {
    nameOf: choice => edgeName(findEdge(edges, choice)),
    async ask(choice, operation, request) {
      const edge = findEdge(edges, choice)
      const { edge_id } = edge
      const name = edgeName(edge)
      const client = edge.connector_url === undefined ? broker : https
      if (!client) throw new Problem('edge_unreachable', `${edge_id} has no HTTPS address, and this hub has no broker connection`)
      enter(name)
      try {
        return readEdgeReply(edge_id, operation, await client(edge, operation, request))
      } finally {
        leave(name)
      }
    },
  }
}
