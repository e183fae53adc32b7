/** Fleet: the first page of a hub, the part of it that refreshes itself, and the JSON routes of edges. */
import { type Static, Type } from '@sinclair/typebox'
import { openFaults } from '#shared/central/pages/faults/faults.route.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import { claimRoutes } from './claims.route.ts'
import { deleteEdgeRoutes } from './delete-edge.route.ts'
import { edgeRoutes } from './edge-routes.ts'
import { edgePages } from './edge.route.ts'
import { claimsModel, type FleetContext, fleetRow } from './fleet-row.ts'
import { otherHubsRoute } from './other-hubs.ts'
import { EDGE_STATUSES, type EdgeStatus } from './fleet-status.ts'
import { type FleetModel, type FleetRow, fleetBody, fleetPart } from './fleet.view.ts'
import { say } from '#shared/node/http/language.ts'

const Query = strict({ status: Type.Optional(Type.Union(EDGE_STATUSES.map(status => Type.Literal(status)))) })

export const fleetRoutes = (context: FleetContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/',
    auth: 'viewer',
    summary: 'Fleet',
    query: Query,
    handle: call => layout.document(call, { title: say`Fleet`, current: '/' }, fleetBody(fleetModel(context, layout, call))),
  }),
  route({
    method: 'GET',
    path: '/fleet/part',
    auth: 'viewer',
    summary: 'The part of Fleet that refreshes itself',
    query: Query,
    handle: call => fleetPart(fleetModel(context, layout, call)),
  }),
  ...edgePages(context, layout),
  ...edgeRoutes(context),
  ...claimRoutes(context),
  ...(context.otherHubs ? [otherHubsRoute(context.otherHubs)] : []),
  ...(context.registry ? deleteEdgeRoutes(context, context.registry) : []),
]

type FleetCall = Pick<Call<unknown, Static<typeof Query>, unknown>, 'query' | 'caller'>

function fleetModel(context: FleetContext, layout: PageLayout, { query: { status }, caller }: FleetCall): FleetModel {
  const here = layout.here()
  const edges = context.edges.list()
  // Several edges may report for one building, whose faults are counted once.
  const openOf = new Map(
    [...new Set(edges.map(({ building_id }) => building_id))].map(id => [id, openFaults(context, here.now, id)] as const),
  )
  const rows = edges.map(edge => fleetRow(context, edge, { now: here.now, caller, open: openOf.get(edge.building_id) }))
  const byStatus = Object.fromEntries(
    EDGE_STATUSES.map(choice => [choice, rows.filter(row => row.health.status === choice).length]),
  )
  return {
    here,
    rows: rows.filter(row => status === undefined || row.health.status === status).toSorted(worstFirst),
    total: rows.length,
    byStatus: byStatus as Record<EdgeStatus, number>,
    status,
    counts: context.health.counters(),
    claims: claimsModel(context, layout, caller),
    otherHubs: context.otherHubs?.() ?? [],
  }
}

const rank = ({ health }: FleetRow) => EDGE_STATUSES.indexOf(health.status)
const worstFirst = (a: FleetRow, b: FleetRow) =>
  rank(a) - rank(b) || b.open[1] - a.open[1] || (edgeName(a.edge) < edgeName(b.edge) ? -1 : 1)
