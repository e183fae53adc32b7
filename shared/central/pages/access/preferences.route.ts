/** The page on which people choose what pages show them. */
import { Type } from '@sinclair/typebox'
import { UNIT_SYSTEMS } from '#shared/core/model/model.ts'
import { LANGUAGES } from '#shared/core/preferences.ts'
import { oneOf, orBlank, type Route, route, strict } from '#shared/node/http/route.ts'
import { changePreferences } from '#shared/central/commands/preferences.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { PREFERENCES_PATH } from '#shared/central/ui/frame.ts'
import { preferencesBody } from './preferences.view.ts'
import { words } from '#shared/node/http/language.ts'

const TITLE = words({ title: 'Language and units', current: PREFERENCES_PATH }, 'title')

export const preferencesPage = (context: Pick<CentralContext, 'preferences'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: PREFERENCES_PATH,
    auth: 'viewer',
    summary: 'The page of language and units',
    query: strict({ done: Type.Optional(oneOf(['saved'])) }),
    handle: call => {
      const chosen = context.preferences.get(call.caller!.subject)
      const form = { chosen, isSaved: call.query.done === 'saved', csrf: layout.csrfOf(call.caller) }
      return layout.document(call, TITLE, preferencesBody(form))
    },
  }),
  route({
    method: 'POST',
    path: PREFERENCES_PATH,
    auth: 'viewer',
    summary: 'The form of language and units',
    takes: 'form',
    action: 'change_preferences',
    body: strict({ language: Type.Optional(orBlank(oneOf(LANGUAGES))), unit_system: orBlank(oneOf(UNIT_SYSTEMS)) }),
    handle: call => {
      const { language, unit_system } = call.body
      const change = { ...(language !== undefined && { language: language || null }), unit_system: unit_system || null }
      changePreferences(context, call, change)
      return call.reply.redirect(`${PREFERENCES_PATH}?done=saved`, 303)
    },
  }),
]
