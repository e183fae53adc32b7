/** Routes of baselines: values of the equipment’s own past that rules compare with, and their reset. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { StoredReset } from '#shared/core/tuning.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import {
  BASELINE,
  baselineSubject,
  RESET_NOTE,
  resetRuleBaseline,
  resetsBySubject,
  restoreRuleBaseline,
} from '#shared/central/commands/baselines.ts'
import { ruleOwnerView } from '#shared/central/fdd/rule-owner.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { readInstant } from '#shared/central/api/record-views.ts'
import { BASELINES_ANSWER, RESET_ANSWER, RESTORED_ANSWER } from '#shared/central/api/schemas/tuning-schemas.ts'

export const baselineRoutes = (context: CentralContext): Route[] => [
  listRoute(context),
  route({
    method: 'POST',
    path: '/api/fdd/baselines/reset',
    auth: 'operator',
    summary: 'Begins a baseline anew: days before the instant no longer count',
    body: strict({
      ...BASELINE,
      note: RESET_NOTE,
      at: Type.Optional(Type.String({ maxLength: 40 })),
    }),
    reply: RESET_ANSWER,
    action: 'reset_baseline',
    problems: ['unknown_building', 'not_found', 'invalid'],
    handle: call => {
      const { body } = call
      const { before, after } = resetRuleBaseline(context, call, { ...body, at: readInstant('at', body.at) })
      return {
        ok: true,
        reset: resetView(after),
        ...(before && { before: resetView(before) }),
        ...ruleOwnerView(context, body.building_id),
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/fdd/baselines/restore',
    auth: 'operator',
    summary: 'Takes the reset of a baseline back, so that the days before it count again',
    body: strict(BASELINE),
    reply: RESTORED_ANSWER,
    action: 'restore_baseline',
    problems: ['unknown_building', 'not_found'],
    handle: call => {
      const before = restoreRuleBaseline(context, call, call.body)
      return { ok: true, restored: resetView(before), ...ruleOwnerView(context, call.body.building_id) }
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
    reply: BASELINES_ANSWER,
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id, equipment_id, rule_id } = query
      needBuilding(context.model, building_id)
      const of = { building_id, ...(equipment_id !== undefined && { equipment_id }), ...(rule_id !== undefined && { rule_id }) }
      const { items, ...more } = cutPage(context.baselines.list(of), query, baselineSubject)
      const resets = resetsBySubject(context, building_id)
      const baselines = items.map(one => {
        const reset = resets.get(baselineSubject(one))
        return { ...one, ...(reset && { reset: resetView(reset) }) }
      })
      return { ok: true, baselines, ...more, ...ruleOwnerView(context, building_id) }
    },
  })

const resetView = ({ at, changed_at, note, changed_by }: StoredReset) => {
  return { at: formatInstant(at), note, changed_by, changed_at: formatInstant(changed_at) }
}
