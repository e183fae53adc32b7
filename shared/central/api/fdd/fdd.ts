import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { RESULT_STATES, type RuleResult, resultState } from '#shared/core/findings/finding.ts'
import { needBuilding, needRun } from '#shared/core/lookup.ts'
import type { LatestResult } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { countResults } from '#shared/core/runs/run-summary.ts'
import type { RunReport } from '#shared/flow/fdd/run-fdd.ts'
import { formatInstant } from '#shared/core/time.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { startRun, startUnattendedRun } from '#shared/central/commands/runs.ts'
import { afterOf, cutPage, limitOf, PAGE, pageOf } from '#shared/central/api/list.ts'
import { answerOf, pageAnswer } from '#shared/central/api/schemas/record-schemas.ts'
import { EQUIPMENT_STATE, LATEST_RESULT, RUN_REPLY } from '#shared/central/api/schemas/run-schemas.ts'
import { runRoutes } from './runs.ts'
import { readInstant, runStateView } from '#shared/central/api/record-views.ts'

/** Rules and equipment that one request names. */
const NAMED_MAX = 1000
const RUN_PROBLEMS = [
  'unknown_building',
  'unknown_equipment',
  'unknown_rule',
  'rule_inactive',
  'invalid',
  'ran_by_appliance',
  'run_in_progress',
  'run_cancelled',
  'query_failed',
  'not_ready',
] as const
const INSTANT = Type.Optional(Type.String({ maxLength: 40 }))

export const fddRoutes = (context: CentralContext): Route[] => [
  runRoute(context),
  ...runRoutes(context),
  resultRoute(context),
  equipmentRoute(context),
]

const runRoute = ({ runs, log }: CentralContext) =>
  route({
    method: 'POST',
    path: '/api/fdd/run',
    auth: 'operator',
    summary: 'Runs rules over a building and answers with what they say, or at once with the id of the run',
    query: strict({ async: Type.Optional(Type.Boolean()) }),
    body: strict({
      building_id: ID,
      rule_ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: NAMED_MAX })),
      equipment_ids: Type.Optional(Type.Array(ID, { minItems: 1, maxItems: NAMED_MAX })),
      from: INSTANT,
      to: INSTANT,
      params: Type.Optional(Type.Record(Type.String(), Type.Record(Type.String(), Type.Number()))),
    }),
    reply: RUN_REPLY,
    statuses: [200, 202],
    action: 'run_fdd',
    problems: RUN_PROBLEMS,
    handle: async call => {
      const { reply } = call
      const { from, to, ...named } = call.body
      const [start, end] = [readInstant('from', from), readInstant('to', to)]
      const request = { ...named, ...(start !== undefined && { from: start }), ...(end !== undefined && { to: end }) }
      if (!call.query.async) return runReply(await startRun({ runs }, call, request).report)
      const run_id = startUnattendedRun({ runs, log }, call, request)
      reply.code(202).header('location', `/api/fdd/runs/${run_id}`)
      return { ok: true, run_id, run: runStateView(needRun(runs, run_id)) }
    },
  })

/** A run as the API answers it. */
export const runReply = (report: RunReport) => ({
  ok: true,
  run_id: report.run_id,
  building_id: report.building_id,
  from: formatInstant(report.from),
  to: formatInstant(report.to),
  rules_run: report.rules_run,
  rules_succeeded: report.rules_succeeded,
  rules_failed: report.rules_failed,
  rules_skipped: report.rules_skipped,
  counts: countResults(report.results).counts,
  results: report.results.map(resultView),
  days: report.days,
  failed: report.failed,
  timings: report.timings,
  total_ms: report.total_ms,
})

/** A result with its state: `not_evaluated` is either `gated` or `no_data`. */
const resultView = <T extends RuleResult>(result: T) => ({ ...result, state: resultState(result) })

const resultRoute = ({ results, model }: CentralContext) =>
  route({
    method: 'GET',
    path: '/api/fdd/results',
    auth: 'viewer',
    summary: 'What the newest run says of each rule and equipment',
    query: strict({
      building_id: ID,
      equipment_id: Type.Optional(ID),
      rule_id: Type.Optional(Type.String()),
      status: Type.Optional(oneOf(['fault', 'pass', 'not_evaluated'])),
      state: Type.Optional(oneOf(RESULT_STATES)),
      ...PAGE,
    }),
    reply: pageAnswer('results', LATEST_RESULT),
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id, equipment_id, rule_id, status, state } = query
      needBuilding(model, building_id)
      const found: LatestResult[] = []
      for (const one of results.each(building_id, pairAfter(query))) {
        if (equipment_id !== undefined && one.equipment_id !== equipment_id) break
        if (rule_id !== undefined && one.rule_id !== rule_id) continue
        if (status !== undefined && one.status !== status) continue
        if (state !== undefined && resultState(one) !== state) continue
        if (found.push(one) > limitOf(query)) break
      }
      const { items, ...more } = pageOf(found, query, pairId)
      const shown = items.map(one => ({
        ...resultView(one),
        finished_at: formatInstant(one.finished_at),
        looked_to: formatInstant(one.looked_to),
        ...(one.evaluated_to !== undefined && { evaluated_to: formatInstant(one.evaluated_to) }),
      }))
      return { ok: true, results: shown, ...more }
    },
  })

/** Ids of rules have no spaces. */
const pairId = ({ equipment_id, rule_id }: LatestResult): string => `${equipment_id} ${rule_id}`

/**
 * Where a page begins: at the equipment that is asked for, or after the last page.
 *
 * @throws Problem bad_cursor
 */
function pairAfter({ equipment_id, ...query }: Parameters<typeof afterOf>[0] & { equipment_id?: string }) {
  const after = afterOf(query)
  if (after === undefined) return equipment_id === undefined ? undefined : { equipment_id, rule_id: '' }
  const at = after.lastIndexOf(' ')
  const last = { equipment_id: after.slice(0, at), rule_id: after.slice(at + 1) }
  if (at < 0 || (equipment_id !== undefined && last.equipment_id !== equipment_id)) {
    throw new Problem('bad_cursor', 'The cursor is not one that this list has given')
  }
  return last
}

const equipmentRoute = ({ model, findings, results }: CentralContext) =>
  route({
    method: 'GET',
    path: '/api/fdd/equipment',
    auth: 'viewer',
    summary: 'Equipment of a building with its roles, active faults and what could not be evaluated',
    query: strict({ building_id: ID, ...PAGE }),
    reply: answerOf({
      ...{ building_id: Type.String(), count: Type.Integer(), equipment: Type.Array(EQUIPMENT_STATE) },
      next_cursor: Type.Optional(Type.String()),
    }),
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id } = query
      needBuilding(model, building_id)
      const all = model.equipment(building_id)
      const points = Map.groupBy(model.points(building_id), ({ equipment_id }) => equipment_id)
      const active = Map.groupBy(findings.active(building_id), ({ equipment_id }) => equipment_id)
      const { items, ...more } = cutPage(all, query, one => one.equipment_id)
      const equipment = items.map(one => {
        const own = points.get(one.equipment_id) ?? []
        const latest = results.latest(building_id, one.equipment_id)
        return {
          ...one,
          points: own.length,
          roles: own.flatMap(({ role }) => role ?? []).toSorted(),
          active_findings: active.get(one.equipment_id)?.length ?? 0,
          results: countResults(latest).counts,
          missing_roles: [...new Set(latest.flatMap(({ missing_roles = [] }) => missing_roles))].toSorted(),
        }
      })
      return { ok: true, building_id, count: all.length, equipment, ...more }
    },
  })
