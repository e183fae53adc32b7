/** What a move of the hub's buildings into a tenant would do; the move itself is a command on the machine. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { needTenant, TENANT_REF } from '#shared/central/commands/tenants.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { planMove } from './move-plan.ts'

/** Most buildings of one request. */
const BUILDINGS_MAX = 1000
const Count = Type.Integer()
const Planned = Type.Object({
  building_id: Type.String(),
  name: Type.String(),
  state: oneOf(['here', 'interrupted', 'moved']),
  edges: Type.Array(Type.String()),
  points: Count,
  findings: Count,
  files: Count,
  bytes: Count,
})

export const migrateRoute = (context: Pick<CentralContext, 'workspace' | 'tenants' | 'tenancy'>): Route =>
  route({
    method: 'POST',
    path: '/api/tenants/migrate',
    auth: 'admin',
    ofHub: true,
    changesNothing: true,
    summary: 'Dry run: which buildings of the hub would move into a tenant, and what of them',
    body: strict({
      tenant_id: TENANT_REF,
      building_ids: Type.Optional(Type.Array(ID, { minItems: 1, maxItems: BUILDINGS_MAX })),
      apply: Type.Optional(Type.Boolean()),
    }),
    reply: Type.Object({
      ok: Type.Literal(true),
      applied: Type.Literal(false),
      tenant_id: Type.String(),
      buildings: Type.Array(Planned),
      conflicts: Type.Array(Type.Object({ pointer: Type.String(), message: Type.String() })),
    }),
    action: 'plan_move',
    problems: ['tenants_disabled', 'unknown_tenant', 'unknown_building', 'apply_refused_over_https'],
    handle: ({ body: { tenant_id, building_ids, apply } }) => {
      if (apply === true) {
        const command = `hub/tenants/main.ts migrate --tenant ${tenant_id} --apply`
        throw new Problem('apply_refused_over_https', `Buildings are moved on the machine, with the hub stopped: ${command}`)
      }
      needTenant(context, tenant_id)
      return { ok: true, applied: false, ...planMove(context.workspace, tenant_id, building_ids) }
    },
  })
