/** What the API of a hub answers about certificates and boxes that wait for one, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
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
