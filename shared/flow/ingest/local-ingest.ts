/** Ingest without a broker: HTTP requests of protocol processes on the same box (contract §10). One message, one answer. */
import { errorText } from '#shared/core/error-text.ts'
import { type EdgeKey, edgeName } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Decoded } from '#shared/core/telemetry/body.ts'
import { receiveBody } from '#shared/core/telemetry/message.ts'
import { readMetadata } from '#shared/core/telemetry/metadata.ts'
import type { Notice } from '#shared/core/telemetry/notice.ts'
import { choice, decodeWith, fields, id, type Refused } from '#shared/core/telemetry/read.ts'
import { TELEMETRY_PROTOCOLS } from '#shared/core/topic/topics.ts'
import { type Ingest, readSession } from './ingest.ts'

/** `gap`: nothing was stored, because messages before it are missing. */
type LocalAnswer = {
  status: 'stored' | 'duplicate' | 'rejected' | 'gap'
  through_seq: number
  through_id?: string
  rejected: Refused[]
}

export class LocalIngest {
  readonly #ingest: Ingest
  readonly #site_id: string

  /** @param site_id site of this central: messages of other sites are refused */
  constructor(ingest: Ingest, site_id: string) {
    this.#ingest = ingest
    this.#site_id = site_id
  }

  /**
   * Stores one telemetry message. Readings that cannot be used are named in the answer; the others are stored.
   *
   * @throws Problem bad_request when its stream and sequence number cannot be read, invalid for another site, unknown_edge before
   * the metadata of the edge has arrived, conflict while two processes share the edge id, not_ready when the store cannot take it,
   * tenant_over_budget
   */
  storeTelemetry(body: Record<string, unknown>): LocalAnswer {
    const edge = this.#edgeOf(body)
    const protocol = readOrThrow(() => choice(fields(body, ''), 'protocol', TELEMETRY_PROTOCOLS))
    const topic = { ...edge, kind: 'telemetry' as const, protocol }
    const received = receiveBody(topic, body)
    const result = this.#write(edge, () => this.#ingest.storeMessage(topic, received, 'local'))
    if (result.state === 'unreadable') throw new Problem('bad_request', result.reason)
    if (result.state === 'waiting') {
      if (result.for === 'budget') throw new Problem('tenant_over_budget', `Not stored: ${result.reason}`)
      if (result.for === 'identity') throw new Problem('conflict', `Not stored: ${result.reason}`)
      if (result.for === 'clock') throw new Problem('not_ready', `Not stored: ${result.reason}`)
      const building =
        received.state === 'good' && received.building_id !== undefined ? ` in building ${received.building_id}` : ''
      const detail = `${edgeName(edge)}${building} is not known: POST /api/ingest/local/metadata comes first`
      throw new Problem('unknown_edge', detail)
    }
    const { status, mark, reason, refused } = result
    const rejected = reason === undefined || refused.length > 0 ? refused : [{ pointer: '', reason }]
    return { status: reason !== undefined && status === 'stored' ? 'rejected' : status, ...mark, rejected }
  }

  /** Stores the metadata of an edge. @throws Problem bad_request or invalid, with the reason */
  applyMetadata(body: Record<string, unknown>): { revision: number } {
    const edge = this.#edgeOf(body)
    const metadata = valueOrThrow(readMetadata(body))
    const reason = this.#write(edge, () => this.#ingest.applyMetadata(edge, metadata, 'local'))
    if (reason !== undefined) throw new Problem('invalid', reason)
    return { revision: metadata.revision }
  }

  /**
   * Records the status of an edge.
   *
   * @returns the revision of its stored metadata, or null; `notices` about refused metadata and building takeovers
   * @throws Problem bad_request
   */
  applyStatus(body: Record<string, unknown>): { metadata_revision: number | null; notices?: Notice[] } {
    const edge = this.#edgeOf(body)
    const { session, fault } = valueOrThrow(readSession(body))
    if (fault !== undefined) throw new Problem('bad_request', fault)
    this.#write(edge, () => this.#ingest.applySession(edge, session, 'local'))
    const { registry } = this.#ingest
    const notices = registry.notices.noticesOf(edge)
    return {
      metadata_revision: registry.revisionOf(edge),
      ...(notices.length > 0 && { notices }),
    }
  }

  #edgeOf(body: Record<string, unknown>): EdgeKey {
    const edge = readOrThrow(() => {
      const from = fields(body, '')
      return { site_id: id(from, 'site_id'), edge_id: id(from, 'edge_id') }
    })
    if (edge.site_id === this.#site_id) return edge
    this.#ingest.monitor.recordRejection(edge, `it is of site ${edge.site_id}`)
    throw new Problem('invalid', `site_id is ${edge.site_id}; this central is of site ${this.#site_id}`)
  }

  /** An error of the disk or the database is this machine's: the answer asks the sender to repeat the message. */
  #write<T>(edge: EdgeKey, write: () => T): T {
    try {
      return write()
    } catch (error) {
      this.#ingest.monitor.recordFailure(edge, error)
      throw new Problem('not_ready', `It could not be stored: ${errorText(error)}`)
    }
  }
}

function valueOrThrow<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Problem('bad_request', decoded.reason, [{ message: decoded.reason }])
  return decoded.value
}
const readOrThrow = <T>(read: () => T): T => valueOrThrow(decodeWith(read))
