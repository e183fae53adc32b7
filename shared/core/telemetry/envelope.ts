/** The fields that telemetry and findings messages share: the sender and the place in the stream. */
import { formatInstant } from '../time.ts'
import { choice, type Fields, id, instant, integer, optional, uuid } from './read.ts'

export type Envelope = {
  message_id: string
  /** UUID of the outbox; it lasts as long as the outbox does. */
  stream: string
  /** Place in the stream, gapless from 1. */
  seq: number
  /** ms since 1970 UTC */
  sent_at: number
  site_id: string
  edge_id: string
  /** Whose points and equipment it is about; older edges do not say. */
  building_id?: string
}

export const writeEnvelope = <S extends string>(
  schema: S,
  { message_id, stream, seq, sent_at, site_id, edge_id, building_id }: Envelope,
) => ({
  schema,
  message_id,
  stream,
  seq,
  sent_at: formatInstant(sent_at),
  site_id,
  edge_id,
  ...(building_id !== undefined && { building_id }),
})

export function readEnvelope(from: Fields, schema: string): Envelope {
  choice(from, 'schema', [schema])
  return {
    message_id: uuid(from, 'message_id'),
    stream: uuid(from, 'stream'),
    seq: integer(from, 'seq', 1),
    sent_at: instant(from, 'sent_at'),
    site_id: id(from, 'site_id'),
    edge_id: id(from, 'edge_id'),
    ...optional(from, 'building_id', id),
  }
}
