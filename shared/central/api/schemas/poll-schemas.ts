/** What the API answers of polling (contract §10). */
import { Type } from '@sinclair/typebox'
import { POLL_STATES } from '#shared/core/poll/poll-status.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, orNull } from './record-schemas.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const maybe = Type.Optional
const ROUND_TRIP = orNull(Type.Number({ description: 'ms' }))

/** `reads` and `errors` count since the process began to poll it, those with `_1h` in the last hour. */
export const DEVICE_STATUS = Type.Object({
  ...{ device_id: TEXT, state: oneOf(POLL_STATES), since: INSTANT_TEXT, rtt_ms_p50: ROUND_TRIP, rtt_ms_p95: ROUND_TRIP },
  ...{ reads: COUNT, errors: COUNT, reads_1h: COUNT, errors_1h: COUNT },
  ...{ last_ok_at: orNull(INSTANT_TEXT), last_error: orNull(TEXT), next_due_at: orNull(INSTANT_TEXT), batch_size: orNull(COUNT) },
  ...{ sent_bytes: maybe(COUNT), received_bytes: maybe(COUNT) },
  conflict: maybe(Type.String({ description: 'with another device of the list, in words' })),
})
const COUNTS = {
  ...{ enabled: Type.Boolean(), running: Type.Boolean(), cycles: COUNT, late_cycles: COUNT },
  ...{ points_ok: COUNT, points_stale: COUNT, points_down: COUNT, points_fault: COUNT },
}
const EDGE_POLL = Type.Object({ edge_id: TEXT, site_id: TEXT, reported_at: INSTANT_TEXT, ...COUNTS, devices_total: COUNT })
/** Sums of this process and of the edges that report to it. */
export const POLL_STATUS = answerOf({
  ...COUNTS,
  devices: Type.Array(
    Type.Object({
      ...DEVICE_STATUS.properties,
      edge_id: maybe(Type.String({ description: 'absent for a device of this process' })),
    }),
  ),
  edges: Type.Array(EDGE_POLL),
})
