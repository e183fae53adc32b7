/** What Fleet and the page of one edge both show: the line of an edge, and the claims that need a decision. */
import type { CentralContext } from '#shared/central/context.ts'
import { openFaults } from '#shared/central/pages/faults/open-counts.ts'
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import type { EdgeRegistry } from '#shared/flow/ingest/edge-registry.ts'
import type { Caller } from '#shared/node/http/route.ts'
import type { HubSummary, OtherHub } from '../cluster/hub-list.ts'
import type { ClaimsModel } from './claims.route.ts'
import { isGone } from './delete-edge.route.ts'
import { healthOf, reportedBy } from './fleet-status.ts'
import type { FleetRow } from './fleet.view.ts'

/** `registry`: undefined where no edge sends anything here. `otherHubs`: undefined where this hub works alone. */
export type FleetContext = CentralContext & { registry?: EdgeRegistry; otherHubs?: (() => OtherHub[]) | undefined }
/** What the order of the lines and the search depend on. */
export type FleetEntry = Pick<FleetRow, 'edge' | 'health' | 'building' | 'open'>

/** The line of an edge, with what is read for the shown ones alone. */
export function fleetRow(context: FleetContext, entry: FleetEntry, now: number, caller: Caller | undefined): FleetRow {
  const { edge } = entry
  const mayDelete = context.registry !== undefined && caller?.role === 'admin'
  return {
    ...entry,
    reported: reportedBy(edge.status_body),
    misdated: context.registry?.notices.misdatedOf(edge),
    deletable: mayDelete && isGone(edge, now),
  }
}

export const claimsModel = (context: FleetContext, layout: PageLayout, caller: Caller | undefined): ClaimsModel => ({
  refusals: context.edgeClaims.refusals(),
  takeovers: context.edgeClaims.takeovers(),
  heldBack: context.registry?.notices.heldBack() ?? [],
  user: layout.userOf(caller),
  csrf: layout.csrfOf(caller),
})

/** What this hub tells the others of its cluster. */
export function hubSummary(context: Pick<CentralContext, 'edges' | 'findings' | 'notes' | 'clock'>): HubSummary {
  const now = context.clock.now()
  const edges = context.edges.list()
  const open = openFaults(context, now)
  return {
    edges: edges.length,
    not_operational: edges.filter(edge => healthOf(edge, now).status !== 'operational').length,
    faults: PRIORITIES.reduce((sum, priority) => sum + open[priority], 0),
  }
}
