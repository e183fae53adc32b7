/** Names of edges and hubs come from files and people: none may become markup on Fleet. */
import test from 'ava'
import { healthOf, reportedBy } from '#hub/pages/fleet-status.ts'
import { fleetBody } from '#hub/pages/fleet.view.ts'
import { BUILDING, EDGES, NOW } from '../../support/page-fixture.ts'
import { noPoison } from '../../support/pages/poison.ts'

const here = { now: NOW, timezone: BUILDING.timezone }

test('Fleet escapes', t =>
  noPoison(t, text => {
    const edge = { ...EDGES[0]!, edge_id: text, name: text, site_id: text, building_id: text, version: text }
    const building = { ...BUILDING, name: text }
    return fleetBody({
      here,
      part: {
        rows: [
          {
            ...{ edge, building, health: healthOf(edge, NOW), reported: reportedBy({}), open: { 1: 1, 2: 0, 3: 0 } },
            ...{ misdated: { count: 1, since: NOW, last_at: NOW, reason: text }, deletable: true },
          },
        ],
        page: 1,
        pages: 2,
        total: 1,
      },
      total: 1,
      found: 1,
      q: text,
      byStatus: { operational: 1, reduced: 0, disconnected: 0, pending: 0 },
      status: undefined,
      counts: { ingest_ok: 1, ingest_duplicate: 0, ingest_rejected: 1, last_ingest_at: null },
      claims: {
        refusals: [{ site_id: text, edge_id: text, reason: text, since: NOW }],
        takeovers: [{ site_id: text, edge_id: text, from_edge_id: text, building_id: text, since: NOW }],
        heldBack: [{ site_id: text, edge_id: text, reason: text, isBudget: true }],
        user: { name: text, role: text, mayOperate: true },
        csrf: text,
      },
      otherHubs: [{ site_id: text, address: text, holder: text, edges: 1, not_operational: 1, faults: 1, told_at: NOW }],
    })
  }))
