/** The page of one edge, and the part of it that refreshes itself. */
import { SiteQuery } from '#shared/central/api/connectors.ts'
import { openFaults } from '#shared/central/pages/faults/open-counts.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { ID } from '#shared/core/model/model.ts'
import type { EdgeKey } from '#shared/core/model/model.ts'
import { findEdge } from '#shared/core/telemetry/find-edge.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import { type EdgePage, edgeBody, edgePart } from './edge.view.ts'
import { claimsModel, type FleetContext, fleetRow } from './fleet-row.ts'
import { healthOf } from './fleet-status.ts'

const Params = strict({ edge_id: ID })
const PROBLEMS = ['unknown_edge', 'ambiguous_edge'] as const

export const edgePages = (context: FleetContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/edges/:edge_id',
    auth: 'viewer',
    summary: 'The page of one edge',
    params: Params,
    query: SiteQuery,
    problems: PROBLEMS,
    handle: call => {
      const model = edgeModel(context, layout, call)
      return layout.document(call, { title: model.edge.name || model.edge.edge_id, current: '/' }, edgeBody(model))
    },
  }),
  route({
    method: 'GET',
    path: '/edges/:edge_id/part',
    auth: 'viewer',
    summary: 'The part of the page of one edge that refreshes itself',
    params: Params,
    query: SiteQuery,
    problems: PROBLEMS,
    handle: call => edgePart(edgeModel(context, layout, call)),
  }),
]

type EdgeCall = Pick<Call<unknown, { site_id?: string }, { edge_id: string }>, 'params' | 'query' | 'caller'>

function edgeModel(context: FleetContext, layout: PageLayout, { params, query, caller }: EdgeCall): EdgePage {
  const { edges, model } = context
  const here = layout.here()
  const edge = findEdge(edges, { ...params, ...query })
  const { building_id } = edge
  const claims = claimsModel(context, layout, caller)
  const isIts = ({ site_id, edge_id }: EdgeKey) => site_id === edge.site_id && edge_id === edge.edge_id
  const building = model.building(building_id)
  const entry = { edge, health: healthOf(edge, here.now), building, open: openFaults(context, here.now, building_id) }
  const byProtocol = Map.groupBy(building ? model.points(building_id) : [], ({ source }) => source.protocol)
  return {
    ...fleetRow(context, entry, here.now, caller),
    here,
    points: [...byProtocol].map(([protocol, points]) => ({ protocol, count: points.length })),
    others: edges.list().filter(one => one.building_id === building_id && !isIts(one)),
    claims: {
      ...claims,
      refusals: claims.refusals.filter(isIts),
      takeovers: claims.takeovers.filter(isIts),
      heldBack: claims.heldBack.filter(isIts),
    },
    user: claims.user,
  }
}
