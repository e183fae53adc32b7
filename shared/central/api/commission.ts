/** Routes for those who set a building up: what points seem to be, and which rules can run. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import type { CoverageGain, CoverageLine } from '#shared/core/rules/report/rule-coverage.ts'
import { isOpen, suggestFor } from '#shared/flow/commission.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { cutPage, PAGE } from './list.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { SUGGESTIONS_ANSWER } from './schemas/model-schemas.ts'
import { COVERAGE_ANSWER } from '#shared/central/api/schemas/rule-schemas.ts'

export const commissionRoutes = (context: CentralParts): Route[] => [
  route({
    method: 'GET',
    path: '/api/model/suggestions',
    auth: 'viewer',
    summary: 'Points without a role, with the roles that they seem to have, how sure that is and why; nothing is assigned',
    query: strict({ building_id: ID, equipment_id: Type.Optional(ID), ...PAGE }),
    reply: SUGGESTIONS_ANSWER,
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id } = needBuilding(context.model, query.building_id)
      const { model } = context
      const open = suggestFor(model.points(building_id), model.equipment(building_id)).filter(
        point => isOpen(point) && (!query.equipment_id || point.equipment_id === query.equipment_id),
      )
      const { items, ...rest } = cutPage(open, query, ({ point_id }) => point_id)
      const points = items.map(({ point_id, equipment_id = null, name, unit, kind, suggestions }) => {
        return { point_id, equipment_id, name, unit, kind, suggestions }
      })
      return { ok: true, building_id, points, ...rest }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fdd/coverage',
    auth: 'viewer',
    summary: 'Which rules can run on which equipment, what the others lack, and which role would let most more run; JSON or CSV',
    answers: ['application/json', 'text/csv'],
    query: strict({ building_id: ID, equipment_id: Type.Optional(ID) }),
    reply: COVERAGE_ANSWER,
    problems: ['unknown_building', 'query_failed'],
    handle: async ({ query: { building_id, equipment_id }, request, reply }) => {
      needBuilding(context.model, building_id)
      const { lines, gains, waits } = await context.rules.coverage(building_id)
      const wanted = (one: { equipment_id: string }) => equipment_id === undefined || one.equipment_id === equipment_id
      const own = lines.filter(wanted)
      if (request.headers.accept?.includes('text/csv')) return reply.type('text/csv; charset=utf-8').send(coverageCsv(own))
      return {
        ok: true,
        building_id,
        ...countCoverage(own),
        rules: own,
        gains: gains.filter(wanted) satisfies CoverageGain[],
        waits,
      }
    },
  }),
]

export const countCoverage = (lines: readonly CoverageLine[]) => ({
  can_run: lines.filter(({ missing }) => missing.length === 0).length,
  cannot_run: lines.filter(({ missing }) => missing.length > 0).length,
})

function coverageCsv(lines: readonly CoverageLine[]): string {
  const rows = lines.map(({ equipment_id, rule_id, title, missing, optional }) =>
    csvLine([equipment_id, rule_id, title, missing.length ? 'no' : 'yes', missing.join(' '), optional.join(' ')]),
  )
  return [csvLine(['equipment_id', 'rule_id', 'title', 'can_run', 'missing', 'optional']), ...rows].join('')
}
