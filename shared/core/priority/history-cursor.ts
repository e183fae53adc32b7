/** Cursors of the priority history: a signed position in the sequence. They stay valid while records are added. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PriorityTarget } from './priority-record.ts'

/** The request that a cursor belongs to. With another edge, tenant or filter it is refused. */
export type CursorScope = {
  edge_id: string
  tenant_id: string
  target?: PriorityTarget | undefined
  /** ms since 1970 UTC */
  since?: number | undefined
}

/** Longest cursor that is accepted: a sequence, a dot and the signature. */
export const CURSOR_MAX = 64
const CURSOR = /^([1-9]\d{0,15})\.([A-Za-z0-9_-]{43})$/

/**
 * @param before the next page has records with a lower sequence than this
 * @param key secret of the edge, at least 32 bytes
 */
export const writeCursor = (before: number, scope: CursorScope, key: Uint8Array): string =>
  `${before}.${sign(before, scope, key).toString('base64url')}`

/** @returns the sequence before which the next page begins; undefined when the cursor was altered or has another scope */
export function readCursor(cursor: string, scope: CursorScope, key: Uint8Array): number | undefined {
  const [, digits, signature] = CURSOR.exec(cursor) ?? []
  if (digits === undefined || signature === undefined) return undefined
  const before = Number(digits)
  const wanted = sign(before, scope, key)
  const given = Buffer.from(signature, 'base64url')
  // The last of the 43 characters has two unused bits, so only the canonical text of a signature is accepted.
  const isOurs = given.length === wanted.length && timingSafeEqual(given, wanted) && given.toString('base64url') === signature
  return isOurs && Number.isSafeInteger(before) ? before : undefined
}

function sign(before: number, { edge_id, tenant_id, target, since }: CursorScope, key: Uint8Array): Buffer {
  const place = target && [
    target.device_instance,
    target.object_type,
    target.object_instance,
    ...(target.device_id === undefined ? [] : [target.device_id]),
  ]
  const text = JSON.stringify(['priority-history 1', edge_id, tenant_id, place ?? null, since ?? null, before])
  return createHmac('sha256', key).update(text).digest()
}
