import { Type } from '@sinclair/typebox'
import { formatInstant } from '#shared/core/time.ts'
import type { RestoreState } from '#shared/node/backup/staged-restore.ts'
import { DONE_ANSWER, type Route, route, strict } from '#shared/node/http/route.ts'
import { confirmRestore, discardRestore, RESTORE_MAX, stageRestore } from '#shared/central/commands/restore.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { RESTORE_ANSWER, RESTORE_STATE } from '#shared/central/api/schemas/restore-schemas.ts'

const viewOf = ({ phase, about, holds, by, at }: RestoreState) => ({
  ...{ phase, about, holds },
  ...(by !== undefined && { confirmed_by: by }),
  ...(at !== undefined && { confirmed_at: formatInstant(at) }),
})

export const restoreRoutes = (context: Pick<CentralParts, 'restores' | 'restart'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/restore',
    auth: 'admin',
    summary: 'The backup that was uploaded to be restored, and what the workspace has now',
    reply: RESTORE_STATE,
    handle: () => {
      const { restores } = context
      const state = restores?.state()
      return {
        ok: true,
        available: restores !== undefined,
        restarts: context.restart !== undefined,
        restore: state ? viewOf(state) : null,
        present: restores?.present() ?? null,
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/restore',
    auth: 'admin',
    summary: 'Uploads a backup as a form, `passphrase` before the file, and checks it; nothing is replaced yet',
    reply: RESTORE_ANSWER,
    takes: 'upload',
    bodyMax: RESTORE_MAX,
    action: 'stage_restore',
    problems: ['bad_request', 'conflict', 'invalid', 'workspace_full'],
    handle: async call => ({ ok: true, restore: viewOf(await stageRestore(context, call, call.request)) }),
  }),
  route({
    method: 'POST',
    path: '/api/restore/confirm',
    auth: 'admin',
    summary:
      'Replaces the workspace by the backup at the next start of the program, which follows at once where it is started again by itself',
    body: strict({ confirm: Type.Literal(true) }),
    reply: RESTORE_ANSWER,
    action: 'confirm_restore',
    problems: ['conflict'],
    handle: async call => ({ ok: true, restore: viewOf(await confirmRestore(context, call)) }),
  }),
  route({
    method: 'DELETE',
    path: '/api/restore',
    auth: 'admin',
    summary: 'Discards the backup that was uploaded, until it is in place',
    reply: DONE_ANSWER,
    action: 'discard_restore',
    problems: ['conflict'],
    handle: async call => {
      await discardRestore(context, call)
      return { ok: true }
    },
  }),
]
