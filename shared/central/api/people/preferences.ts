/** What the caller has chosen for the pages. */
import { Type } from '@sinclair/typebox'
import type { Preferences } from '#shared/core/preferences.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import { changePreferences, LANGUAGE_CHOICE, PREFERENCE_CHANGE, UNIT_CHOICE } from '#shared/central/commands/preferences.ts'
import type { CentralContext } from '#shared/central/context.ts'

const BASE = '/api/preferences'
const Reply = Type.Object({ ok: Type.Literal(true), language: LANGUAGE_CHOICE, unit_system: UNIT_CHOICE })

export const preferenceRoutes = (context: Pick<CentralContext, 'preferences'>): Route[] => [
  route({
    method: 'GET',
    path: BASE,
    auth: 'viewer',
    summary: 'Language and units that the caller has chosen for the pages; null is no choice',
    reply: Reply,
    handle: ({ caller }) => replyOf(context.preferences.get(caller!.subject)),
  }),
  route({
    method: 'PUT',
    path: BASE,
    auth: 'viewer',
    summary: 'Chooses language and units of the pages for the caller; a field that is left out stays, null takes a choice back',
    body: strict(PREFERENCE_CHANGE),
    reply: Reply,
    action: 'change_preferences',
    handle: call => replyOf(changePreferences(context, call, call.body)),
  }),
]

const replyOf = ({ language = undefined, unit_system = undefined }: Preferences) => ({
  ok: true,
  language: language ?? null,
  unit_system: unit_system ?? null,
})
