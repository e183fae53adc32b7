/** What a box without a kit and a hub say to each other. Nothing of it is secret: the key stays on the box. */
import { type Static, Type } from '@sinclair/typebox'
import { ID } from '../model/model.ts'
import { CSR_MAX } from '../telemetry/renewal-wire.ts'
import { isTenantId, TENANT_REGEXP } from '../tenant.ts'

const strict = <P extends Parameters<typeof Type.Object>[0]>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** `site_id` and `edge_id` are a proposal; whoever accepts the box decides. `tenant_id`: whose people are asked, on a hub with tenants. */
export const EnrolmentRequest = strict({
  csr_pem: Type.String({ minLength: 1, maxLength: CSR_MAX }),
  site_id: Type.Optional(ID),
  edge_id: Type.Optional(ID),
  tenant_id: Type.Optional(Type.String({ pattern: TENANT_REGEXP.source })),
})
export type EnrolmentRequest = Static<typeof EnrolmentRequest>

export const ENROLMENT_STATES = ['pending', 'accepted', 'rejected'] as const
export type EnrolmentState = (typeof ENROLMENT_STATES)[number]

/**
 * The line that a person copies from the hub's page to the box: the address of the hub and the fingerprint of its authority, so
 * that nobody between them can hand the box another authority. That of a tenant's page names the tenant.
 */
export const enrolmentLine = (hub_url: string, authority: string, tenant_id = ''): string =>
  `${hub_url.replace(/\/+$/, '')}/${tenant_id}#${authority}`

/** @returns undefined for text that is no such line */
export function readEnrolmentLine(text: string): { hub_url: string; authority: string; tenant_id?: string } | undefined {
  const [, hub_url = '', tenant_id = '', authority = ''] =
    /^(https?:\/\/[^\s/?#@]+)(?:\/([^\s/?#]*))?#([0-9a-f]{32})$/.exec(text.trim()) ?? []
  if (!URL.canParse(hub_url) || (tenant_id !== '' && !isTenantId(tenant_id))) return undefined
  return { hub_url, authority, ...(tenant_id !== '' && { tenant_id }) }
}
