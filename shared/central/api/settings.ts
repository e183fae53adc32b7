import { Type } from '@sinclair/typebox'
import { type Effective, SOURCES } from '#shared/core/env.ts'
import { oneOf, route, type Route } from '#shared/node/http/route.ts'

const VARIABLE = Type.Object({ name: Type.String(), value: Type.String(), source: oneOf(SOURCES), doc: Type.String() })

/** @param effective every variable that the process was told or took its default of, secrets masked */
export const settingsRoutes = (effective: Effective[]): Route[] => [
  route({
    method: 'GET',
    path: '/api/config/effective',
    auth: 'admin',
    summary: 'Every variable with its value and where it comes from, as read at the start; secrets are masked',
    reply: Type.Object({ ok: Type.Literal(true), settings: Type.Array(VARIABLE) }),
    handle: () => ({ ok: true, settings: effective }),
  }),
]
