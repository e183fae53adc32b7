/** One edge by its id: the id alone will do while no second site has an edge of that id. */
import { isId } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord, EdgeStore } from '#shared/core/stores.ts'

/** The parameters that name an edge; `site_id` decides where several sites have an edge of this id. */
export type EdgeChoice = { edge_id: string; site_id?: string | undefined }

/** @throws Problem unknown_edge, or ambiguous_edge that names the sites */
export function findEdge(edges: Pick<EdgeStore, 'named'>, { edge_id, site_id }: EdgeChoice): EdgeRecord {
  const found = edges.named(edge_id).filter(edge => site_id === undefined || edge.site_id === site_id)
  const [edge, ...others] = found
  if (!edge) {
    const of = site_id === undefined || !isId(site_id) ? '' : ` of site ${site_id}`
    throw new Problem('unknown_edge', `No edge ${edge_id}${of} has reported here`)
  }
  if (others.length > 0) {
    const sites = found.map(one => one.site_id).join(', ')
    throw new Problem('ambiguous_edge', `Several sites have an edge ${edge_id}: ${sites}. Say which one with ?site_id=`)
  }
  return edge
}
