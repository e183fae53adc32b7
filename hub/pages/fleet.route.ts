/** Fleet: the first page of a hub, the part of it that refreshes itself, and the JSON routes of edges. */
import { type Static, Type } from '@sinclair/typebox'
import { NONE_OPEN, openFaultsByBuilding } from '#shared/central/pages/faults/open-counts.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import { PAGE_NUMBER, partOf } from '#shared/central/ui/pager.ts'
import { claimRoutes } from './claims.route.ts'
import { deleteEdgeRoutes } from './delete-edge.route.ts'
import { edgeRoutes } from './edge-routes.ts'
import { edgePages } from './edge.route.ts'
import { claimsModel, type FleetContext, type FleetEntry, fleetRow } from './fleet-row.ts'
import { otherHubsRoute } from './other-hubs.ts'
import { EDGE_STATUSES, type EdgeStatus, healthOf } from './fleet-status.ts'
import { type FleetModel, fleetBody, fleetPart } from './fleet.view.ts'
import { say } from '#shared/node/http/language.ts'

const Query = strict({
  status: Type.Optional(Type.Union(EDGE_STATUSES.map(status => Type.Literal(status)))),
  q: Type.Optional(Type.String({ maxLength: 200 })),
  page: PAGE_NUMBER,
})
/** Each line has a kilobyte and a half, and the table is asked for again every ten seconds. */
const EDGES_SHOWN = 50

export const fleetRoutes = (context: FleetContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/',
    auth: 'viewer',
    summary: 'Fleet',
    query: Query,
    handle: call => {
      const model = fleetModel(context, layout, call)
      return layout.document(call, { title: say`Fleet`, current: '/', here: model.here }, fleetBody(model))
    },
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

function fleetModel(
  context: FleetContext,
  layout: PageLayout,
  { query: { status, q = '', page }, caller }: FleetCall,
): FleetModel {
  const here = layout.here()
  const edges = context.edges.list()
  const openOf = openFaultsByBuilding(context, here.now)
  const buildings = new Map(context.model.buildings().map(building => [building.building_id, building]))
  const all = edges.map(
    (edge): FleetEntry => ({
      ...{ edge, health: healthOf(edge, here.now), building: buildings.get(edge.building_id) },
      open: openOf.get(edge.building_id) ?? NONE_OPEN,
    }),
  )
  const found = all.filter(({ edge, building }) => {
    return hasWords(searchWords(edge.name, edge.edge_id, edge.site_id, building?.name), q)
  })
  const byStatus = Object.fromEntries(
    EDGE_STATUSES.map(choice => [choice, found.filter(row => row.health.status === choice).length]),
  )
  const listed = found.filter(row => status === undefined || row.health.status === status).toSorted(worstFirst)
  const part = partOf(listed, page, EDGES_SHOWN)
  return {
    here,
    part: { ...part, rows: part.rows.map(entry => fleetRow(context, entry, here.now, caller)) },
    total: all.length,
    found: found.length,
    q,
    byStatus: byStatus as Record<EdgeStatus, number>,
    status,
    counts: context.health.counters(),
    claims: claimsModel(context, layout, caller),
    otherHubs: context.otherHubs?.() ?? [],
  }
}

const rank = ({ health }: FleetEntry) => EDGE_STATUSES.indexOf(health.status)
const worstFirst = (a: FleetEntry, b: FleetEntry) =>
  rank(a) - rank(b) || b.open[1] - a.open[1] || (edgeName(a.edge) < edgeName(b.edge) ? -1 : 1)
