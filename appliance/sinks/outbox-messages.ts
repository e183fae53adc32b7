/** The messages of an outbox: how readings and findings are cut into them, and what is left of the oldest when there is no room. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Protocol } from '#shared/core/model/model.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { FINDINGS_MAX } from '#shared/core/telemetry/findings.ts'
import { POINTS_MAX } from '#shared/core/telemetry/telemetry.ts'
import { thinReadings } from '../core/outbox/downsample.ts'
import { TELEMETRY_PROTOCOLS, type TelemetryProtocol } from '#shared/core/topic/topics.ts'

/** `thinned`: what was left of older messages; it is not thinned again. */
type Telemetry = { protocol: TelemetryProtocol; readings: Reading[]; thinned?: true }
export type Findings = { findings: Finding[]; withdrawn?: string[] }
export type Body = Telemetry | Findings
/** One message as the log keeps it. `at`: when it was written, ms since 1970 UTC. */
export type Kept = { at: number; message_id: string } & Body

/** JSON characters of one message's readings or findings: stays under the 256 KiB of the wire with its head. */
const CHARACTERS_MAX = 200 * 1024
/** JSON characters of a message besides its readings, and of its line in the log: a little more than they are. */
const HEAD = 300

/** @throws RangeError for a point of a protocol that is not polled */
export function telemetryOf(readings: Reading[], protocolOf: (point_id: string) => Protocol): Telemetry[] {
  const byProtocol = Map.groupBy(readings, ({ id }) => protocolOf(id))
  return [...byProtocol].flatMap(([protocol, some]) => {
    if (!TELEMETRY_PROTOCOLS.includes(protocol as TelemetryProtocol)) throw new RangeError(`${protocol} is not polled`)
    return chunks(some, POINTS_MAX).map(part => ({ protocol: protocol as TelemetryProtocol, readings: part }))
  })
}

/** @returns the findings of these ids as they are now; `withdrawn` are those that are none any more */
export type FindingsNow = (finding_ids: string[]) => { findings: Finding[]; withdrawn: string[] }

export const findingsOf = (findings: Finding[], withdrawn: string[]): Findings[] => [
  ...chunks(withdrawn, FINDINGS_MAX).map(part => ({ findings: [], withdrawn: part })),
  ...chunks(findings, FINDINGS_MAX).map(part => ({ findings: part })),
]

export type Rest = {
  /** What is left of the telemetry, oldest first. */
  keep: ({ at: number } & Telemetry)[]
  /** Findings that the messages were about. */
  finding_ids: string[]
  /** Sequences of the messages of which nothing is left. */
  dropped: Set<number>
  /** Sequences of those that were thinned now. */
  thinned: Set<number>
}

/**
 * What to keep of the oldest messages: of what is measured one value for each point and quarter of an hour, and what was thinned before
 * as long as there is room. What thinning does not make small enough goes whole.
 *
 * @param oldest in the order of the log
 * @param charactersMax of what is kept
 * @param tellsFindings whether findings are told anew, as they are now
 */
export function thinOldest(
  oldest: readonly { seq: number; record: Kept }[],
  charactersMax: number,
  tellsFindings: boolean,
): Rest {
  const dropped = new Set(oldest.flatMap(({ seq, record }) => ('findings' in record && !tellsFindings ? [seq] : [])))
  const telemetry = oldest.flatMap(({ seq, record }) => ('readings' in record ? [{ seq, record }] : []))
  const live = telemetry.filter(({ record }) => !record.thinned)
  const thinned = [...Map.groupBy(live, ({ record }) => record.protocol)].flatMap(([protocol, some]) => {
    const readings = thinReadings(some.flatMap(({ record }) => record.readings))
    return chunks(readings, POINTS_MAX).map(part => ({
      at: some[0]!.record.at,
      protocol,
      readings: part,
      thinned: true as const,
    }))
  })
  const fits = thinned.reduce((sum, body) => sum + sizeOf(body), 0) <= charactersMax
  if (!fits) for (const { seq } of live) dropped.add(seq)
  const fresh = fits ? thinned : []
  let room = charactersMax - fresh.reduce((sum, body) => sum + sizeOf(body), 0)
  const earlier = telemetry.filter(({ record }) => record.thinned).toReversed()
  const staying = earlier.filter(({ seq, record }) => {
    room -= sizeOf(record)
    if (room < 0) dropped.add(seq)
    return room >= 0
  })
  const keep = [...staying.toReversed().map(({ record: { message_id: _message_id, ...body } }) => body), ...fresh]
  return {
    keep,
    finding_ids: [...new Set(oldest.flatMap(({ record }) => idsOf(record)))],
    dropped,
    thinned: new Set(fits ? live.map(({ seq }) => seq) : []),
  }
}

const sizeOf = ({ readings }: Telemetry): number => HEAD + JSON.stringify(readings).length
const idsOf = (record: Kept): string[] =>
  'findings' in record ? [...record.findings.map(({ finding_id }) => finding_id), ...(record.withdrawn ?? [])] : []

/** Cuts a list into parts that fit a message. */
function chunks<T>(list: T[], countMax: number): T[][] {
  const parts: T[][] = []
  let room = 0
  for (const element of list) {
    const size = JSON.stringify(element).length
    if (parts.length === 0 || parts.at(-1)!.length === countMax || size > room) {
      parts.push([])
      room = CHARACTERS_MAX
    }
    parts.at(-1)!.push(element)
    room -= size
  }
  return parts
}
