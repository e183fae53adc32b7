/** The equipment's own past that rules compare with, and how a person begins it anew. */
import { Type } from '@sinclair/typebox'
import { formatInstant } from '#shared/core/time.ts'
import type { BaselineKey, StoredReset } from '#shared/core/tuning.ts'
import { resetBaseline, restoreBaseline } from '#shared/flow/fdd/reset-baseline.ts'
import { ID, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ranByView } from '#shared/central/fdd/rule-owner.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { needBuilding } from '#shared/central/api/model.ts'
import { readInstant } from '#shared/central/api/record-views.ts'

const NAME = Type.String({ minLength: 1, maxLength: 128 })
const BASELINE = { building_id: ID, equipment_id: ID, rule_id: ID, name: NAME, role: Type.Optional(NAME) }

export const baselineRoutes = (context: CentralContext): Route[] => [
  listRoute(context),
  route({
    method: 'POST',
    path: '/api/fdd/baselines/reset',
    auth: 'operator',
    summary: 'Begins a baseline anew: days before the instant no longer count',
    body: strict({
      ...BASELINE,
      note: Type.String({ minLength: 1, maxLength: 4000 }),
      at: Type.Optional(Type.String({ maxLength: 40 })),
    }),
    action: 'reset_baseline',
    problems: ['unknown_building', 'not_found', 'invalid'],
    handle: ({ body: { note, at, ...key }, caller, audit }) => {
      needBuilding(context, key.building_id)
      const by = { note, changed_by: caller!.subject, changed_at: context.clock.now() }
      const { before, after } = resetBaseline(key, readInstant('at', at), by, context)
      audit({ subject: baselineSubject(key), before, after })
      return {
        ok: true,
        reset: resetView(after),
        ...(before && { before: resetView(before) }),
        ...ranByView(context, key.building_id),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/fdd/baselines/restore',
    auth: 'operator',
    summary: 'Takes the reset of a baseline back, so that the days before it count again',
    body: strict(BASELINE),
    action: 'restore_baseline',
    problems: ['unknown_building', 'not_found'],
    handle: ({ body: key, audit }) => {
      needBuilding(context, key.building_id)
      const before = restoreBaseline(key, context)
      audit({ subject: baselineSubject(key), before })
      return { ok: true, restored: resetView(before), ...ranByView(context, key.building_id) }
    },
  }),
]

const listRoute = (context: CentralContext) =>
  route({
    method: 'GET',
    path: '/api/fdd/baselines',
    auth: 'viewer',
    summary: 'Baselines as the newest run left them: value, spread, the days used and those left out',
    query: strict({ building_id: ID, equipment_id: Type.Optional(ID), rule_id: Type.Optional(ID), ...PAGE }),
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id, equipment_id, rule_id } = query
      needBuilding(context, building_id)
      const of = { building_id, ...(equipment_id !== undefined && { equipment_id }), ...(rule_id !== undefined && { rule_id }) }
      const { items, ...more } = cutPage(context.baselines.list(of), query, baselineSubject)
      const resets = new Map(context.baselines.resets(building_id).map(reset => [baselineSubject(reset), reset]))
      const baselines = items.map(one => {
        const reset = resets.get(baselineSubject(one))
        return { ...one, ...(reset && { reset: resetView(reset) }) }
      })
      return { ok: true, baselines, ...more, ...ranByView(context, building_id) }
    },
  })

/** A baseline in one line: for the audit and for cursors. */
export const baselineSubject = ({ equipment_id, rule_id, role, name }: BaselineKey): string =>
  [equipment_id, rule_id, ...(role === undefined ? [] : [role]), name].join(' ')

const resetView = ({ at, changed_at, note, changed_by }: StoredReset) => {
  return { at: formatInstant(at), note, changed_by, changed_at: formatInstant(changed_at) }
}
