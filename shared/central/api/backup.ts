import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { formatInstant } from '#shared/core/time.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import type { BackupStream } from '#shared/central/backup/backups.ts'
import { beginBackup, PASSPHRASE } from '#shared/central/commands/backup.ts'
import { answerOf, INSTANT_TEXT } from './schemas/record-schemas.ts'
import type { CentralParts } from '#shared/central/context.ts'

type Context = Pick<CentralParts, 'backups'>

export const backupRoutes = (context: Context): Route[] => [createRoute(context), listRoute(context)]

const createRoute = (context: Context) =>
  route({
    method: 'POST',
    path: '/api/backup',
    auth: 'admin',
    summary: 'A backup of database, history, settings and rules as an encrypted file',
    answers: ['application/octet-stream'],
    body: strict({ passphrase: Type.Optional(PASSPHRASE) }),
    action: 'backup',
    problems: ['backup_in_progress', 'invalid'],
    handle: async call => sendBackup(call.reply, await beginBackup(context, call, call.body.passphrase)),
  })

/** Sends the file as a download. */
export const sendBackup = (reply: FastifyReply, { filename, stream }: BackupStream) =>
  reply
    .type('application/octet-stream')
    .header('content-disposition', `attachment; filename="${filename}"`)
    .send(Readable.from(stream, { objectMode: false }))

const listRoute = ({ backups }: Context) =>
  route({
    method: 'GET',
    path: '/api/backups',
    auth: 'admin',
    summary: 'The schedule of backups, and those that are stored, newest first',
    reply: answerOf({
      scheduled: Type.Boolean(),
      ...{ folder: Type.Optional(Type.String()), every_hours: Type.Optional(Type.Number()), keep: Type.Optional(Type.Integer()) },
      backups: Type.Array(Type.Object({ filename: Type.String(), bytes: Type.Integer(), created_at: INSTANT_TEXT })),
    }),
    handle: async () => ({
      ok: true,
      scheduled: backups.schedule !== undefined,
      ...(backups.schedule && {
        folder: backups.schedule.folder,
        every_hours: backups.schedule.everyHours,
        keep: backups.schedule.keep,
      }),
      backups: (await backups.stored()).map(({ created_at, ...one }) => ({ ...one, created_at: formatInstant(created_at) })),
    }),
  })
