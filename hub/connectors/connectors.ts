/** Asks edges on behalf of callers: by their address where one is known, else over the broker. It keeps nothing of the answers. */
import { Problem } from '#shared/core/problem.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import type { Connectors } from '#shared/central/routes/connectors.ts'
import { readAnswer, type Way } from './way.ts'

/** Questions under way: one edge is a small machine, and a hub serves others meanwhile. */
const PER_EDGE_MAX = 4
const ALL_MAX = 32

export type ConnectorParts = {
  edges: Pick<EdgeStore, 'get'>
  https: Way | undefined
  /** Undefined where the hub hears no broker. */
  broker: Way | undefined
}

export function connectors({ edges, https, broker }: ConnectorParts): Connectors {
  const underWay = new Map<string, number>()
  let all = 0
  const enter = (edge_id: string) => {
    const here = underWay.get(edge_id) ?? 0
    if (here >= PER_EDGE_MAX) throw new Problem('not_ready', `${here} questions to ${edge_id} are under way; try again`)
    if (all >= ALL_MAX) throw new Problem('not_ready', `${all} questions to edges are under way; try again`)
    underWay.set(edge_id, here + 1)
    all++
  }
  const leave = (edge_id: string) => {
    const left = underWay.get(edge_id)! - 1
    if (left === 0) underWay.delete(edge_id)
    else underWay.set(edge_id, left)
    all--
  }
  return {
    async ask(edge_id, operation, request) {
      const edge = edges.get(edge_id)
      if (!edge) throw new Problem('unknown_edge', `No edge ${edge_id} has reported here`)
      const way = edge.connector_url === undefined ? broker : https
      if (!way) throw new Problem('edge_unreachable', `This hub has no way to ${edge_id}: it hears no broker`)
      enter(edge_id)
      try {
        return readAnswer(edge_id, operation, await way(edge, operation, request))
      } finally {
        leave(edge_id)
      }
    },
  }
}
