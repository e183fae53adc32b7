/** What is snoozed now, beginning a snooze before a finding, and ending one early. */
import { Type } from '@sinclair/typebox'
import { snoozeScope, type Snooze, SNOOZE_SCOPES } from '#shared/core/findings/snooze.ts'
import { ID } from '#shared/core/model/model.ts'
import { formatInstant } from '#shared/core/time.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import { refuseUnknownBuilding } from '#shared/core/lookup.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { readInstant } from '#shared/central/api/record-views.ts'
import { endSnooze, resumeSnooze, snoozeAhead, SNOOZES_MAX } from '#shared/central/commands/snoozes.ts'

const SnoozeReply = Type.Object({
  snooze_id: Type.String(),
  scope: oneOf(SNOOZE_SCOPES),
  building_id: Type.String(),
  equipment_id: Type.Optional(Type.String()),
  rule_id: Type.Optional(Type.String()),
  role: Type.Optional(Type.String()),
  finding_id: Type.Optional(Type.String()),
  until: Type.String({ format: 'date-time' }),
  reason: Type.Optional(Type.String()),
  created_by: Type.Optional(Type.String()),
  created_at: Type.Optional(Type.String({ format: 'date-time' })),
})
const OneReply = Type.Object({ ok: Type.Literal(true), snooze: SnoozeReply })
const BASE = '/api/fdd/snoozes'
const BY_ID = strict({ snooze_id: Type.String({ minLength: 1, maxLength: 128 }) })

export const snoozeRoutes = (context: CentralContext): Route[] => {
  /** For tokens of one building. */
  const buildingOf = ({ snooze_id = '' }: Record<string, string>) => context.snoozes.get(snooze_id)?.building_id
  return [
    route({
      method: 'GET',
      path: BASE,
      auth: 'viewer',
      summary: 'Snoozes in force, the soonest to end first',
      query: strict({ building_id: Type.Optional(ID), ...PAGE }),
      reply: Type.Object({ ok: Type.Literal(true), snoozes: Type.Array(SnoozeReply), next_cursor: Type.Optional(Type.String()) }),
      problems: ['bad_cursor', 'unknown_building'],
      handle: ({ query }) => {
        const { building_id } = query
        const listed = context.snoozes
          .list(context.clock.now(), SNOOZES_MAX)
          .filter(one => building_id === undefined || one.building_id === building_id)
        refuseUnknownBuilding(context.model, building_id, listed)
        const { items, ...next } = cutPage(listed, query, ({ snooze_id }) => snooze_id)
        return { ok: true, snoozes: items.map(replyOf), ...next }
      },
    }),
    route({
      method: 'POST',
      path: BASE,
      auth: 'operator',
      summary: 'Snoozes an equipment, a rule in a building, or a rule on an equipment before anything is found there',
      body: strict({
        building_id: ID,
        equipment_id: Type.Optional(ID),
        rule_id: Type.Optional(ID),
        until: Type.String({ format: 'date-time' }),
        reason: Type.String({ minLength: 1, maxLength: NOTE_MAX }),
      }),
      reply: OneReply,
      action: 'snooze_begin',
      problems: ['unknown_building', 'unknown_equipment', 'unknown_rule', 'invalid'],
      handle: async call => {
        const { until, ...asked } = call.body
        return { ok: true, snooze: replyOf(await snoozeAhead(context, call, { ...asked, until: readInstant('until', until) })) }
      },
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:snooze_id`,
      auth: 'operator',
      summary: 'Ends a snooze before its time',
      params: BY_ID,
      buildingOf,
      reply: OneReply,
      action: 'snooze_end',
      handle: call => ({ ok: true, snooze: replyOf(endSnooze(context, call, call.params.snooze_id)) }),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:snooze_id/restore`,
      auth: 'operator',
      summary: 'Takes up a snooze that was ended early, as it was',
      params: BY_ID,
      buildingOf,
      reply: OneReply,
      action: 'snooze_restore',
      handle: call => ({ ok: true, snooze: replyOf(resumeSnooze(context, call, call.params.snooze_id)) }),
    }),
  ]
}

function replyOf({ until, created_at, ended_at: _ended, ...snooze }: Snooze) {
  return {
    ...snooze,
    scope: snoozeScope(snooze),
    until: formatInstant(until),
    ...(created_at > 0 && { created_at: formatInstant(created_at) }),
  }
}
