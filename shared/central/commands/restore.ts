/** The commands that restore a backup, which the pages and the API both call. */
import type { FastifyRequest } from 'fastify'
import { Problem } from '#shared/core/problem.ts'
import type { RestoreState } from '#shared/node/backup/staged-restore.ts'
import type { Call } from '#shared/node/http/route.ts'
import { readFileForm } from '#shared/node/http/upload.ts'
import type { Restores } from '#shared/central/backup/restores.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { Actor } from './command.ts'

/** A hub's backup holds all of its history; a longer upload would not end. */
export const RESTORE_MAX = 64 * 1024 ** 3
const FIELD_BYTES = 8192

type Context = Pick<CentralParts, 'restores'>

/** @throws Problem conflict where a workspace is restored by the command alone: on a hub with tenants or of a cluster */
function needRestores({ restores }: Context): Restores {
  if (restores) return restores
  throw new Problem('conflict', 'This workspace is restored on its machine, with provisioning/main.ts restore')
}

/**
 * Reads a form with `passphrase` before the file, and stages the backup.
 *
 * @param check of the fields before the file, which a page does; throws what the caller is told
 * @throws Problem bad_request, and what `Restores.stage` throws
 */
export async function stageRestore(
  context: Context,
  { audit }: Pick<Actor, 'audit'>,
  request: FastifyRequest,
  check?: (fields: ReadonlyMap<string, string>) => void,
): Promise<RestoreState> {
  const restores = needRestores(context)
  const bytes = Number(request.headers['content-length'] ?? 0)
  const form = { fields: ['csrf', 'passphrase'], fieldBytes: FIELD_BYTES, fileBytes: RESTORE_MAX, check }
  const state = await readFileForm(request, {
    ...form,
    take: (write, fields) => restores.stage(write, { bytes, passphrase: fields.get('passphrase') ?? '' }),
  })
  audit({ subject: state.about.site_id, after: state.about })
  return state
}

/**
 * The next start of the program puts the backup in place. It is restarted once the answer has gone, where it is started again by itself.
 *
 * @throws Problem conflict when none is staged
 */
export async function confirmRestore(
  context: Context & Pick<CentralParts, 'restart'>,
  { audit, caller, reply }: Actor & Pick<Call<unknown, unknown, unknown>, 'reply'>,
): Promise<RestoreState> {
  const state = await needRestores(context).confirm(caller?.subject ?? 'nobody')
  audit({ subject: state.about.site_id, before: needRestores(context).present(), after: state.holds })
  if (context.restart) reply.raw.once('finish', context.restart)
  return state
}

/** @throws Problem conflict when nothing was uploaded */
export async function discardRestore(context: Context, { audit }: Pick<Actor, 'audit'>): Promise<void> {
  const { about, phase } = await needRestores(context).discard()
  audit({ subject: about.site_id, before: { ...about, phase } })
}
