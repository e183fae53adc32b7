/** Sends an update to one box, piece by piece, over the connection that it has to this hub. */
import { open } from 'node:fs/promises'
import type { Bundle } from '#shared/core/update/rollout.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord, EdgeStore } from '#shared/core/stores.ts'
import { PIECE_MAX, SYSTEM_UPDATE, type UpdateAnswer, type UpdateRequest } from '#shared/core/update/update-wire.ts'
import { checkReply, type EdgeReply } from '../connectors/edge-client.ts'

/** @returns asks a box one request over the broker */
export const askForUpdate =
  (edges: Pick<EdgeStore, 'get'>, askBroker: (edge: EdgeRecord, operation: string, request: object) => Promise<EdgeReply>) =>
  async ({ site_id, edge_id }: { site_id: string; edge_id: string }, request: UpdateRequest): Promise<UpdateAnswer> => {
    const edge = edges.get(site_id, edge_id)
    if (!edge) throw new Problem('unknown_edge', `${edge_id} of site ${site_id} is gone`)
    return checkReply(edge_id, SYSTEM_UPDATE, await askBroker(edge, 'system_update', request))
  }

/** Answers in a row that bring nothing forward: another process sends to the same box, or its disk loses what it is given. */
const STANDSTILL_MAX = 5

/**
 * Goes on where the box has an end of the file. The box takes and checks the whole when the last piece has come.
 *
 * @param path of the bundle
 * @param ask the box one request
 * @throws Problem of the box or of the way to it, Error when it does not get further, and when `signal` is aborted
 */
export async function sendUpdate(
  path: string,
  { sha256, bytes }: Pick<Bundle, 'sha256' | 'bytes'>,
  ask: (request: UpdateRequest) => Promise<UpdateAnswer>,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(path, 'r')
  let { received } = await ask({ sha256, bytes })
  let furthest = received
  for (let standstill = 0; received < bytes; ) {
    signal.throwIfAborted()
    const piece = Buffer.alloc(Math.min(PIECE_MAX, bytes - received))
    await file.read(piece, 0, piece.length, received)
    const answer = await ask({ sha256, bytes, offset: received, piece: piece.toString('base64') })
    received = answer.received
    standstill = received > furthest ? 0 : standstill + 1
    furthest = Math.max(furthest, received)
    if (standstill >= STANDSTILL_MAX) throw new Error(`the box has ${received} of ${bytes} bytes and gets no further`)
  }
}
