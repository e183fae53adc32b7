/** What an admin of a hub asks of the process of an edge; API and pages both call these. */
import { createHash } from 'node:crypto'
import { DIAGNOSTICS_PIECE_MAX, type LogLevelAnswer, type LogLevelRequest } from '#shared/core/connector/inspection-wire.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeChoice } from '#shared/core/telemetry/find-edge.ts'
import type { AuditNote } from '#shared/node/http/route.ts'
import type { EdgeConnectors } from './connectors.ts'

type Audit = (note: AuditNote) => void

/**
 * Has an edge make a file of diagnostics and reads it piece by piece.
 *
 * @returns a ZIP archive
 * @throws Problem as `EdgeConnectors.ask` does, edge_failed where the pieces are not those of the announced file
 */
export async function readDiagnostics({ ask, nameOf }: EdgeConnectors, edge: EdgeChoice, audit: Audit): Promise<Buffer> {
  const first = await ask(edge, 'diagnostics', {})
  const { file_id, bytes, sha256 } = first
  const pieces = [Buffer.from(first.piece, 'base64')]
  let received = 0
  for (;;) {
    const piece = pieces.at(-1)!
    // Each piece but the last is full, which bounds the number of requests.
    if (piece.length !== Math.min(DIAGNOSTICS_PIECE_MAX, bytes - received))
      throw new Problem('edge_failed', `${edge.edge_id} sent a piece of ${piece.length} bytes at ${received} of ${bytes}`)
    received += piece.length
    if (received === bytes) break
    const next = await ask(edge, 'diagnostics', { file: { file_id, offset: received } })
    pieces.push(Buffer.from(next.piece, 'base64'))
  }
  const file = Buffer.concat(pieces)
  if (createHash('sha256').update(file).digest('hex') !== sha256)
    throw new Problem('edge_failed', `The file of diagnostics of ${edge.edge_id} does not have its checksum`)
  audit({ subject: nameOf(edge), after: { bytes, sha256 } })
  return file
}

/** Changes how much an edge logs, until it starts again. @throws Problem as `EdgeConnectors.ask` does */
export async function setEdgeLogLevel(
  { ask, nameOf }: EdgeConnectors,
  edge: EdgeChoice,
  request: LogLevelRequest,
  audit: Audit,
): Promise<LogLevelAnswer> {
  const answer = await ask(edge, 'log_level', request)
  audit({ subject: nameOf(edge), after: { level: answer.level } })
  return answer
}

/** @returns the header under which a browser stores the file */
export const diagnosticsName = ({ edge_id }: EdgeChoice): string => `attachment; filename="plenum-${edge_id}-diagnostics.zip"`
