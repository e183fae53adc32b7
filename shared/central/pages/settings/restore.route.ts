/** The page that restores a backup: upload, check, confirm. */
import { Type } from '@sinclair/typebox'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { say } from '#shared/node/http/language.ts'
import { type Call, ofHub, type Route, route, strict } from '#shared/node/http/route.ts'
import { confirmRestore, discardRestore, RESTORE_MAX, stageRestore } from '#shared/central/commands/restore.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { RESTORE_PATH, restoreBody } from './restore.view.ts'

type Context = Pick<CentralParts, 'restores' | 'restart' | 'auth' | 'version'>
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

export function restorePages(context: Context, layout: PageLayout): Route[] {
  const show = (call: AnyCall, refusal?: Problem) => {
    const { restores, restart, version } = context
    const body = restoreBody({
      state: restores?.state(),
      present: restores?.present(),
      ...{ version, refusal, restarts: restart !== undefined, here: layout.here(), csrf: layout.csrfOf(call.caller) },
    })
    return layout.document(call, { title: say`Restore a backup`, current: '/backups' }, body)
  }
  return ofHub([
    route({
      method: 'GET',
      path: RESTORE_PATH,
      auth: 'admin',
      summary: 'The page that restores a backup',
      handle: call => show(call),
    }),
    route({
      method: 'POST',
      path: RESTORE_PATH,
      auth: 'admin',
      summary: 'The form that uploads a backup to be restored',
      takes: 'upload',
      bodyMax: RESTORE_MAX,
      action: 'stage_restore',
      problems: ['bad_request', 'conflict', 'invalid', 'workspace_full'],
      handle: async call => {
        const { request, caller, reply } = call
        try {
          await stageRestore(context, call, request, fields => {
            if (caller && !context.auth.isFormToken(caller, fields.get('csrf') ?? '')) {
              throw new Problem('forbidden', 'The form is not from this session; load the page again')
            }
          })
          return reply.redirect(RESTORE_PATH, 303)
        } catch (error) {
          if (!(error instanceof Problem) || !['invalid', 'conflict', 'workspace_full'].includes(error.code)) throw error
          reply.code(PROBLEMS[error.code].status)
          return show(call, error)
        }
      },
    }),
    route({
      method: 'POST',
      path: `${RESTORE_PATH}/confirm`,
      auth: 'admin',
      summary: 'The form that confirms a restore',
      takes: 'form',
      body: strict({ sure: Type.Literal('yes') }),
      action: 'confirm_restore',
      problems: ['conflict'],
      handle: async call => {
        await confirmRestore(context, call)
        return context.restart ? show(call) : call.reply.redirect(RESTORE_PATH, 303)
      },
    }),
    route({
      method: 'POST',
      path: `${RESTORE_PATH}/discard`,
      auth: 'admin',
      summary: 'The form that discards an uploaded backup',
      takes: 'form',
      body: strict({}),
      action: 'discard_restore',
      problems: ['conflict'],
      handle: async call => {
        await discardRestore(context, call)
        return call.reply.redirect(RESTORE_PATH, 303)
      },
    }),
  ])
}
