/** Runs of the rules: the list, one of them, its progress as it comes, and how to end it. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needRun, refuseUnknownBuilding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { cancelRun } from '#shared/central/commands/runs.ts'
import { afterOf, limitOf, PAGE, pageOf } from '#shared/central/api/list.ts'
import { EVENTS_TYPE } from '#shared/central/api/event-stream.ts'
import { pageAnswer } from '#shared/central/api/schemas/record-schemas.ts'
import { RUN_ANSWER, RUN_RECORD } from '#shared/central/api/schemas/run-schemas.ts'
import { runEvents } from './run-events.ts'
import { runStateView } from '#shared/central/api/record-views.ts'

const BY_ID = strict({ run_id: ID })
/** For tokens of one building. */
const buildingOf =
  (runs: CentralContext['runs']) =>
  ({ run_id = '' }: Record<string, string>) =>
    runs.get(run_id)?.run.building_id
/** Runs that are watched at one time; each holds a connection. */
const WATCHED_MAX = 100

export const runRoutes = ({ runs, model }: Pick<CentralContext, 'runs' | 'model'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/fdd/runs',
    auth: 'viewer',
    summary: 'Runs in every state, newest first',
    query: strict({ building_id: Type.Optional(ID), ...PAGE }),
    reply: pageAnswer('runs', RUN_RECORD),
    problems: ['bad_cursor', 'unknown_building'],
    handle: ({ query }) => {
      const { building_id } = query
      const after = afterOf(query)
      const of = { ...(building_id !== undefined && { building_id }), ...(after !== undefined && { after }) }
      const found = runs.list({ ...of, limit: limitOf(query) + 1 })
      refuseUnknownBuilding(model, building_id, found)
      const { items, ...more } = pageOf(found, query, ({ run }) => run.run_id)
      return { ok: true, runs: items.map(entry => runStateView(runs.get(entry.run.run_id) ?? entry)), ...more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fdd/runs/:run_id',
    auth: 'viewer',
    summary: 'One run: whether it waits, how far it is, or how it ended',
    params: BY_ID,
    buildingOf: buildingOf(runs),
    reply: RUN_ANSWER,
    problems: ['unknown_run'],
    handle: ({ params }) => ({ ok: true, run: runStateView(needRun(runs, params.run_id)) }),
  }),
  eventsRoute(runs),
  route({
    method: 'POST',
    path: '/api/fdd/runs/:run_id/cancel',
    auth: 'operator',
    summary: 'Ends a run at once; nothing is stored of it',
    params: BY_ID,
    buildingOf: buildingOf(runs),
    reply: RUN_ANSWER,
    action: 'cancel_run',
    problems: ['unknown_run', 'conflict'],
    handle: call => {
      const { run_id } = call.params
      cancelRun({ runs }, call, run_id)
      return { ok: true, run: runStateView(needRun(runs, run_id)) }
    },
  }),
]

function eventsRoute(runs: CentralContext['runs']): Route {
  let watched = 0
  return route({
    method: 'GET',
    path: '/api/fdd/runs/:run_id/events',
    auth: 'viewer',
    summary: 'The progress of a run as server-sent events; the stream ends with the run',
    answers: ['text/event-stream'],
    params: BY_ID,
    buildingOf: buildingOf(runs),
    problems: ['unknown_run', 'not_ready'],
    handle: ({ params: { run_id }, request, reply }) => {
      needRun(runs, run_id)
      const last = request.headers['last-event-id']
      const events = runEvents(runs, run_id, typeof last === 'string' ? last : undefined)
      if (!events) return undefined // 204 ends a browser's attempts to connect again
      if (watched >= WATCHED_MAX) {
        events.destroy()
        throw new Problem('not_ready', `${WATCHED_MAX} others watch runs already; ask for the run itself`)
      }
      watched++
      events.once('close', () => watched--)
      return reply.header('content-type', EVENTS_TYPE).header('x-accel-buffering', 'no').send(events)
    },
  })
}
