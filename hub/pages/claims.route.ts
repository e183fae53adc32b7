/** Edges whose metadata the hub refuses, and buildings that a second edge reports for: list, confirmation and the part of Fleet. */
import { Type } from '@sinclair/typebox'
import type { CentralContext } from '#shared/central/context.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRefusal, Takeover } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { EdgeNotices } from '#shared/flow/ingest/edge-notices.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { type AuditNote, type Route, route, strict } from '#shared/node/http/route.ts'
import { answerOf } from '#shared/central/api/schemas/record-schemas.ts'
import { CLAIMS_ANSWER, TAKEOVER } from './edge-schemas.ts'
import { say, sayCount } from '#shared/node/http/language.ts'

type Context = Pick<CentralContext, 'edgeClaims' | 'clock'>
const BuildingId = Type.String({ minLength: 1, maxLength: 128 })

export const claimRoutes = (context: Context): Route[] => [
  route({
    method: 'GET',
    path: '/api/edge-claims',
    auth: 'viewer',
    summary: 'Edges whose metadata is refused, and buildings that a second edge reports for',
    reply: CLAIMS_ANSWER,
    handle: () => {
      const { edgeClaims } = context
      return { ok: true, refusals: edgeClaims.refusals().map(dated), takeovers: edgeClaims.takeovers().map(dated) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/edge-claims/confirm',
    auth: 'operator',
    summary: 'Confirms that several edges may report for a building; data and history of each stay',
    body: strict({ building_id: BuildingId, confirm: Type.Optional(Type.Boolean()) }),
    reply: answerOf({ confirmed: Type.Array(TAKEOVER) }),
    action: 'confirm_takeover',
    problems: ['confirm_required', 'conflict'],
    handle: ({ body: { building_id, confirm: confirmed }, caller, audit }) => {
      if (confirmed !== true) throw new Problem('confirm_required', 'This ends the warning permanently; send confirm: true')
      return { ok: true, confirmed: confirm(context, building_id, caller?.subject ?? '', audit).map(dated) }
    },
  }),
  route({
    method: 'POST',
    path: '/fleet/takeovers/confirm',
    auth: 'operator',
    summary: 'The button that confirms the edges of a building',
    takes: 'form',
    action: 'confirm_takeover',
    body: strict({ building_id: BuildingId }),
    problems: ['conflict'],
    handle: ({ body: { building_id }, caller, reply, audit }) => {
      confirm(context, building_id, caller?.subject ?? '', audit)
      return reply.redirect('/', 303)
    },
  }),
]

const dated = <T extends { since: number }>(one: T) => ({ ...one, since: formatInstant(one.since) })

/** @throws Problem conflict when the building has no takeover to confirm */
function confirm({ edgeClaims, clock }: Context, building_id: string, by: string, audit: (note: AuditNote) => void): Takeover[] {
  const confirmed = edgeClaims.confirm(building_id, by, clock.now())
  if (confirmed.length === 0) throw new Problem('conflict', `There is no takeover of ${building_id} to confirm`)
  audit({ subject: building_id, after: { confirmed: confirmed.map(dated) } })
  return confirmed
}

/** An edge whose messages are beyond the budget of the tenant, or beyond what one edge may bring. */
type HeldBack = ReturnType<EdgeNotices['heldBack']>[number]
export type ClaimsModel = {
  refusals: EdgeRefusal[]
  takeovers: Takeover[]
  heldBack: HeldBack[]
  user: User | undefined
  csrf: string
}

/** Refused edges that are named: the section comes again every ten seconds. */
const REFUSALS_SHOWN = 20

/** The section above the table of Fleet; false when there is nothing to decide. */
export function claimsPart({ refusals, takeovers, heldBack, user, csrf }: ClaimsModel, here: Here): Html | false {
  if (refusals.length + takeovers.length + heldBack.length === 0) return false
  const byBuilding = [...Map.groupBy(takeovers, ({ building_id }) => building_id)]
  return html`<section class="card alarm" id="claims" aria-labelledby="claims-title"><h2 id="claims-title">Edges that need a decision</h2>
${refusals
  .slice(0, REFUSALS_SHOWN)
  .map(
    ({ site_id, edge_id, reason, since }) =>
      html`<p class="error"><strong>Refused:</strong> edge <code>${edge_id}</code> of site ${site_id}, ${momentAge(since, here)}: ${reason}. Nothing that it sends is stored.</p>`,
  )}
${
  refusals.length > REFUSALS_SHOWN &&
  html`<p class="error">${sayCount(refusals.length - REFUSALS_SHOWN)} more are refused; <a href="/api/edge-claims">all of them</a>.</p>`
}
${heldBack.map(({ site_id, edge_id, reason, isBudget }) =>
  isBudget
    ? html`<p class="error"><strong>Held back:</strong> edge <code>${edge_id}</code> of site ${site_id}: ${reason}. The edge keeps its messages until an admin of the hub raises the budget.</p>`
    : html`<p class="error"><strong>Held back:</strong> edge <code>${edge_id}</code> of site ${site_id}: ${reason}. The edge keeps its messages. No edge in order brings so much: if you do not know why, revoke its certificate.</p>`,
)}
${byBuilding.map(
  ([building_id, list], i) =>
    html`${list.map(
      ({ site_id, edge_id, from_edge_id, since }) =>
        html`<p class="error"><strong>Building taken over:</strong> edge <code>${edge_id}</code> of site ${site_id} reports for building <code>${building_id}</code>, as edge <code>${from_edge_id}</code> does or did, ${momentAge(since, here)}.</p>`,
    )}<form method="post" action="/fleet/takeovers/confirm">${csrfField(csrf)}<input type="hidden" name="building_id" value="${building_id}">${operatorButton(user, `claim-${i}`, say`Confirm the edges of ${building_id}`)}</form>`,
)}</section>`
}
