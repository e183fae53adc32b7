/** Limits of API tokens beside their role: tokens that only read, and tokens of one building. */
import type { FastifyRequest } from 'fastify'
import { Problem } from '#shared/core/problem.ts'
import type { Caller, Route } from './route.ts'

/** Pages offer the choice of all buildings, so they are for nobody who may see but one. */
const SPEAKS_OF_ONE = /^\/(api|twins)\//

/** @throws Problem forbidden for a change by a token that only reads */
export function assertScope({ action, changesNothing }: Route, { limits, subject }: Caller): void {
  if (limits?.scope === 'read' && action !== undefined && !changesNothing) {
    throw new Problem('forbidden', `${subject} only reads, and this changes something`)
  }
}

/**
 * A token of one building may call what names that building and no other, and what says nothing of buildings. Everything else is
 * refused, so a route that is added later shows such a token nothing.
 *
 * @throws Problem forbidden
 */
export function assertBuilding(route: Route, request: FastifyRequest): void {
  const { caller, params, query, body } = request
  const wanted = caller?.limits?.building_id ?? null
  if (wanted === null || route.anyBuilding) return
  const named = route.buildingOf ? [route.buildingOf(params as Record<string, string>)] : [params, query, body].map(buildingIn)
  const given = named.filter(id => id !== undefined)
  if (route.wholeSite || !SPEAKS_OF_ONE.test(route.path) || given.length === 0 || given.some(id => id !== wanted)) {
    const way = route.wholeSite ? 'this changes the whole site' : `this must name building_id ${wanted}`
    throw new Problem('forbidden', `${caller!.subject} is for the building ${wanted} alone: ${way}`)
  }
}

const buildingIn = (part: unknown): unknown =>
  typeof part === 'object' && part !== null ? (part as { building_id?: unknown }).building_id : undefined
