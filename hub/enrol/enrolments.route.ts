/** Boxes without a kit: they ask without a login, a person accepts or rejects them, and they fetch their certificate. */
import { Type } from '@sinclair/typebox'
import { networkOf } from '#shared/core/auth/network.ts'
import { EnrolmentRequest } from '#shared/core/auth/enrolment.ts'
import { ThrottledProblem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, type Route, route, strict } from '#shared/node/http/route.ts'
import { ACCEPTED, BOX_ANSWER, BOX_ASKED, BOXES_ANSWER } from './certificate-schemas.ts'
import { acceptBox, type Enrolment, KIT_FIELDS, rejectBox } from './issue-kit.ts'
import type { PendingBox } from './pending-boxes.ts'
import { createRequestThrottle } from './request-throttle.ts'

/** Requests in a minute without a login, of one network and together: a box asks four times. */
const REQUESTS = { perNetwork: 60, all: 600 }
/** Longest body of a request, bytes: a certificate request and two ids. */
const BODY_MAX = 16 * 1024

const Fingerprint = strict({ fingerprint: Type.String({ pattern: '^[0-9a-f]{32}$' }) })
const { broker_host } = KIT_FIELDS
const ids = { site_id: KIT_FIELDS.site_id, edge_id: KIT_FIELDS.edge_id }
const ACCEPT_PROBLEMS = ['unknown_box', 'conflict', 'invalid', 'no_authority', 'not_ready'] as const

/** For boxes, which have no login. The hub itself answers them, whichever tenant they ask. */
export function enrolmentRoutes({ pending, authority }: Enrolment): Route[] {
  const throttle = createThrottle(Date.now)
  return [
    route({
      method: 'POST',
      path: '/api/enrolments',
      auth: 'public',
      anyBuilding: true,
      ofHub: true,
      bodyMax: BODY_MAX,
      summary: 'A box asks for a certificate; it waits until an operator accepts it',
      body: EnrolmentRequest,
      reply: BOX_ASKED,
      statuses: [202],
      problems: ['invalid', 'too_many_boxes', 'too_many_requests', 'no_authority'],
      handle: async call => {
        throttle(call.request.ip)
        await authority.fingerprint()
        const box = await pending.ask(call.body, networkOf(call.request.ip))
        call.reply.code(202)
        return { ok: true, fingerprint: box.fingerprint, state: box.state }
      },
    }),
    route({
      method: 'GET',
      path: '/api/enrolments/:fingerprint',
      auth: 'public',
      anyBuilding: true,
      ofHub: true,
      summary: 'What became of the request of a box; with the certificate when it was accepted',
      params: Fingerprint,
      reply: BOX_ANSWER,
      problems: ['unknown_box', 'too_many_requests'],
      handle: async call => {
        throttle(call.request.ip)
        const { state, kit } = await pending.get(call.params.fingerprint)
        return { ok: true, state, ...(kit && { kit }) }
      },
    }),
  ]
}

/** What people decide, of the hub's own sites and of each tenant. */
export function pendingRoutes(enrolment: Enrolment): Route[] {
  const { pending, isOurs } = enrolment
  const Accept = strict({ ...ids, broker_host, replace: Type.Optional(Type.Boolean()) })
  return [
    route({
      method: 'GET',
      path: '/api/enrolments',
      auth: 'operator',
      summary: 'Boxes that wait for a certificate, the newest first',
      reply: BOXES_ANSWER,
      handle: async () => ({ ok: true, boxes: (await pending.waiting(isOurs)).map(boxView) }),
    }),
    route({
      method: 'POST',
      path: '/api/enrolments/:fingerprint/accept',
      auth: 'operator',
      summary: 'Accepts a box as an edge of a site; it fetches its certificate',
      params: Fingerprint,
      body: Accept,
      reply: ACCEPTED,
      action: 'accept_box',
      problems: ACCEPT_PROBLEMS,
      handle: async call => {
        const { replace = false, ...body } = call.body
        const order = { ...body, replace }
        return { ok: true, ...(await acceptBox(enrolment, call, call.params.fingerprint, order, call.request.hostname)) }
      },
    }),
    route({
      method: 'POST',
      path: '/api/enrolments/:fingerprint/reject',
      auth: 'operator',
      summary: 'Rejects a box',
      params: Fingerprint,
      body: strict({}),
      reply: DONE_ANSWER,
      action: 'reject_box',
      problems: ['unknown_box', 'conflict'],
      handle: async call => {
        await rejectBox(enrolment, call, call.params.fingerprint)
        return { ok: true }
      },
    }),
    route({
      method: 'POST',
      path: '/enrol/accept',
      auth: 'operator',
      summary: 'The button that accepts a box',
      takes: 'form',
      body: strict({
        ...Fingerprint.properties,
        ...ids,
        broker_host,
        replace: Type.Optional(Type.Literal('yes')),
      }),
      action: 'accept_box',
      problems: ACCEPT_PROBLEMS,
      handle: async call => {
        const { fingerprint, replace, ...body } = call.body
        const order = { ...body, replace: replace === 'yes' }
        await acceptBox(enrolment, call, fingerprint, order, call.request.hostname)
        return call.reply.redirect('/enrol#certificates', 303)
      },
    }),
    route({
      method: 'POST',
      path: '/enrol/reject',
      auth: 'operator',
      summary: 'The button that rejects a box',
      takes: 'form',
      body: Fingerprint,
      action: 'reject_box',
      problems: ['unknown_box', 'conflict'],
      handle: async call => {
        await rejectBox(enrolment, call, call.body.fingerprint)
        return call.reply.redirect('/enrol', 303)
      },
    }),
  ]
}

const boxView = ({ fingerprint, site_id, edge_id, tenant_id, network, asked_at }: PendingBox) => ({
  ...{ fingerprint, ...(site_id !== undefined && { site_id }), ...(edge_id !== undefined && { edge_id }) },
  ...{ ...(tenant_id !== undefined && { tenant_id }), network },
  asked_at: formatInstant(asked_at),
})

/** @returns counts a request of an address. Throws ThrottledProblem too_many_requests */
function createThrottle(now: () => number): (address: string) => void {
  const waitOf = createRequestThrottle(REQUESTS, now)
  return address => {
    const wait = waitOf(address)
    if (wait > 0) throw new ThrottledProblem('too_many_requests', `Too many boxes ask; try again in ${wait} s`, wait)
  }
}
