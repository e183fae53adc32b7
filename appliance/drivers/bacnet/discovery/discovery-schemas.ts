/** What the API of an appliance answers of discovery, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { answerOf, INSTANT_TEXT, orNull } from '#shared/central/api/schemas/record-schemas.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { DEVICE_ENTRY } from '../../../store/catalogue-schema.ts'
import { CHANGES } from '../core/discovery/changes.ts'
import { DEVICE_OUTCOMES, DISCOVERY_STATES, IGNORED_WHY } from '../core/discovery/discovery.ts'
import { SEGMENTATIONS } from '../core/i-am.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const maybe = Type.Optional
const ADDRESS = { host: TEXT, port: Type.Integer() }
/** `mac` in hexadecimal; both fields of a device behind a router, whose host and port are then given. */
const PLACE = { ...ADDRESS, network: maybe(Type.Integer()), mac: maybe(TEXT) }

const REQUEST = Type.Object({
  ...{ low: COUNT, high: COUNT, network: Type.Union([oneOf(['all', 'local']), Type.Integer()]) },
  addresses: Type.Array(Type.Object(ADDRESS)),
  seconds: Type.Integer({ description: 'wait for answers, s' }),
  requests_per_second: Type.Integer({ description: 'at most, in addition to polling' }),
})
export const STARTED_ANSWER = answerOf({ job_id: TEXT, request: REQUEST })

const DEVICE = Type.Object({
  ...{ key: TEXT, ...PLACE, device_instance: COUNT },
  max_apdu: Type.Integer({ description: 'bytes' }),
  ...{ segmentation: oneOf(SEGMENTATIONS), vendor_id: COUNT, outcome: oneOf(DEVICE_OUTCOMES), reason: orNull(TEXT) },
  ...{ name: orNull(TEXT), vendor: orNull(TEXT), model: orNull(TEXT) },
  multiple: orNull(Type.Boolean({ description: 'whether it supports ReadPropertyMultiple; null before it was tried' })),
  ...{ batch_size: orNull(COUNT), listed: orNull(COUNT), points: COUNT },
  others: Type.Record(TEXT, COUNT, { description: 'objects that are no points, by type' }),
  requests: COUNT,
})
const IGNORED = Type.Object({
  ...{ ...ADDRESS, device_instance: orNull(COUNT), why: oneOf(IGNORED_WHY), reason: TEXT, count: COUNT },
})
const CHANGE = Type.Object({
  ...{ change: oneOf(CHANGES), device_instance: COUNT },
  key: orNull(Type.String({ description: 'null of a missing device' })),
  device_id: orNull(Type.String({ description: 'null of a new device' })),
  before: orNull(Type.Object({ ...PLACE, device_instance: COUNT })),
  ...{ others: Type.Array(Type.Object(PLACE)), new_objects: COUNT, missing_points: Type.Array(TEXT) },
})
const HEARD = { heard: COUNT, taken: COUNT, repeated: COUNT }
const NETWORK = Type.Object({
  ...{ address: TEXT, port: Type.Integer(), broadcast_addresses: Type.Array(TEXT), deafness: orNull(TEXT) },
  ...{ sent: COUNT, received: COUNT, malformed: COUNT, unmatched: COUNT, unconfirmed: COUNT },
})
export const MACHINE_ADDRESS = Type.Object({ name: TEXT, address: TEXT, netmask: TEXT })
/** Null while the discovery runs. */
const WHY = Type.Object({
  ...{ bind: Type.Object({ address: TEXT, port: Type.Integer() }), error: orNull(TEXT), holder: orNull(TEXT) },
  ...{ machine: Type.Array(MACHINE_ADDRESS), speaking: Type.Array(NETWORK) },
  manager: orNull(Type.Object({ ...ADDRESS, registered: Type.Boolean(), error: orNull(TEXT) })),
  ...{ calls_sent: COUNT, i_ams: Type.Object({ ...HEARD, ignored: COUNT }) },
  next_steps: Type.Array(TEXT, { description: 'what to try, most likely first' }),
})
const JOB = Type.Object({
  ...{ job_id: TEXT, state: oneOf(DISCOVERY_STATES), request: REQUEST },
  ...{ started_at: INSTANT_TEXT, finished_at: orNull(INSTANT_TEXT), error: orNull(TEXT), calls_sent: COUNT },
  ...{ i_ams: Type.Object(HEARD), ignored: Type.Array(IGNORED), silent: Type.Array(Type.Object(ADDRESS)) },
  ...{ devices: Type.Array(DEVICE), changes: Type.Array(CHANGE), why: orNull(WHY) },
  log: Type.Array(Type.Object({ n: COUNT, at: INSTANT_TEXT, text: TEXT })),
})
export const DISCOVERY_ANSWER = answerOf({ enabled: Type.Boolean(), job: orNull(JOB) })

const TRUNK = Type.Object({
  trunk: TEXT,
  network: orNull(Type.Integer({ description: 'behind a router; null on the IP network itself' })),
  ...{ devices: COUNT, points: COUNT, requests_per_minute: Type.Number(), bytes_per_minute: Type.Number() },
  share: orNull(Type.Number({ description: 'of the time of a trunk at 38,400 bit/s' })),
})
const TRAFFIC = Type.Object({
  ...{ requests_per_minute: Type.Number(), bytes_per_minute: Type.Number(), trunks: Type.Array(TRUNK) },
})
const ADDITION = Type.Object({
  ...{ key: TEXT, change: oneOf(CHANGES), entry: DEVICE_ENTRY, new_points: Type.Array(TEXT) },
  guessed_roles: Type.Record(TEXT, TEXT, { description: 'by point_id; not part of the entry' }),
  notes: Type.Array(TEXT),
})
export const PREVIEW_ANSWER = answerOf({
  ...{ additions: Type.Array(ADDITION), devices: COUNT, points: COUNT, before: TRAFFIC, after: TRAFFIC },
})
export const ADDED_ANSWER = answerOf({ devices: COUNT, points: COUNT, device_ids: Type.Array(TEXT) })
