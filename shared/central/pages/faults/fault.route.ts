/** The page of one fault and what a person may do about it. */
import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import type { FindingNote } from '#shared/core/findings/finding.ts'
import { Problem } from '#shared/core/problem.ts'
import { HOUR } from '#shared/core/time.ts'
import { NOTE_MAX } from './fault-actions.ts'
import { faultBody, WINDOWS } from './fault.view.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type FaultContext, faultModel } from './fault-model.ts'
import type { Shell } from '#shared/central/pages/shell.ts'

const Params = strict({ finding_id: Type.String({ maxLength: 128 }) })
const TEXT = Type.String({ maxLength: NOTE_MAX })
/** Longest snooze, hours. It always ends. */
const SNOOZE_HOURS_MAX = 30 * 24

export const faultRoutes = (context: FaultContext & Pick<CentralContext, 'clock'>, shell: Shell): Route[] => [
  route({
    method: 'GET',
    path: '/faults/:finding_id',
    auth: 'viewer',
    summary: 'The page of one fault',
    params: Params,
    query: strict({ window: Type.Optional(Type.Union(WINDOWS.map(choice => Type.Literal(choice)))) }),
    handle: async call => {
      const { params, query, caller } = call
      const at = { here: shell.here(), user: shell.userOf(caller), csrf: shell.csrfOf(caller) }
      const model = await faultModel(context, params.finding_id, query.window ?? 'episode', at)
      return shell.document(call, { title: titleOf(model.finding), current: '/faults', here: model.here }, faultBody(model))
    },
  }),
  command(context, 'ack', strict({}), note => ({ ...note, ack: 'acked' })),
  command(context, 'note', strict({ note: TEXT }), (note, body) => withText(note, 'note', body.note)),
  command(context, 'not-a-fault', strict({ reason: TEXT }), (note, body) => withText(note, 'not_a_fault', body.reason)),
  command(context, 'snooze', strict({ hours: Type.Integer({ minimum: 0, maximum: SNOOZE_HOURS_MAX }) }), (note, { hours }) => {
    const awake = without(note, 'snoozed_until')
    return hours ? { ...awake, snoozed_until: context.clock.now() + hours * HOUR } : awake
  }),
]

/** An empty text takes away what was there. */
function withText(note: FindingNote, field: 'note' | 'not_a_fault', text: string): FindingNote {
  const kept = without(note, field)
  return text.trim() ? { ...kept, [field]: text.trim() } : kept
}

const without = (note: FindingNote, field: keyof FindingNote) =>
  Object.fromEntries(Object.entries(note).filter(([name]) => name !== field)) as FindingNote

/** A form of the fault's page: changes its note, leaves an audit row, and shows the page again. */
function command<P extends TProperties>(
  { results, notes }: FaultContext,
  action: string,
  body: TObject<P>,
  change: (note: FindingNote, body: Static<TObject<P>>) => FindingNote,
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
    handle: ({ params: { finding_id }, body: given, reply, audit }) => {
      if (!results.get(finding_id)) throw new Problem('unknown_finding', `There is no finding ${finding_id}`)
      const before = notes.get(finding_id)
      const after = change(before, given as Static<TObject<P>>)
      notes.set(after)
      audit({ subject: finding_id, before, after })
      return reply.redirect(`/faults/${encodeURIComponent(finding_id)}`, 303)
    },
  })
}
