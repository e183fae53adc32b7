/** Asks edges on behalf of callers: by their address where one is known, else over the broker. It keeps nothing of the answers. */
import { findEdge } from '#shared/core/telemetry/find-edge.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import type { Connectors } from '#shared/central/api/connectors.ts'
import { readAnswer, type Way } from './edge-client.ts'

/** Questions under way: one edge is a small machine, and a hub serves others meanwhile. */
const PER_EDGE_MAX = 4
const ALL_MAX = 32

type ConnectorParts = {
  edges: Pick<EdgeStore, 'named'>
  https: Way | undefined
  /** Undefined where the hub hears no broker. */
  broker: Way | undefined
}

export function connectors({ edges, https, broker }: ConnectorParts): Connectors {
  const underWay = new Map<string, number>()
  let all = 0
  /** @param name of the edge, with its site: two sites may have edges of one id */
  const enter = (name: string) => {
    const here = underWay.get(name) ?? 0
    if (here >= PER_EDGE_MAX) throw new Problem('not_ready', `${here} questions to ${name} are under way; try again`)
    if (all >= ALL_MAX) throw new Problem('not_ready', `${all} questions to edges are under way; try again`)
    underWay.set(name, here + 1)
    all++
  }
  const leave = (name: string) => {
    const left = underWay.get(name)! - 1
    if (left === 0) underWay.delete(name)
    else underWay.set(name, left)
    all--
  }
  return {
    nameOf: choice => edgeName(findEdge(edges, choice)),
    async ask(choice, operation, request) {
      const edge = findEdge(edges, choice)
      const { edge_id } = edge
      const name = edgeName(edge)
      const way = edge.connector_url === undefined ? broker : https
      if (!way) throw new Problem('edge_unreachable', `This hub has no way to ${edge_id}: it hears no broker`)
      enter(name)
      try {
        return readAnswer(edge_id, operation, await way(edge, operation, request))
      } finally {
        leave(name)
      }
    },
  }
}
