/** The page Enrol and its routes for programs: kits for edges, their certificates, revocation. */
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import { PAGE_NUMBER } from '#shared/central/ui/pager.ts'
import { SiteQuery } from '#shared/central/api/connectors.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { enrolmentLine } from '#shared/core/auth/enrolment.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { findEdge } from '#shared/core/telemetry/find-edge.ts'
import { orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { answerOf } from '#shared/central/api/schemas/record-schemas.ts'
import { CERTIFICATE, RENEWED } from './certificate-schemas.ts'
import { enrolBody } from './enrol.view.ts'
import { enrolmentRoutes, pendingRoutes } from './enrolments.route.ts'
import { secretRoutes } from './est-secrets.route.ts'
import {
  certificatesOf,
  certificateView,
  CSR_TEXT,
  type Enrolment,
  issueKit,
  KIT_FIELDS,
  renewEdge,
  revokeEdge,
} from './issue-kit.ts'
import { say, sayMade } from '#shared/node/http/language.ts'

const RENEWAL_PROBLEMS = [
  ...(['unknown_edge', 'ambiguous_edge', 'conflict', 'invalid', 'no_authority', 'not_ready'] as const),
  ...(['edge_unreachable', 'edge_timeout', 'edge_failed'] as const),
]

type Context = Pick<CentralContext, 'edges'>
const { site_id, edge_id, broker_host } = KIT_FIELDS

export const enrolRoutes = (enrolment: Enrolment, context: Context, layout: PageLayout): Route[] => [
  ...(enrolment.tenant_id === undefined ? enrolmentRoutes(enrolment) : []),
  ...pendingRoutes(enrolment),
  ...secretRoutes(enrolment, layout),
  pageRoute(enrolment, context, layout),
  ...formRoutes(enrolment, context),
  route({
    method: 'POST',
    path: '/api/mqtt/edge-kits',
    auth: 'operator',
    summary: 'Issues the kit of an edge as a ZIP, which is stored nowhere; with `csr_pem` it has no key',
    answers: ['application/zip'],
    body: strict({ ...KIT_FIELDS, replace: Type.Optional(Type.Boolean()) }),
    action: 'issue_kit',
    problems: ['conflict', 'invalid', 'no_authority', 'not_ready'],
    handle: async call => {
      const { replace = false, ...body } = call.body
      return sendKit(call.reply, await issueKit(enrolment, call, { ...body, replace }, call.request.hostname))
    },
  }),
  route({
    method: 'GET',
    path: '/api/mqtt/certificates',
    auth: 'viewer',
    summary: 'The certificates of edges that were issued here, the newest first',
    reply: answerOf({ certificates: Type.Array(CERTIFICATE) }),
    problems: ['no_authority'],
    handle: async () => ({ ok: true, certificates: (await certificatesOf(enrolment)).map(certificateView) }),
  }),
  route({
    method: 'POST',
    path: '/api/edges/:edge_id/renew',
    auth: 'operator',
    summary: 'Renews the certificate of an edge: over its session, or for the certificate request `csr_pem`',
    params: strict({ edge_id: ID }),
    query: SiteQuery,
    body: strict({ csr_pem: KIT_FIELDS.csr_pem }),
    reply: RENEWED,
    action: 'renew_certificate',
    problems: RENEWAL_PROBLEMS,
    handle: async call => {
      const edge = findEdge(context.edges, { ...call.params, ...call.query })
      return { ok: true, ...(await renewEdge(enrolment, call, edge, call.body.csr_pem)) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/edges/:edge_id/revoke',
    auth: 'operator',
    summary: 'Revokes the certificates of an edge; the broker ends its session',
    params: strict({ edge_id: ID }),
    query: SiteQuery,
    body: strict({ confirm: Type.Optional(Type.Boolean()) }),
    reply: answerOf({ revoked: Type.Array(CERTIFICATE) }),
    action: 'revoke_edge',
    problems: ['confirm_required', 'unknown_edge', 'ambiguous_edge', 'no_authority', 'not_ready'],
    handle: async call => {
      if (call.body.confirm !== true)
        throw new Problem('confirm_required', 'The edge cannot connect any more; send confirm: true')
      const { site_id } =
        call.query.site_id === undefined ? findEdge(context.edges, call.params) : { site_id: call.query.site_id }
      return { ok: true, revoked: (await revokeEdge(enrolment, call, { ...call.params, site_id })).map(certificateView) }
    },
  }),
]

const pageRoute = (enrolment: Enrolment, { edges }: Context, layout: PageLayout): Route =>
  route({
    method: 'GET',
    path: '/enrol',
    auth: 'operator',
    summary: 'The page Enrol; with a box, its form makes the kit of another in its place',
    query: strict({
      ...{ site_id: Type.Optional(PAGE_ID), edge_id: Type.Optional(PAGE_ID) },
      ...{ q: Type.Optional(SEARCH_TEXT), page: PAGE_NUMBER },
    }),
    handle: async call => {
      const here = layout.here()
      const { site_id, edge_id, q = '', page } = call.query
      const model = {
        ...{ here, q, page },
        csrf: layout.csrfOf(call.caller),
        certificates: await certificatesOf(enrolment).catch(explained),
        brokerHosts: (await enrolment.authority.brokerHosts()) ?? [call.request.hostname],
        mosquitto: await mosquittoOf(enrolment),
        brokerPort: enrolment.brokerPort,
        reached: call.request.hostname,
        edges: edges.list(),
        replaced: site_id === undefined || edge_id === undefined ? undefined : { site_id, edge_id },
        own: enrolment.own(),
        pending: await pendingOf(enrolment, call.request),
        secrets: enrolment.estPort === undefined ? undefined : await enrolment.secrets.list(enrolment.tenant_id),
      }
      return layout.document(call, { title: say`Enrol`, current: '/enrol' }, enrolBody(model))
    },
  })

/** The list has the names of all tenants, and commands are for those who look after the hub. */
const mosquittoOf = async ({ authority, tenant_id }: Enrolment) =>
  tenant_id === undefined ? authority.mosquittoList().catch(() => undefined) : undefined

async function pendingOf({ authority, tenant_id, pending, isOurs }: Enrolment, { protocol, host }: FastifyRequest) {
  const authorityIs = await authority.fingerprint().catch(() => undefined)
  if (authorityIs === undefined) return undefined
  const line = enrolmentLine(`${protocol}://${host}`, authorityIs, tenant_id)
  return { line, waiting: await pending.waiting(isOurs), tenant_id }
}

/** The reason why there is no authority, as the page shows it. */
function explained(error: unknown): string {
  if (error instanceof Problem && error.code === 'no_authority') return sayMade(error.message)
  throw error
}

/** @throws Problem invalid */
function portOf(text: string): number {
  const port = Number(text)
  if (port < 1 || port > 65_535) throw new Problem('invalid', 'a port is a number from 1 to 65535')
  return port
}

const formRoutes = (enrolment: Enrolment, { edges }: Context): Route[] => [
  route({
    method: 'POST',
    path: '/enrol/kit',
    auth: 'operator',
    summary: 'The form that downloads a kit',
    takes: 'form',
    body: strict({
      ...{ site_id, edge_id, broker_host },
      csr_pem: Type.Optional(orBlank(CSR_TEXT)),
      broker_port: Type.Optional(orBlank(Type.String({ pattern: String.raw`^\d{1,5}$` }))),
      replace: Type.Optional(Type.Literal('yes')),
    }),
    action: 'issue_kit',
    problems: ['conflict', 'invalid', 'no_authority', 'not_ready'],
    handle: async call => {
      const { broker_port, replace, ...fields } = call.body
      const port = broker_port ? { broker_port: portOf(broker_port) } : {}
      const kit = await issueKit(enrolment, call, { ...fields, ...port, replace: replace === 'yes' }, call.request.hostname)
      return sendKit(call.reply, kit)
    },
  }),
  route({
    method: 'POST',
    path: '/enrol/renew',
    auth: 'operator',
    summary: 'The button that renews the certificate of an edge over its session',
    takes: 'form',
    body: strict({ site_id, edge_id }),
    action: 'renew_certificate',
    problems: RENEWAL_PROBLEMS,
    handle: async call => {
      await renewEdge(enrolment, call, findEdge(edges, call.body))
      return call.reply.redirect('/enrol#certificates', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/enrol/revoke',
    auth: 'operator',
    summary: 'The button that revokes the certificates of an edge',
    takes: 'form',
    body: strict({ site_id, edge_id, confirm: Type.Literal('yes') }),
    action: 'revoke_edge',
    problems: ['unknown_edge', 'no_authority', 'not_ready'],
    handle: async call => {
      await revokeEdge(enrolment, call, call.body)
      return call.reply.redirect('/enrol#certificates', 303)
    },
  }),
]

const sendKit = (reply: FastifyReply, { zip, filename }: Awaited<ReturnType<typeof issueKit>>) =>
  reply
    .type('application/zip')
    .header('content-disposition', `attachment; filename="${filename}"`)
    .header('cache-control', 'no-store')
    .send(zip)
