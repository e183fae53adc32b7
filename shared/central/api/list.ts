import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000

/** Parameters of every list: the number of items, and the cursor. */
export const PAGE = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT })),
  cursor: Type.Optional(Type.String({ maxLength: 512 })),
}
type PageQuery = { limit?: number; cursor?: string }

export const limitOf = ({ limit = LIMIT_DEFAULT }: PageQuery): number => limit
/** Cursor of the next page of a list. */
export const encodeCursor = (id: string): string => Buffer.from(id).toString('base64url')

/** @returns the id after which the page begins. @throws Problem bad_cursor */
export function afterOf({ cursor }: PageQuery): string | undefined {
  if (cursor === undefined) return undefined
  const id = Buffer.from(cursor, 'base64url').toString()
  if (cursor === '' || encodeCursor(id) !== cursor) throw new Problem('bad_cursor', 'The cursor is not one that a list has given')
  return id
}

/**
 * The answer to a list that a store has cut already.
 *
 * @param found one more than requested shows that there is more
 */
export function pageOf<T>(found: T[], query: PageQuery, idOf: (item: T) => string): { items: T[]; next_cursor?: string } {
  const limit = limitOf(query)
  const items = found.slice(0, limit)
  return found.length > limit ? { items, next_cursor: encodeCursor(idOf(items.at(-1)!)) } : { items }
}

/** Cuts a whole list that is in memory, in its own order. @throws Problem bad_cursor */
export function cutPage<T>(all: T[], query: PageQuery, idOf: (item: T) => string): { items: T[]; next_cursor?: string } {
  const after = afterOf(query)
  const from = after === undefined ? 0 : all.findIndex(item => idOf(item) === after) + 1
  if (after !== undefined && from === 0)
    throw new Problem('bad_cursor', 'The record of the cursor no longer exists: read the list from its beginning')
  return pageOf(all.slice(from, from + limitOf(query) + 1), query, idOf)
}
