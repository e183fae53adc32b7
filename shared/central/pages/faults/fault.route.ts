/** The page of one fault and what a person may do about it. */
import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { HOUR } from '#shared/core/time.ts'
import { faultBody, WINDOWS } from './fault.view.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { SNOOZE_SCOPES } from '#shared/core/findings/snooze.ts'
import { oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import type { Actor } from '#shared/central/commands/command.ts'
import { acknowledge, assign, ASSIGNEE_MAX, markNotAFault, NOTE_TEXT, writeNote } from '#shared/central/commands/notes.ts'
import { snooze, SNOOZE_MAX } from '#shared/central/commands/snoozes.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ENDED } from './snoozes.route.ts'
import { type FaultContext, faultModel } from './fault-model.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'

const Params = strict({ finding_id: PAGE_ID })
const ASSIGNEE = Type.String({ maxLength: ASSIGNEE_MAX })
/** Zero ends a snooze. */
const SNOOZE_HOURS = Type.Integer({ minimum: 0, maximum: SNOOZE_MAX / HOUR })

export const faultPage = (context: FaultContext & Pick<CentralContext, 'clock' | 'snoozes'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/faults/:finding_id',
    auth: 'viewer',
    summary: 'The page of one fault',
    params: Params,
    query: strict({ window: Type.Optional(Type.Union(WINDOWS.map(choice => Type.Literal(choice)))), ...ENDED }),
    handle: async call => {
      const { params, query, caller } = call
      const at = { here: layout.here(), user: layout.userOf(caller), csrf: layout.csrfOf(caller), ended: query.ended }
      const model = await faultModel(
        { ...context, model: layout.modelFor(caller) },
        params.finding_id,
        query.window ?? 'episode',
        at,
      )
      return layout.document(
        call,
        { title: titleOf(model.finding), current: '/faults', here: model.here },
        faultBody(model, layout.assets),
      )
    },
  }),
  formRoute('ack', strict({}), (call, finding_id) => acknowledge(context, call, finding_id, {})),
  formRoute('note', strict({ note: NOTE_TEXT, was: Type.Optional(NOTE_TEXT) }), (call, finding_id, { note, was }) =>
    writeNote(context, call, finding_id, note, was),
  ),
  formRoute('not-a-fault', strict({ reason: NOTE_TEXT }), (call, finding_id, { reason }) =>
    markNotAFault(context, call, finding_id, reason),
  ),
  formRoute('assign', strict({ assignee: ASSIGNEE, was: Type.Optional(ASSIGNEE) }), (call, finding_id, { assignee, was }) =>
    assign(context, call, finding_id, assignee, was),
  ),
  formRoute(
    'snooze',
    strict({ hours: SNOOZE_HOURS, reason: Type.Optional(NOTE_TEXT), scope: Type.Optional(oneOf(SNOOZE_SCOPES)) }),
    (call, finding_id, { hours, ...given }) =>
      snooze(context, call, finding_id, { until: hours === 0 ? null : context.clock.now() + hours * HOUR, ...given }),
  ),
]

/** A form of the fault's page; afterwards the page is shown again. */
function formRoute<P extends TProperties>(
  action: string,
  body: TObject<P>,
  change: (actor: Actor, finding_id: string, given: Static<TObject<P>>) => unknown,
): Route {
  return route({
    method: 'POST',
    path: `/faults/:finding_id/${action}`,
    auth: 'operator',
    summary: `The form ${action} of the page of one fault`,
    takes: 'form',
    action: `finding_${action.replaceAll('-', '_')}`,
    params: Params,
    body,
    problems: ['unknown_finding', 'conflict'],
    handle: call => {
      const { finding_id } = call.params
      change(call, finding_id, call.body as Static<TObject<P>>)
      return call.reply.redirect(`/faults/${encodeURIComponent(finding_id)}`, 303)
    },
  })
}
