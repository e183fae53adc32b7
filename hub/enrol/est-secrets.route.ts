/** One-time secrets of EST: routes for programs and the forms of the page Enrol. */
import { SECRET_ANSWER } from '#shared/central/api/auth.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, type Route, route, strict } from '#shared/node/http/route.ts'
import { SECRET_MADE, SECRETS_ANSWER } from './certificate-schemas.ts'
import type { OpenSecret } from './est-secrets.ts'
import { secretMade } from './est-secrets.view.ts'
import { type Enrolment, KIT_FIELDS, makeSecret, withdrawSecret } from './issue-kit.ts'
import { say } from '#shared/node/http/language.ts'

const ids = strict({ site_id: KIT_FIELDS.site_id, edge_id: KIT_FIELDS.edge_id })
const MAKE_PROBLEMS = ['no_authority', 'too_many_boxes'] as const

export const secretRoutes = (enrolment: Enrolment, layout: PageLayout): Route[] => [
  route({
    method: 'POST',
    path: '/api/est/secrets',
    auth: 'operator',
    summary: 'Makes the secret with which a device enrols once by EST, as this edge; it is shown once',
    body: ids,
    reply: SECRET_MADE,
    action: 'make_est_secret',
    problems: MAKE_PROBLEMS,
    handle: async call => {
      const { expires_at, ...secret } = await makeSecret(enrolment, call, call.body)
      call.reply.header('cache-control', SECRET_ANSWER)
      return { ok: true, ...secret, expires_at: formatInstant(expires_at) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/est/secrets',
    auth: 'operator',
    summary: 'Edges whose one-time secret nobody has used, without the secrets',
    reply: SECRETS_ANSWER,
    handle: async () => ({ ok: true, secrets: (await enrolment.secrets.list(enrolment.tenant_id)).map(secretView) }),
  }),
  route({
    method: 'DELETE',
    path: '/api/est/secrets/:site_id/:edge_id',
    auth: 'operator',
    summary: 'Makes the one-time secret of an edge void',
    params: ids,
    reply: DONE_ANSWER,
    action: 'withdraw_est_secret',
    problems: ['unknown_edge'],
    handle: async call => {
      await withdrawSecret(enrolment, call, call.params)
      return { ok: true }
    },
  }),
  route({
    method: 'POST',
    path: '/enrol/est',
    auth: 'operator',
    summary: 'The form that makes a one-time secret of EST and shows it once',
    takes: 'form',
    body: ids,
    action: 'make_est_secret',
    problems: MAKE_PROBLEMS,
    handle: async call => {
      const secret = await makeSecret(enrolment, call, call.body)
      call.reply.header('cache-control', SECRET_ANSWER)
      const at = { host: call.request.hostname, port: enrolment.estPort, here: layout.here() }
      return layout.document(call, { title: say`Enrol`, current: '/enrol' }, secretMade(secret, at))
    },
  }),
  route({
    method: 'POST',
    path: '/enrol/est/withdraw',
    auth: 'operator',
    summary: 'The button that makes a one-time secret of EST void',
    takes: 'form',
    body: ids,
    action: 'withdraw_est_secret',
    problems: ['unknown_edge'],
    handle: async call => {
      await withdrawSecret(enrolment, call, call.body)
      return call.reply.redirect('/enrol#est', 303)
    },
  }),
]

const secretView = ({ site_id, edge_id, username, expires_at }: OpenSecret) => ({
  ...{ site_id, edge_id, username },
  expires_at: formatInstant(expires_at),
})
