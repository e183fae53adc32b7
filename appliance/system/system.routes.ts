/** The software of the box: which version runs, what became of the last update, and a new one. */
import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { BUNDLE_MAX, UpdateState } from '#shared/core/update/update-wire.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { SYSTEM_PATH, systemPages } from '#shared/central/pages/system/system.route.ts'
import { readUpdateForm, type UpdateReceiver } from '#shared/central/system/update-form.ts'
import { DONE_ANSWER, type Route, route } from '#shared/node/http/route.ts'
import type { PublisherState } from '../services/publisher.ts'
import { boxSections } from './system.view.ts'
import type { Updates } from './updates.ts'

const UPLOAD = {
  auth: 'admin',
  takes: 'upload',
  bodyMax: BUNDLE_MAX,
  action: 'update_system',
  problems: ['conflict', 'workspace_full'],
} as const

export function systemRoutes({
  updates,
  hubState,
  context,
  layout,
}: {
  updates: Updates
  hubState: () => PublisherState
  context: CentralContext
  layout: PageLayout
}): Route[] {
  const { version } = context
  const receiver: UpdateReceiver = {
    begin: updates.begin,
    receive: (write, { bytes, fields }) => updates.receive(write, { bytes, force: fields.get('force') === '1' }),
  }
  return [
    route({
      method: 'GET',
      path: '/api/system/update',
      auth: 'viewer',
      summary: 'The version that runs, and what became of the last update of the box',
      reply: Type.Object({
        ok: Type.Literal(true),
        version: Type.String(),
        updatable: Type.Boolean(),
        last: Type.Union([UpdateState, Type.Null()]),
      }),
      handle: async () => ({ ok: true as const, version, updatable: updates.isAvailable, last: updates.state() ?? null }),
    }),
    route({
      ...UPLOAD,
      method: 'POST',
      path: '/api/system/update',
      summary: 'A signed update of the box, as a form with the file; `force` 1 before it also takes an older version',
      reply: DONE_ANSWER,
      handle: async call => {
        await readUpdateForm(receiver, call.request)
        return { ok: true }
      },
    }),
    ...systemPages({
      context,
      layout,
      auth: 'viewer',
      more: async ({ caller }) =>
        boxSections({
          isAvailable: updates.isAvailable,
          last: updates.state(),
          hub: hubState(),
          here: layout.here(),
          csrf: layout.csrfOf(caller),
          isAdmin: caller?.role === 'admin',
        }),
    }),
    route({
      ...UPLOAD,
      method: 'POST',
      path: SYSTEM_PATH,
      summary: 'The form that brings an update of the box',
      handle: async ({ request, caller, reply }) => {
        await readUpdateForm(receiver, request, fields => {
          if (caller && !context.auth.isFormToken(caller, fields.get('csrf') ?? '')) {
            throw new Problem('forbidden', 'The form is not from this session; load the page again')
          }
        })
        return reply.redirect(SYSTEM_PATH, 303)
      },
    }),
  ]
}
