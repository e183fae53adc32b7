import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { UserRole } from '#shared/core/auth/users.ts'
import type { AgentHint, Problem, ProblemCode } from '#shared/core/problem.ts'

/** What a route asks of its caller. `edge` is the role of an appliance's own token and stands apart from the others. */
type Need = 'public' | UserRole | 'edge'
export type Caller = {
  subject: string
  role: UserRole | 'edge'
  /** `open` when no login is configured (loopback only). */
  via: 'bearer' | 'cookie' | 'open'
  /** Names the session; form tokens are bound to it. */
  session: string
  /** Of the token, ms since 1970 UTC; undefined where none was shown. */
  expires_at?: number
  /** Signed in with a first password: only routes with `beforePasswordChange` answer. */
  must_change_password?: true
}

/** What a writing handler leaves for the audit: the thing it touched, and how it was before and after. */
export type AuditNote = { subject: string; before?: unknown; after?: unknown }

export type Call<Body, Query, Params> = {
  body: Body
  query: Query
  params: Params
  /** Undefined only on public routes. */
  caller: Caller | undefined
  request_id: string
  /** Adds an audit row under the route's `action`. */
  audit: (note: AuditNote) => void
  request: FastifyRequest
  reply: FastifyReply
}

/** A token that processes of one box share; `variable` sets it, and until it is set nobody has it. */
export type SharedToken = { subject: string; value: string | undefined; variable: string }

/** A route is a value. `auth` has no default, so no route is public by accident. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  auth: Need
  summary: string
  body?: TSchema
  query?: TSchema
  params?: TSchema
  reply?: TSchema
  /** Largest body in bytes, where the default of 1 MiB is not enough. */
  bodyMax?: number
  /** How the body comes: JSON by default; `form` carries a `csrf` field; `upload` is read by the handler as it streams. */
  takes?: 'json' | 'form' | 'yaml' | 'upload'
  /** Also open to whoever knows the key of the older API. */
  apiKey?: true
  /**
   * Takes `Authorization: Bearer` alone: a GET that changes something would else be sent by any link, with the cookie that a
   * browser adds to it.
   */
  bearerOnly?: true
  /** Also open to a user who has to choose a password first. */
  beforePasswordChange?: true
  /** Also open to whoever sends this as `Authorization: Bearer`. */
  bearer?: SharedToken
  /** The problem that a body of another media type meets, where the common one would not help. */
  wrongMediaType?: ProblemCode
  /** What an audit row calls it; every route that writes has one. */
  action?: string
  /** Answers a repeated `Idempotency-Key` with the first answer. */
  idempotent?: true
  /** What an agent can do about a problem of this route; the document carries it as `agent_hints`. */
  hints?: (problem: Problem) => AgentHint[]
  /** Codes of the problems that this route adds to those of every route; for the documents. */
  problems?: readonly ProblemCode[]
  handle: (call: Call<any, any, any>) => unknown
}

type Shape<T> = T extends TSchema ? Static<T> : undefined

/** Writes a route so that its handler sees the types of its schemas. */
export function route<
  B extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  P extends TSchema | undefined = undefined,
>(
  value: Omit<Route, 'body' | 'query' | 'params' | 'handle'> & {
    body?: B
    query?: Q
    params?: P
    handle: (call: Call<Shape<B>, Shape<Q>, Shape<P>>) => unknown
  },
): Route {
  return value as Route
}

/** An object schema that refuses fields it does not name. */
export const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

/** An id in the address of a page: blank stands for no choice, and an id that nothing has is answered with 404. */
export const PAGE_ID = Type.String({ maxLength: 128 })

/** A field of a form that may be left blank. */
export const orBlank = <T extends TSchema>(schema: T) => Type.Union([Type.Literal(''), schema])

/** One of a list of words. */
export const oneOf = <const T extends string>(words: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: [...words] })
