import type { Static, TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type Role = 'viewer' | 'operator' | 'admin'
/** What a route asks of its caller. `edge` is the role of an appliance's own token and stands apart from the others. */
export type Need = 'public' | Role | 'edge'
export type Caller = { subject: string; role: Role | 'edge' }

export type Call<Body, Query, Params> = {
  body: Body
  query: Query
  params: Params
  /** Undefined only on public routes. */
  caller: Caller | undefined
  request_id: string
  request: FastifyRequest
  reply: FastifyReply
}

/** A route is a value. `auth` has no default, so no route is public by accident. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  auth: Need
  summary: string
  body?: TSchema
  query?: TSchema
  params?: TSchema
  reply?: TSchema
  /** Largest body in bytes, where the default of 1 MiB is not enough. */
  bodyMax?: number
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
