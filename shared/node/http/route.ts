import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TokenLimits } from '#shared/core/auth/api-tokens.ts'
import type { UserRole } from '#shared/core/auth/users.ts'
import type { TenantClaims } from '#shared/core/tenant.ts'
import type { AgentHint, Problem, ProblemCode } from '#shared/core/problem.ts'

/** The role that a route needs. `edge` is the role of the token of an appliance; it includes no other role. */
type Need = 'public' | UserRole | 'edge'
export type Caller = TenantClaims & {
  subject: string
  role: UserRole | 'edge'
  /** `open` when no login is configured (loopback only). */
  via: 'bearer' | 'cookie' | 'open'
  /** Id of the session; form tokens are bound to it. */
  session: string
  /** When the token expires, ms since 1970 UTC; undefined without a token. */
  expires_at?: number
  /** Signed in with a first password: only routes with `beforePasswordChange` answer. */
  must_change_password?: true
  /** Of an API token. */
  limits?: TokenLimits
}

/** The part of an audit row that the handler knows: the changed thing, and its state before and after. */
export type AuditNote = {
  subject: string
  /** The building, for a request that does not name it. */
  building_id?: string
  before?: unknown
  after?: unknown
}

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

/** A token that processes of one machine share. `variable` is the setting for it; without it the token is never accepted. */
export type SharedToken = { subject: string; value: string | undefined; variable: string }

/** What a route may answer with, `charset` aside. */
export type MediaType =
  | 'application/json'
  | 'application/ld+json'
  | 'application/octet-stream'
  | 'application/schema+json'
  | 'application/zip'
  | 'text/csv'
  | 'text/event-stream'
  | 'text/html'
  | 'text/turtle'

/** A route as a value. `auth` has no default, so that no route is public by accident. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  auth: Need
  summary: string
  body?: TSchema
  query?: TSchema
  params?: TSchema
  reply?: TSchema
  /** Status codes that come with this answer; 200 alone when left out. */
  statuses?: readonly (200 | 202 | 503)[]
  /** Media types of the answer when it succeeds; JSON alone when left out. */
  answers?: readonly MediaType[]
  /** Maximum body size, bytes; 1 MiB when left out. */
  bodyMax?: number
  /** Kind of body: JSON by default; `form` has a `csrf` field; the handler reads an `upload` as a stream. */
  takes?: 'json' | 'form' | 'yaml' | 'upload'
  /** Also accepts the key of the legacy API. */
  apiKey?: true
  /**
   * Accepts only `Authorization: Bearer`: any link could otherwise send a GET that changes something, with the cookie that
   * a browser adds.
   */
  bearerOnly?: true
  /** Says nothing of any building, so a token of one building may call it. */
  anyBuilding?: true
  /** The building of what `params` names; undefined where nothing has this id. Others name it as `building_id`. */
  buildingOf?: (params: Record<string, string>) => string | undefined
  /** Changes more than the building that it names: no token of one building may call it. */
  wholeSite?: true
  /** Has an `action` for the audit and yet changes nothing, so a token that only reads may call it. */
  changesNothing?: true
  /** Answered by the hub itself, whichever of its tenants asks; where this needs an admin, it needs one of the hub. */
  ofHub?: true
  /** Public only in a process without tenants: where there are several, the token of a viewer chooses whose data is shown. */
  ofTenant?: true
  /** Also open to a user who has to choose a password first. */
  beforePasswordChange?: true
  /** Also accepts this token as `Authorization: Bearer`. */
  bearer?: SharedToken
  /** The problem for a body of another media type, where the general one would not help. */
  wrongMediaType?: ProblemCode
  /** Name of the action in the audit; every route that writes has one. */
  action?: string
  /** Answers a repeated `Idempotency-Key` with the first reply. */
  idempotent?: true
  /** Hints to an agent about a problem of this route; the problem document carries them as `agent_hints`. */
  hints?: (problem: Problem) => AgentHint[]
  /** Problem codes of this route besides the general ones, for the documents. */
  problems?: readonly ProblemCode[]
  handle: (call: Call<any, any, any>) => unknown
}

/** Answers a failed page request itself, as a page or a redirect; returns false to leave it as a problem document. */
export type ProblemPage = (problem: Problem, request: FastifyRequest, reply: FastifyReply) => Promise<boolean> | boolean

type Shape<T> = T extends TSchema ? Static<T> : undefined

/** Creates a route; its handler has the types of its schemas. */
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

/** Routes that the hub itself answers, whichever of its tenants asks. */
export const ofHub = (routes: Route[]): Route[] => routes.map(each => ({ ...each, ofHub: true }))

/** An object schema that refuses unknown fields. */
export const strict = <P extends TProperties>(properties: P) => Type.Object(properties, { additionalProperties: false })

/** The answer of a route that has done what was asked and has nothing to say about it. */
export const DONE_ANSWER = strict({ ok: Type.Literal(true) })

/** An id in the address of a page. Blank means no choice; an unknown id is answered with 404. */
export const PAGE_ID = Type.String({ maxLength: 128 })

/** A form field that may be left blank. */
export const orBlank = <T extends TSchema>(schema: T) => Type.Union([Type.Literal(''), schema])

/** Schema for one of a list of words. */
export const oneOf = <const T extends string>(words: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: [...words] })
