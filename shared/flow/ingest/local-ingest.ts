/** The way into a central without a broker: one message, one answer; the marks are those of the topics (contract §10). */
import { errorText } from '#shared/core/error-text.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import type { Decoded } from '#shared/core/telemetry/body.ts'
import { type Received, receiveBody } from '#shared/core/telemetry/message.ts'
import { readMetadata } from '#shared/core/telemetry/metadata.ts'
import type { Notice } from '#shared/core/telemetry/notice.ts'
import { choice, decodeWith, fields, id } from '#shared/core/telemetry/read.ts'
import type { Refused } from '#shared/core/telemetry/telemetry.ts'
import { TELEMETRY_PROTOCOLS } from '#shared/core/topic/topics.ts'
import { CLOCK_NOT_SET, type Ingest, lacking, readSession } from './ingest.ts'

/** What became of a message. `gap`: nothing was stored, because messages before it are missing. */
type LocalAnswer = {
  status: 'stored' | 'duplicate' | 'rejected' | 'gap'
  through_seq: number
  through_id?: string
  rejected: Refused[]
}

/** @param site_id the site of this central: others have no business here */
export function localIngest(flow: Ingest, { model, site_id: own }: { model: ModelStore; site_id: string }) {
  const strangersOf = strangerFinder(model)

  const edgeOf = (body: Record<string, unknown>) => {
    const edge = readOrRefuse(() => {
      const from = fields(body, '')
      return { site_id: id(from, 'site_id'), edge_id: id(from, 'edge_id') }
    })
    if (edge.site_id !== own) {
      flow.reject({ ...edge, kind: 'telemetry' }, `it is of site ${edge.site_id}`)
      throw new Problem('invalid', `site_id is ${edge.site_id}; this central is of site ${own}`)
    }
    return edge
  }

  return {
    /**
     * Takes one telemetry message. Readings that cannot be used are named; the rest is stored.
     *
     * @throws Problem bad_request when not even its place can be read, invalid for another site, unknown_edge before the
     * edge's metadata has come, not_ready when the store cannot take it
     */
    takeTelemetry(body: Record<string, unknown>): LocalAnswer {
      const edge = edgeOf(body)
      const protocol = readOrRefuse(() => choice(fields(body, ''), 'protocol', TELEMETRY_PROTOCOLS))
      const topic = { ...edge, kind: 'telemetry' as const, protocol }
      const whole = receiveBody(topic, body)
      const said = whole.state === 'good' ? whole.building_id : undefined
      const building_id = flow.book.buildingOf(topic, said)
      if (building_id === undefined) {
        flow.wait(topic, lacking(said))
        const who = said === undefined ? edgeName(edge) : `${edgeName(edge)} in building ${said}`
        throw new Problem('unknown_edge', `${who} is not known: POST /api/ingest/local/metadata comes first`)
      }
      if (!flow.isClockSet()) {
        flow.wait(topic, CLOCK_NOT_SET)
        throw new Problem('not_ready', `Not stored: ${CLOCK_NOT_SET}`)
      }
      const received = withoutStrangers(whole, building_id, strangersOf)
      if (received.state === 'unreadable') {
        flow.reject(topic, received.reason)
        throw new Problem('bad_request', received.reason)
      }
      const { status, mark, reason, refused } = store(flow, topic, () => flow.accept(topic, building_id, received))
      const rejected = reason === undefined || refused.length > 0 ? refused : [{ pointer: '', reason }]
      return { status: reason !== undefined && status === 'stored' ? 'rejected' : status, ...mark, rejected }
    },
    /** Takes what an edge says of itself. @throws Problem bad_request or invalid, in words */
    takeMetadata(body: Record<string, unknown>): { revision: number } {
      const topic = { ...edgeOf(body), kind: 'metadata' as const }
      const metadata = orRefuse(readMetadata(body))
      const reason = store(flow, topic, () => flow.book.enter(topic, metadata, 'local'))
      if (reason !== undefined) {
        store(flow, topic, () => flow.refuse(topic, reason))
        throw new Problem('invalid', reason)
      }
      return { revision: metadata.revision }
    },
    /**
     * Takes an edge's status. @returns the revision of its metadata that is held, or null; `boot_ids` where more than one
     * process speaks as this edge; `notices`: what it must know of its standing. @throws Problem bad_request
     */
    takeStatus(body: Record<string, unknown>): { metadata_revision: number | null; boot_ids?: string[]; notices?: Notice[] } {
      const topic = { ...edgeOf(body), kind: 'status' as const }
      const { session, fault } = orRefuse(readSession(body))
      if (fault !== undefined) throw new Problem('bad_request', fault)
      store(flow, topic, () => flow.session(topic, session, 'local'))
      const boot_ids = flow.book.sharers(topic)?.boot_ids
      const notices = flow.book.standing.noticesOf(topic)
      const told = notices.length > 0 && { notices }
      return { metadata_revision: flow.book.revisionOf(topic), ...(boot_ids && { boot_ids }), ...told }
    },
  }
}

function orRefuse<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Problem('bad_request', decoded.reason, [{ message: decoded.reason }])
  return decoded.value
}
const readOrRefuse = <T>(read: () => T): T => orRefuse(decodeWith(read))

/** What the disk or the database refuses is the central's trouble, and comes again. */
function store<T>(flow: Ingest, topic: Parameters<Ingest['fail']>[0], write: () => T): T {
  try {
    return write()
  } catch (error) {
    flow.fail(topic, error)
    throw new Problem('not_ready', `It could not be stored: ${errorText(error)}`)
  }
}

/** A reading of a point that the building does not have is refused by name: nothing here says what its value would mean. */
function withoutStrangers(received: Received, building_id: string, strangersOf: StrangerFinder): Received {
  if (received.state !== 'good') return received
  const strangers = strangersOf(building_id, new Set(received.readings.map(reading => reading.id)))
  const readings = received.readings.filter(reading => !strangers.has(reading.id))
  const named = [...strangers].map(point_id => ({
    pointer: `points[id=${point_id}]`,
    reason: `${point_id} is not a point of ${building_id}`,
  }))
  return { ...received, readings, refused: [...received.refused, ...named] }
}

type StrangerFinder = (building_id: string, point_ids: Set<string>) => Set<string>

/** Points are never taken out of the model, so what was known once need not be looked up again. */
function strangerFinder(model: ModelStore): StrangerFinder {
  const known = new Map<string, Set<string>>()
  return (building_id, point_ids) => {
    const beyond = (points: Set<string>) => new Set([...point_ids].filter(point_id => !points.has(point_id)))
    const unknown = beyond(known.get(building_id) ?? new Set())
    if (unknown.size === 0) return unknown
    const points = new Set(model.points(building_id).map(({ point_id }) => point_id))
    known.set(building_id, points)
    return beyond(points)
  }
}
