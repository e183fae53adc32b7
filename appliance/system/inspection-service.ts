/** Answers a hub about the process of this box, over HTTP and over MQTT, with what its own pages Log and System show. */
import { createHash, randomUUID } from 'node:crypto'
import type { CentralContext } from '#shared/central/context.ts'
import { setLogLevel } from '#shared/central/commands/log-level.ts'
import { diagnosticsFile } from '#shared/central/diagnostics.ts'
import { levelOf, readLog } from '#shared/central/inspection.ts'
import {
  DIAGNOSTICS_MAX,
  DIAGNOSTICS_PIECE_MAX,
  type DiagnosticsAnswer,
  type DiagnosticsRequest,
  INSPECTION_OPERATIONS,
} from '#shared/core/connector/inspection-wire.ts'
import type { AnswerOf, InspectionOperation, RequestOf } from '#shared/core/connector/edge-operations.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeOperations } from '../services/responder.ts'

/** Files that are retained while their pieces are fetched: two people may ask at the same time. */
const FILES_MAX = 2

export type InspectionService = {
  /** @throws Problem conflict for a piece of a file that is gone */
  ask<O extends InspectionOperation>(operation: O, request: RequestOf<O>): Promise<AnswerOf<O>>
}

/**
 * @param context of the process, once it is open; nothing is asked before
 * @param now ms since 1970 UTC, for the audit
 */
export function inspectionService(context: () => CentralContext, now: () => number): InspectionService {
  const nextPiece = pieces(context)
  const answers: { [O in InspectionOperation]: (request: RequestOf<O>) => Promise<AnswerOf<O>> } = {
    log: async request => readLog(context().inspection, request),
    log_level: async ({ level }) => {
      const { inspection, audit } = context()
      setLogLevel(
        context(),
        {
          audit: ({ subject, before, after }) =>
            audit.add({
              ...{ at: now(), actor: 'hub', role: 'edge', action: 'set_log_level', subject, building_id: null },
              ...{ before, after, request_id: randomUUID() },
            }),
        },
        level,
      )
      return { ok: true, level: levelOf(inspection) }
    },
    diagnostics: nextPiece,
  }
  return { ask: (operation, request) => answers[operation](request) }
}

/** The operations of this service, for a hub that asks over MQTT. */
export const inspectionOperations = ({ ask }: InspectionService): EdgeOperations =>
  Object.fromEntries(
    Object.entries(INSPECTION_OPERATIONS).map(([name, { request, status }]) => [
      name,
      { request, status, answer: asked => ask(name as InspectionOperation, asked) },
    ]),
  )

/** A file of diagnostics has more bytes than a message may have, so it is made once and sent in pieces. */
function pieces(context: () => CentralContext) {
  const files = new Map<string, { bytes: Buffer; sha256: string }>()
  return async ({ file }: DiagnosticsRequest): Promise<DiagnosticsAnswer> => {
    const file_id = file?.file_id ?? randomUUID()
    if (!file) {
      const bytes = await diagnosticsFile(context())
      if (bytes.length > DIAGNOSTICS_MAX)
        throw new Problem('too_large', `The file of diagnostics has ${bytes.length} bytes; at most ${DIAGNOSTICS_MAX} are sent`)
      const oldest = files.keys().next()
      if (files.size >= FILES_MAX && !oldest.done) files.delete(oldest.value)
      files.set(file_id, { bytes, sha256: createHash('sha256').update(bytes).digest('hex') })
    }
    const known = files.get(file_id)
    const offset = file?.offset ?? 0
    if (!known || offset >= known.bytes.length)
      throw new Problem('conflict', `No piece of a file ${file_id} begins at ${offset}; ask for a new file`)
    const { bytes, sha256 } = known
    const piece = bytes.subarray(offset, offset + DIAGNOSTICS_PIECE_MAX)
    if (offset + piece.length === bytes.length) files.delete(file_id)
    return { ok: true, file_id, bytes: bytes.length, sha256, piece: piece.toString('base64') }
  }
}
