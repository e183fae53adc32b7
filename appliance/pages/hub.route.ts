/** The page Hub: asks a hub for a certificate. */
import { Type } from '@sinclair/typebox'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { answerOf } from '#shared/central/api/schemas/record-schemas.ts'
import { BOX_ENROLMENT_STATES, type BoxEnrolment } from '../kit/enrolment.ts'
import { hubBody } from './hub.view.ts'
import { say } from '#shared/node/http/language.ts'

export const HUB_PATH = '/hub'
/** The browser's own limit of the field is the same. */
const Line = strict({ line: Type.String({ minLength: 1, maxLength: 300 }) })
const ENROLMENT_ANSWER = answerOf({
  enrolment: Type.Object({
    state: oneOf(BOX_ENROLMENT_STATES),
    hub: Type.Optional(Type.String({ description: 'host of the broker, of a box that is enrolled' })),
    hub_url: Type.Optional(Type.String({ description: 'of a box that has asked, as the fingerprint of its key' })),
    fingerprint: Type.Optional(Type.String()),
    problem: Type.Optional(Type.String({ description: 'why the last attempt came to nothing' })),
  }),
})

export const hubRoutes = (enrolment: BoxEnrolment, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: HUB_PATH,
    auth: 'admin',
    summary: 'The page Hub',
    handle: call =>
      layout.document(call, { title: say`Hub`, current: HUB_PATH }, hubBody(enrolment.state(), layout.csrfOf(call.caller))),
  }),
  route({
    method: 'POST',
    path: HUB_PATH,
    auth: 'admin',
    summary: 'The form that asks a hub for a certificate',
    takes: 'form',
    body: Line,
    action: 'ask_hub',
    problems: ['invalid', 'conflict'],
    handle: async call => {
      await enrolment.ask(call.body.line)
      call.audit({ subject: 'hub', after: enrolment.state() })
      return call.reply.redirect(HUB_PATH, 303)
    },
  }),
  route({
    method: 'POST',
    path: `${HUB_PATH}/cancel`,
    auth: 'admin',
    summary: 'The button that forgets the request',
    takes: 'form',
    body: strict({}),
    action: 'forget_hub_request',
    handle: async call => {
      call.audit({ subject: 'hub', before: enrolment.state() })
      await enrolment.cancel()
      return call.reply.redirect(HUB_PATH, 303)
    },
  }),
  route({
    method: 'GET',
    path: '/api/hub/enrolment',
    auth: 'viewer',
    summary: 'Whether this box has a kit, or waits for one, with the fingerprint of its key',
    reply: ENROLMENT_ANSWER,
    handle: () => ({ ok: true, enrolment: enrolment.state() }),
  }),
  route({
    method: 'POST',
    path: '/api/hub/enrolment',
    auth: 'admin',
    summary: 'Asks a hub for a certificate; `line` is that of its page Enrol',
    body: Line,
    reply: ENROLMENT_ANSWER,
    action: 'ask_hub',
    problems: ['invalid', 'conflict'],
    handle: async call => {
      await enrolment.ask(call.body.line)
      call.audit({ subject: 'hub', after: enrolment.state() })
      return { ok: true, enrolment: enrolment.state() }
    },
  }),
]
