import { type TProperties, Type } from '@sinclair/typebox'
import type { FindingNote } from '#shared/core/findings/finding.ts'
import type { FindingQuery } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { ID, oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { afterOf, limitOf, PAGE, pageOf } from '#shared/central/api/list.ts'
import { findingView, readInstant } from '#shared/central/api/record-views.ts'

const INSTANT = Type.String({ maxLength: 40 })
const TEXT = Type.String({ maxLength: 4000 })
const BY_ID = strict({ finding_id: ID })

export const findingRoutes = (context: CentralContext): Route[] => [...listRoutes(context), ...noteRoutes(context)]

const listRoutes = ({ results, notes }: CentralContext): Route[] => [
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
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { limit: _limit, cursor: _cursor, from, to, ...filter } = query
      const after = afterOf(query)
      const span = { from: readInstant('from', from), to: readInstant('to', to), after }
      const given = Object.fromEntries(Object.entries({ ...filter, ...span }).filter(([, value]) => value !== undefined))
      const found = results.list({ ...(given as Omit<FindingQuery, 'limit'>), limit: limitOf(query) + 1 })
      const { items, ...more } = pageOf(found, query, one => one.finding_id)
      return { ok: true, findings: items.map(one => findingView(one, notes.get(one.finding_id))), ...more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/fdd/findings/:finding_id',
    auth: 'viewer',
    summary: 'One finding with its evidence',
    params: BY_ID,
    problems: ['unknown_finding'],
    handle: ({ params: { finding_id } }) => {
      const finding = results.get(finding_id)
      if (!finding) throw new Problem('unknown_finding', `There is no finding ${finding_id}`)
      return { ok: true, finding: findingView(finding, notes.get(finding_id)) }
    },
  }),
]

const noteRoutes = (context: CentralContext): Route[] => [
  noteRoute(context, 'ack', 'Acknowledges a finding, or takes that back', {
    ack: Type.Optional(Type.Boolean({ default: true })),
    assignee: Type.Optional(Type.String({ maxLength: 128 })),
  })((note, { ack = true, assignee }) => ({
    ...note,
    ack: ack ? 'acked' : 'unacked',
    ...(assignee !== undefined && { assignee }),
  })),
  noteRoute(context, 'snooze', 'Hides a finding until an instant; null shows it again', {
    until: Type.Union([INSTANT, Type.Null()]),
  })(({ snoozed_until: _until, ...note }, { until }) => {
    return until === null ? note : { ...note, snoozed_until: readInstant('until', until) }
  }),
  noteRoute(context, 'note', 'Writes a note on a finding; an empty one removes it', { note: TEXT })(
    ({ note: _note, ...kept }, { note }) => (note === '' ? kept : { ...kept, note }),
  ),
  noteRoute(context, 'not-a-fault', 'Says why a finding is no fault; null takes that back', {
    reason: Type.Union([TEXT, Type.Null()]),
  })(({ not_a_fault: _reason, ...note }, { reason }) => (reason === null ? note : { ...note, not_a_fault: reason })),
]

/** A route by which people add to a finding. */
function noteRoute<P extends TProperties>({ results, notes }: CentralContext, verb: string, summary: string, properties: P) {
  const body = strict(properties)
  return (change: (note: FindingNote, given: (typeof body)['static']) => FindingNote): Route =>
    route({
      method: 'POST',
      path: `/api/fdd/findings/:finding_id/${verb}`,
      auth: 'operator',
      summary,
      params: BY_ID,
      body,
      action: `finding_${verb.replaceAll('-', '_')}`,
      problems: ['unknown_finding'],
      handle: ({ params: { finding_id }, body: given, audit }) => {
        const finding = results.get(finding_id)
        if (!finding) throw new Problem('unknown_finding', `There is no finding ${finding_id}`)
        const before = notes.get(finding_id)
        const after = change(before, given as (typeof body)['static'])
        notes.set(after)
        audit({ subject: finding_id, before, after })
        return { ok: true, finding: findingView(finding, after) }
      },
    })
}
