/**
 * Names and limits that the commands share. A command does what one form of a page and one route of the API ask for: it
 * checks what its schema cannot, changes the store and writes the audit row. So page and API cannot disagree.
 */
import { Problem } from '#shared/core/problem.ts'
import type { Call } from '#shared/node/http/route.ts'

/** The caller of a command, and its audit row; the call of a route is one. */
export type Actor = Pick<Call<unknown, unknown, unknown>, 'caller' | 'audit'>

/** Longest note or reason that a person writes, characters. */
export const NOTE_MAX = 4000

/** How an audit row names the records of one request. */
export const subjectOf = ([first, ...more]: string[]): string => (more.length ? `${first} and ${more.length} more` : first!)

/**
 * Users and tokens are made by people: a token that was stolen could otherwise give itself successors.
 *
 * @param what the records that are changed
 * @throws Problem forbidden for an API token
 */
export function assertPerson({ caller }: Pick<Actor, 'caller'>, what = 'users and tokens'): void {
  if (caller?.limits) throw new Problem('forbidden', `${caller.subject} is a token; ${what} are changed by people`)
}

/** A field that its schema takes and the domain refuses. */
export const invalidField = (field: string, message: string): Problem =>
  new Problem('invalid', message, [{ pointer: `/${field}`, message }])
