import { SYSTEM_UPDATE, type UpdateAnswer, type UpdateRequest } from '#shared/core/update/update-wire.ts'
import type { EdgeOperations } from '../services/responder.ts'
import type { Updates } from './updates.ts'

/**
 * What a hub asks to bring an update. The box itself decides whether it is genuine.
 *
 * @param version the one that runs
 */
export const updateOperations = ({ receivePiece }: Pick<Updates, 'receivePiece'>, version: string): EdgeOperations => ({
  system_update: {
    ...SYSTEM_UPDATE,
    answer: async (request: UpdateRequest): Promise<UpdateAnswer> => ({
      ok: true,
      version,
      received: await receivePiece(request),
    }),
  },
})
