/** The list of what is snoozed, and the forms that end a snooze and take it up again. */
import { Type } from '@sinclair/typebox'
import { PAGE_ID, route, type Route, strict } from '#shared/node/http/route.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { HOUR } from '#shared/core/time.ts'
import { endSnooze, resumeSnooze, SNOOZE_MAX, snoozeAhead, SNOOZES_MAX } from '#shared/central/commands/snoozes.ts'
import type { CentralContext, Reading } from '#shared/central/context.ts'
import { safeNext } from '#shared/central/pages/typed-form.ts'
import { type Here, hereIn } from '#shared/central/ui/moment.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import type { NamedSnooze } from './snoozes.view.ts'

type Context = Pick<CentralContext, 'findings' | 'notes' | 'snoozes' | 'clock'> & Reading<Pick<CentralContext, 'model' | 'rules'>>
const SNOOZE_ID = Type.String({ minLength: 1, maxLength: 128 })
const Form = strict({ snooze_id: SNOOZE_ID, back: Type.Optional(Type.String({ maxLength: 2000 })) })
/** What the address of the list says of a snooze that was ended, until the next click. */
export const ENDED = { ended: Type.Optional(SNOOZE_ID) }

const Ahead = strict({
  building_id: PAGE_ID,
  equipment_id: PAGE_ID,
  rule_id: Type.Optional(PAGE_ID),
  hours: Type.Integer({ minimum: 1, maximum: SNOOZE_MAX / HOUR }),
  reason: Type.String({ minLength: 1, maxLength: NOTE_MAX }),
})

export const snoozeForms = (context: Context): Route[] => [
  route({
    method: 'POST',
    path: '/faults/snoozes/begin',
    auth: 'operator',
    summary: 'The form that snoozes an equipment, or a rule on it, before anything is found there',
    takes: 'form',
    action: 'snooze_begin',
    body: Ahead,
    problems: ['unknown_building', 'unknown_equipment', 'unknown_rule', 'invalid'],
    handle: async call => {
      const { hours, rule_id, ...asked } = call.body
      const until = context.clock.now() + hours * HOUR
      await snoozeAhead(context, call, { ...asked, ...(rule_id && { rule_id }), until })
      return call.reply.redirect('/faults?lane=silenced#snoozes', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/faults/snoozes/end',
    auth: 'operator',
    summary: 'Ends a snooze before its time',
    takes: 'form',
    action: 'snooze_end',
    body: Form,
    handle: call => {
      const { snooze_id } = endSnooze(context, call, call.body.snooze_id)
      const back = safeNext(call.body.back ?? '/faults?lane=silenced')
      return call.reply.redirect(`${back}${back.includes('?') ? '&' : '?'}${new URLSearchParams({ ended: snooze_id })}`, 303)
    },
  }),
  route({
    method: 'POST',
    path: '/faults/snoozes/restore',
    auth: 'operator',
    summary: 'Takes up a snooze that was ended early, as it was',
    takes: 'form',
    action: 'snooze_restore',
    body: Form,
    handle: call => {
      resumeSnooze(context, call, call.body.snooze_id)
      return call.reply.redirect(safeNext(call.body.back ?? '/faults?lane=silenced'), 303)
    },
  }),
]

/** @returns the snoozes in force with the names of what they cover, the soonest to end first */
export function namedSnoozes(
  { snoozes, findings, model }: Reading<Pick<CentralContext, 'snoozes' | 'findings' | 'model'>>,
  here: Here,
  building: string | undefined,
  equipmentName: (at: { building_id: string; equipment_id: string }) => string,
): NamedSnooze[] {
  const buildings = new Map(model.buildings().map(one => [one.building_id, one]))
  return snoozes
    .list(here.now, SNOOZES_MAX)
    .filter(({ building_id }) => building === undefined || building_id === building)
    .map(snooze => {
      const { building_id, equipment_id, rule_id, role } = snooze
      const place = buildings.get(building_id)
      const [example] = rule_id === undefined ? [] : findings.list({ building_id, rule_id, limit: 1 })
      return {
        snooze,
        here: hereIn(here, place?.timezone ?? here.timezone),
        building: place?.name ?? building_id,
        equipment: equipment_id === undefined ? '' : equipmentName({ building_id, equipment_id }),
        rule: example ? titleOf({ title: example.title, ...(role !== undefined && { role }) }) : (rule_id ?? ''),
      }
    })
}
