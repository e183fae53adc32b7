/** What a box without a kit and a hub say to each other. Nothing of it is secret: the key stays on the box. */
import { type Static, Type } from '@sinclair/typebox'
import { ID } from '../model/model.ts'
import { CSR_MAX } from '../telemetry/renewal-wire.ts'

const strict = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** `site_id` and `edge_id` are a proposal; whoever accepts the box decides. */
export const EnrolmentRequest = strict({
  csr_pem: Type.String({ minLength: 1, maxLength: CSR_MAX }),
  site_id: Type.Optional(ID),
  edge_id: Type.Optional(ID),
})
export type EnrolmentRequest = Static<typeof EnrolmentRequest>

export type EnrolmentState = 'pending' | 'accepted' | 'rejected'

/**
 * The line that a person copies from the hub's page to the box: the address of the hub and the fingerprint of its authority, so
 * that nobody between them can hand the box another authority.
 */
export const enrolmentLine = (hub_url: string, authority: string): string => `${hub_url.replace(/\/+$/, '')}/#${authority}`

/** @returns undefined for text that is no such line */
export function readEnrolmentLine(text: string): { hub_url: string; authority: string } | undefined {
  const match = /^(https?:\/\/[^\s/?#@]+)\/?#([0-9a-f]{32})$/.exec(text.trim())
  return match && URL.canParse(match[1]!) ? { hub_url: match[1]!, authority: match[2]! } : undefined
}
