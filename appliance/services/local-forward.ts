/** The way to the central on this box: one message at a time over HTTP, each answered when it is stored (contract §10). */
import type { Logger } from 'pino'
import type { Clock } from '#shared/core/ports.ts'
import { decodeWith, fields, optional } from '#shared/core/telemetry/read.ts'
import { type HeardNotice, readNotices } from '#shared/core/telemetry/notice.ts'
import { readBootIds } from '#shared/core/telemetry/status.ts'
import { writeMetadata } from '#shared/core/telemetry/metadata.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Outbox } from '../sinks/outbox.ts'
import type { Outgoing } from '../sinks/outbox-reader.ts'
import { type EdgeSelf, statusBody } from './edge-self.ts'
import { conflictOf, type Forwarding, stateOf, warned } from './forward-state.ts'
import { type LocalAnswer, localClient, readAnswer } from './local-client.ts'
import { noticeBoard } from './notice-board.ts'
import { sender } from './sender.ts'

export type LocalForwardOptions = {
  outbox: Outbox
  /** Address of central, and the token that it takes. */
  central: { url: string; token: string }
  self: EdgeSelf
  clock: Clock
  log: Logger
}

/** How often status goes out; central takes an edge for gone after 90 s. */
const STATUS_MS = 20 * SECOND
/** How long after a failure the next attempt is made. */
const RETRY_MS = { first: SECOND, longest: 30 * SECOND }

/** Runs until stopped; central may be away for as long as the outbox has room. */
export function localForwardService(options: LocalForwardOptions): Forwarding {
  const { outbox, self, clock, log } = options
  const { site_id, edge_id } = self
  const ending = new AbortController()
  const post = localClient(options.central, ending.signal)
  let isUp = false
  let reason: string | undefined
  let conflict: string | undefined
  const board = noticeBoard(clock, log)
  let retryMs = RETRY_MS.first
  let timer: NodeJS.Timeout | undefined
  let posting: Promise<unknown> = Promise.resolve()
  let stopped = false
  /** What central knows of the model. */
  let told: { revision: unknown; points: Set<string> } = { revision: undefined, points: new Set() }

  /** One after the other: central takes messages in their order, and a window of them would overtake each other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = posting.then(work)
    posting = turn.catch(() => undefined)
    return turn
  }

  const fall = (error: Error) => {
    if (stopped) return
    if (reason !== error.message) log.warn(`central is not reached: ${error.message}`)
    reason = error.message
    isUp = false
    sending.down()
    clearTimeout(timer)
    timer = setTimeout(() => void hello(), retryMs)
    retryMs = Math.min(retryMs * 2, RETRY_MS.longest)
  }

  const sending = sender({
    reader: outbox.reader('central'),
    edge: { site_id, edge_id },
    building: () => self.model().building.building_id,
    clock,
    log,
    publish: (_topic, body, outgoing) =>
      inTurn(async () => {
        if (!isUp) throw new Error('central is not reached')
        try {
          if (!isToldOf(outgoing)) await introduce()
          const answer = readAnswer(await post('/api/ingest/local', body))
          await sending.acknowledged(ackOf(answer, outgoing))
        } catch (error) {
          fall(error as Error)
          throw error
        }
      }),
  })

  /** Tells central of points that came since it was told: it refuses readings of points that it does not know. */
  const introduce = async () => {
    const metadata = writeMetadata(site_id, edge_id, self.model())
    if (metadata.revision !== told.revision) await post('/api/ingest/local/metadata', metadata)
    told = { revision: metadata.revision, points: new Set(self.model().points.map(({ point_id }) => point_id)) }
  }
  const isToldOf = ({ message }: Outgoing) => !('readings' in message) || message.readings.every(({ id }) => told.points.has(id))

  /** Central must know the edge before it can place what the edge measured. */
  const hello = async () => {
    try {
      await inTurn(async () => {
        const status = { site_id, edge_id, ...statusBody(self, { online: true, outbox, sending, cert_not_after: null }) }
        const answer = await post('/api/ingest/local/status', status)
        const { metadata_revision } = answer
        board.hear(noticesOf(answer))
        conflict = warned(conflict, conflictOf(self, bootIdsOf(answer)), log)
        told.revision = metadata_revision
        await introduce()
        if (metadata_revision === null) await post('/api/ingest/local/status', status)
      })
    } catch (error) {
      return fall(error as Error)
    }
    if (stopped) return
    if (!isUp) log.info({ url: options.central.url }, 'central takes what is read')
    clearTimeout(timer)
    timer = setTimeout(() => void hello(), STATUS_MS)
    if (isUp) return
    isUp = true
    reason = undefined
    retryMs = RETRY_MS.first
    sending.up()
  }

  return {
    name: 'local forward',
    start: async () => void hello(),
    async stop() {
      if (stopped) return
      stopped = true
      clearTimeout(timer)
      sending.down()
      const wasUp = isUp
      isUp = false
      const goodbye = { site_id, edge_id, ...statusBody(self, { online: false, outbox, sending, cert_not_after: null }) }
      if (wasUp) await inTurn(() => post('/api/ingest/local/status', goodbye)).catch(() => undefined)
      ending.abort()
      await posting
    },
    announce: () => {
      // Where central is away, the next attempt says what is so by then.
      if (!stopped && reason === undefined) void hello()
    },
    forwardState: () => stateOf(sending, { isUp, reason, conflict, notices: board.current(), cert_not_after: null }),
  }
}

function bootIdsOf(answer: Record<string, unknown>): string[] | undefined {
  const read = decodeWith(() => optional(fields(answer, ''), 'boot_ids', readBootIds))
  return read.ok ? read.value.boot_ids : undefined
}

function noticesOf(answer: Record<string, unknown>): HeardNotice[] {
  const read = answer['notices'] === undefined ? undefined : readNotices(answer)
  return read?.ok ? read.value : []
}

function ackOf({ status, through_seq, through_id, rejected }: LocalAnswer, { stream, seq }: { stream: string; seq: number }) {
  const [first, ...more] = rejected
  const reason = first && `${first.pointer} ${first.reason}${more.length > 0 ? `, and ${more.length} more` : ''}`.trim()
  return {
    stream,
    through_seq,
    ...(through_id !== undefined && { through_id }),
    ...(reason !== undefined && status !== 'gap' && { rejected: [{ seq, reason }] }),
  }
}
