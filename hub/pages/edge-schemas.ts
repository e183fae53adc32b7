/** What the API of a hub answers about edges, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { answerOf, INSTANT_TEXT, orNull, pageAnswer } from '#shared/central/api/schemas/record-schemas.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { EDGE_STATUSES } from './fleet-status.ts'

const TEXT = Type.String()
const INSTANT = orNull(INSTANT_TEXT)
const FIGURE = orNull(Type.Number())
const POLL_FAILURES = Type.Object({
  ...{ running: Type.Boolean(), devices_total: Type.Integer(), failing: Type.Integer() },
  since: orNull(Type.Integer({ description: 'ms since 1970 UTC by the clock of the edge' })),
  device_ids: Type.Array(TEXT),
})

const EDGE = Type.Object({
  ...{ edge_id: TEXT, site_id: TEXT, building_id: TEXT, name: TEXT, version: TEXT, version_since: INSTANT },
  ...{ status: oneOf(EDGE_STATUSES), reason: TEXT, status_since: INSTANT },
  session: Type.Object({ open: Type.Boolean(), since: INSTANT, last_seen_at: INSTANT }),
  shared: orNull(Type.Object({ processes: Type.Integer(), since: INSTANT, last_at: INSTANT })),
  data: Type.Object({ fresh: Type.Boolean(), last_at: INSTANT }),
  misdated: orNull(Type.Object({ count: Type.Integer(), since: INSTANT_TEXT, last_at: INSTANT_TEXT, reason: TEXT })),
  reported: Type.Object({
    ...{ backlog_rows: FIGURE, backlog_oldest_at: INSTANT, backlog_drain_per_min: FIGURE, backlog_empty_at: INSTANT },
    ...{ sent_at: INSTANT, clock_offset_ms: FIGURE, cert_not_after: INSTANT, last_check_at: INSTANT },
    ...{ dropped: FIGURE, thinned: FIGURE, disk_used_percent: FIGURE, poll_failures: orNull(POLL_FAILURES) },
  }),
})
export const EDGES_ANSWER = pageAnswer('edges', EDGE)
export const EDGE_ANSWER = answerOf({ edge: EDGE })

const KEY = { site_id: TEXT, edge_id: TEXT, since: INSTANT_TEXT }
export const TAKEOVER = Type.Object({ ...KEY, building_id: TEXT, from_edge_id: TEXT })
export const CLAIMS_ANSWER = answerOf({
  refusals: Type.Array(Type.Object({ ...KEY, reason: TEXT })),
  takeovers: Type.Array(TAKEOVER),
})
export const EDGE_DELETED = answerOf({ edge_id: TEXT, site_id: TEXT, building_id: TEXT })
