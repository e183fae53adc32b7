/** What the API of a hub answers about certificates and boxes that wait for one, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { ENROLMENT_STATES } from '#shared/core/auth/enrolment.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, orNull } from '#shared/central/api/schemas/record-schemas.ts'

const TEXT = Type.String()

export const CERTIFICATE = Type.Object({
  ...{ site_id: TEXT, edge_id: TEXT, serial: TEXT, issued_at: INSTANT_TEXT, not_after: INSTANT_TEXT },
  revoked_at: orNull(INSTANT_TEXT),
})
const ISSUED = { serial: TEXT, not_after: INSTANT_TEXT }
export const ACCEPTED = answerOf(ISSUED)
/** The certificate itself only where the request brought what it is for. */
export const RENEWED = answerOf({ ...ISSUED, cert_pem: Type.Optional(TEXT), ca_pem: Type.Optional(TEXT) })

const WAITING = Type.Object({
  ...{ fingerprint: TEXT, site_id: Type.Optional(TEXT), edge_id: Type.Optional(TEXT), tenant_id: Type.Optional(TEXT) },
  ...{ network: TEXT, asked_at: INSTANT_TEXT },
})
export const BOXES_ANSWER = answerOf({ boxes: Type.Array(WAITING) })

const STATE = oneOf(ENROLMENT_STATES)
export const BOX_ASKED = answerOf({ fingerprint: TEXT, state: STATE })
/** Of a kit what everybody may have: the key stays on the box. */
const PUBLIC_KIT = Type.Object({
  ...{ ca_pem: TEXT, cert_pem: TEXT },
  edge: Type.Object({
    ...{ site_id: TEXT, edge_id: TEXT, tenant_id: Type.Optional(TEXT), broker_host: TEXT, broker_port: Type.Integer() },
    ...{ hub_url: Type.Optional(TEXT), topic_base: TEXT, not_after: INSTANT_TEXT },
  }),
  acl: Type.String({ description: 'the topics of the edge, as Mosquitto lists them' }),
})
export const BOX_ANSWER = answerOf({ state: STATE, kit: Type.Optional(PUBLIC_KIT) })

const OPEN_SECRET = { username: TEXT, expires_at: INSTANT_TEXT }
export const SECRET_MADE = answerOf({ ...OPEN_SECRET, password: TEXT })
export const SECRETS_ANSWER = answerOf({
  secrets: Type.Array(Type.Object({ site_id: TEXT, edge_id: TEXT, ...OPEN_SECRET })),
})
