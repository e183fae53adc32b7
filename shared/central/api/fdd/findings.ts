import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { SNOOZE_SCOPES } from '#shared/core/findings/snooze.ts'
import type { Finding } from '#shared/core/findings/finding.ts'
import type { FindingQuery } from '#shared/core/ports.ts'
import { needFinding, refuseUnknownBuilding } from '#shared/core/lookup.ts'
import type { ProblemCode } from '#shared/core/problem.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { Actor } from '#shared/central/commands/command.ts'
import { acknowledge, ASSIGNEE_MAX, markNotAFault, NOTE_TEXT, writeNote } from '#shared/central/commands/notes.ts'
import { snooze } from '#shared/central/commands/snoozes.ts'
import { afterOf, limitOf, PAGE, pageOf } from '#shared/central/api/list.ts'
import { FINDING_RECORD, FINDING_ANSWER, pageAnswer } from '#shared/central/api/schemas/record-schemas.ts'
import { findingView, readInstant } from '#shared/central/api/record-views.ts'

const INSTANT = Type.String({ maxLength: 40 })
const BY_ID = strict({ finding_id: ID })
/** For tokens of one building. */
const buildingOf =
  ({ findings }: Pick<CentralContext, 'findings'>) =>
  ({ finding_id = '' }: Record<string, string>) =>
    findings.get(finding_id)?.building_id

export const findingRoutes = (context: CentralContext): Route[] => [...listRoutes(context), ...noteRoutes(context)]

const listRoutes = ({ findings, notes, clock, model }: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/fdd/findings',
    auth: 'viewer',
    summary: 'Findings, newest first',
    query: strict({
      building_id: Type.Optional(ID),
      equipment_id: Type.Optional(ID),
      rule_id: Type.Optional(Type.String()),
      state: Type.Optional(oneOf(['active', 'cleared'])),
      from: Type.Optional(INSTANT),
      to: Type.Optional(INSTANT),
      ...PAGE,
    }),
    reply: pageAnswer('findings', FINDING_RECORD),
    problems: ['bad_cursor', 'unknown_building'],
    handle: ({ query }) => {
      const { limit: _limit, cursor: _cursor, from, to, ...filter } = query
      const after = afterOf(query)
      const span = { from: readInstant('from', from), to: readInstant('to', to), after }
      const given = Object.fromEntries(Object.entries({ ...filter, ...span }).filter(([, value]) => value !== undefined))
      const found = findings.list({ ...(given as Omit<FindingQuery, 'limit'>), limit: limitOf(query) + 1 })
      refuseUnknownBuilding(model, query.building_id, found)
      const { items, ...more } = pageOf(found, query, one => one.finding_id)
      return { ok: true, findings: items.map(one => findingView(one, notes.of(one, clock.now()), clock.now())), ...more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fdd/findings/:finding_id',
    auth: 'viewer',
    summary: 'One finding with its evidence',
    params: BY_ID,
    reply: FINDING_ANSWER,
    buildingOf: buildingOf({ findings }),
    problems: ['unknown_finding'],
    handle: ({ params: { finding_id } }) => {
      const finding = needFinding(findings, finding_id)
      return { ok: true, finding: findingView(finding, notes.of(finding, clock.now()), clock.now()) }
    },
  }),
]

const noteRoutes = (context: CentralContext): Route[] => [
  noteRoute(
    context,
    'ack',
    'Acknowledges a finding, or takes that back',
    { ack: Type.Optional(Type.Boolean({ default: true })), assignee: Type.Optional(Type.String({ maxLength: ASSIGNEE_MAX })) },
    (call, finding_id, given) => acknowledge(context, call, finding_id, given),
  ),
  noteRoute(
    context,
    'snooze',
    'Hides a finding, its fault, its equipment or its rule until an instant, at most 30 days ahead, and says why; null shows it again',
    {
      until: Type.Union([INSTANT, Type.Null()]),
      reason: Type.Optional(NOTE_TEXT),
      scope: Type.Optional(oneOf(SNOOZE_SCOPES)),
    },
    (call, finding_id, { until, ...given }) =>
      snooze(context, call, finding_id, { until: until === null ? null : readInstant('until', until), ...given }),
    ['invalid'],
  ),
  noteRoute(
    context,
    'note',
    'Writes a note on a finding; an empty one removes it',
    { note: NOTE_TEXT },
    (call, finding_id, { note }) => writeNote(context, call, finding_id, note),
  ),
  noteRoute(
    context,
    'not-a-fault',
    'Says why a finding is no fault; null takes that back',
    { reason: Type.Union([NOTE_TEXT, Type.Null()]) },
    (call, finding_id, { reason }) => markNotAFault(context, call, finding_id, reason),
  ),
]

/** A route that changes the note of a finding. */
function noteRoute<P extends TProperties>(
  context: Pick<CentralContext, 'findings' | 'notes' | 'clock'>,
  verb: string,
  summary: string,
  properties: P,
  change: (actor: Actor, finding_id: string, given: Static<TObject<P>>) => { finding: Finding },
  problems: ProblemCode[] = [],
): Route {
  return route({
    method: 'POST',
    path: `/api/fdd/findings/:finding_id/${verb}`,
    auth: 'operator',
    summary,
    params: BY_ID,
    buildingOf: buildingOf(context),
    body: strict(properties),
    reply: FINDING_ANSWER,
    action: `finding_${verb.replaceAll('-', '_')}`,
    problems: ['unknown_finding', ...problems],
    handle: call => {
      const { finding } = change(call, call.params.finding_id, call.body as Static<TObject<P>>)
      return { ok: true, finding: findingView(finding, context.notes.of(finding, context.clock.now()), context.clock.now()) }
    },
  })
}
