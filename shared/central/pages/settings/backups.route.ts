/** The page of backups and its form. */
import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { orBlank, type Route, route, strict } from '#shared/node/http/route.ts'
import { sendBackup } from '#shared/central/api/backup.ts'
import { beginBackup, PASSPHRASE } from '#shared/central/commands/backup.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { backupsBody } from './backups.view.ts'
import { say } from '#shared/node/http/language.ts'

export const backupsPage = ({ backups }: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/backups',
    auth: 'admin',
    summary: 'The page of backups',
    handle: async call => {
      const { schedule } = backups
      const model = { schedule, stored: await backups.stored(), here: layout.here(), csrf: layout.csrfOf(call.caller) }
      return layout.document(call, { title: say`Backups`, current: '/backups' }, backupsBody(model))
    },
  }),
  route({
    method: 'POST',
    path: '/backups',
    auth: 'admin',
    summary: 'The form that downloads a backup',
    takes: 'form',
    body: strict({ passphrase: orBlank(PASSPHRASE), again: Type.String({ maxLength: 1000 }) }),
    action: 'backup',
    problems: ['backup_in_progress', 'invalid'],
    handle: async call => {
      const { passphrase, again } = call.body
      if (passphrase !== again) {
        const message = 'the two passphrases differ'
        throw new Problem('invalid', message, [{ pointer: '/again', message }])
      }
      return sendBackup(call.reply, await beginBackup({ backups }, call, passphrase || undefined))
    },
  }),
]
