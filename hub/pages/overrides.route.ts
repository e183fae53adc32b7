/** Overrides of one edge. Its history is requested from the edge for each page and not stored on the hub. */
import { Type } from '@sinclair/typebox'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { type Connectors, ON_THE_WAY, SiteQuery } from '#shared/central/api/connectors.ts'
import { type EdgeChoice, findEdge } from '#shared/core/telemetry/find-edge.ts'
import { type EdgeKey, edgeName, ID } from '#shared/core/model/model.ts'
import { html, type Html } from '#shared/node/http/html.ts'
import {
  groupOverrides,
  type OverrideQuery,
  outOfServiceOf,
  overridesOf,
  releasedOf,
  writeOverrides,
} from '#shared/core/priority/override-rows.ts'
import type { PriorityTarget } from '#shared/core/priority/priority-record.ts'
import { type CommandState, commandPeriods } from '#shared/core/priority/command-state.ts'
import { CURSOR_MAX } from '#shared/core/priority/history-cursor.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'
import { equipmentHref } from '#shared/central/ui/links.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { overridePointBody, pointEnd } from '#shared/central/ui/override-point.ts'
import { OVERRIDE_QUERY, overridesBody, queryText } from '#shared/central/ui/overrides-list.ts'
import { type Call, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { answerOrExplain } from './edge-answer.ts'
import { type HistoryExcerpt, readExcerpt, readPage, scannerOf, wordsFor } from './overrides-read.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>
type HubOverrides = { context: CentralContext; layout: PageLayout; connectors: Connectors }

/** Choices for the number of pages of 100 records to read; each page is one request to the edge. */
const PAGE_COUNTS = ['3', '10', '30'] as const
const INSTANCE = Type.String({ pattern: String.raw`^\d{1,7}$` })
const SITE = SiteQuery.properties
const EDGE = { edge_id: ID }

const pathOf = ({ edge_id }: EdgeKey): string => `/edges/${encodeURIComponent(edge_id)}/overrides`
/** Links contain the site, so that they stay valid when a second site has an edge of the same id. */
const hrefOf = ({ site_id, ...edge }: EdgeKey, end = '', query: Record<string, string | undefined> = {}): string =>
  `${pathOf({ site_id, ...edge })}${end}${queryText({ site_id, ...query })}`

function pointHref(edge: EdgeKey, target: PriorityTarget, more: Record<string, string> = {}): string {
  const { end, query } = pointEnd(target)
  return hrefOf(edge, end, { ...query, ...more })
}

export function hubOverrides(pages: HubOverrides): Route[] {
  const { connectors } = pages
  return [
    listRoute(pages),
    route({
      method: 'GET',
      path: '/edges/:edge_id/overrides.csv',
      auth: 'viewer',
      summary: 'The overrides of an edge as CSV',
      params: strict(EDGE),
      query: strict({ ...SITE, ...OVERRIDE_QUERY }),
      problems: ['unknown_edge', 'ambiguous_edge', 'edge_failed', 'edge_unreachable', 'edge_timeout', 'not_ready'],
      handle: async ({ params, query: { site_id, ...shown }, reply }) => {
        const { edge, words } = findEdgeAndWords(pages, { ...params, site_id })
        const excerpt = await readExcerpt(connectors, edge, Number(PAGE_COUNTS.at(-1)))
        reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${fileName(excerpt)}"`)
        const { now } = pages.layout.here()
        const all = overridesOf(excerpt.commands, excerpt.meanings, words, now)
        return reply.send(writeOverrides(groupOverrides(all, shown, now)))
      },
    }),
    pointRoute(pages),
    route({
      method: 'POST',
      path: '/edges/:edge_id/overrides/visit',
      auth: 'operator',
      summary: 'The button that starts a visit of the edge to its next device',
      takes: 'form',
      action: 'priority_trigger',
      params: strict(EDGE),
      query: SiteQuery,
      body: strict({}),
      problems: [...ON_THE_WAY, 'visit_in_progress', 'scanner_disabled'],
      handle: async ({ params, query, reply, audit }) => {
        const { edge } = findEdgeAndWords(pages, { ...params, ...query })
        const answer = await connectors.ask(edge, 'priority_trigger', {})
        audit({ subject: edgeName(edge), after: answer })
        return reply.redirect(`${hrefOf(edge)}#scanner`, 303)
      },
    }),
  ]
}

/** The name of a file with only part of the history states how far back it reaches. */
const fileName = ({ more, oldest }: HistoryExcerpt): string =>
  more && oldest !== undefined ? `overrides-seen-since-${formatInstant(oldest).replaceAll(':', '')}.csv` : 'overrides.csv'

function findEdgeAndWords({ context: { edges, model } }: HubOverrides, choice: EdgeChoice) {
  const edge = findEdge(edges, choice)
  const wordsOf = wordsFor(model.points(edge.building_id), model.equipment(edge.building_id))
  return { edge, wordsOf, words: ({ latest }: CommandState) => wordsOf(latest) }
}

const listRoute = (pages: HubOverrides): Route =>
  route({
    method: 'GET',
    path: '/edges/:edge_id/overrides',
    auth: 'viewer',
    summary: 'The page of overrides of one edge',
    params: strict(EDGE),
    query: strict({ ...SITE, ...OVERRIDE_QUERY, read: Type.Optional(oneOf(PAGE_COUNTS)) }),
    problems: ['unknown_edge', 'ambiguous_edge'],
    handle: async call => {
      const { read: wanted, site_id, ...shown } = call.query
      const read = wanted ?? PAGE_COUNTS[0]
      const { edge, words } = findEdgeAndWords(pages, { ...call.params, site_id })
      return renderOrExplain(pages, call, edge, async here => {
        const excerpt = await readExcerpt(pages.connectors, edge, Number(read))
        const { layout } = pages
        return overridesBody({
          here,
          path: pathOf(edge),
          query: { site_id: edge.site_id, read: wanted },
          csvQuery: { site_id: edge.site_id },
          hrefOf: target => pointHref(edge, target),
          equipmentHrefOf: equipment_id => equipmentHref({ building_id: edge.building_id, equipment_id }),
          overrides: overridesOf(excerpt.commands, excerpt.meanings, words, here.now),
          shown,
          outOfService: outOfServiceOf(excerpt.commands, words),
          released: releasedOf(excerpt.commands, excerpt.meanings, words, here.now),
          seen: excerpt.commands.length,
          note: readNote(edge, excerpt, { ...shown, read }, here),
          beforeAll: say`or earlier`,
          card: {
            ...scannerOf(excerpt.scanner),
            place: say`the edge`,
            action: hrefOf(edge, '/visit'),
            user: layout.userOf(call.caller),
            csrf: layout.csrfOf(call.caller),
          },
        })
      })
    },
  })

function readNote(
  edge: EdgeRecord,
  { records, oldest, more }: HistoryExcerpt,
  { read, ...shown }: OverrideQuery & { read: string },
  here: Here,
): Html {
  const further = PAGE_COUNTS[PAGE_COUNTS.indexOf(read as (typeof PAGE_COUNTS)[number]) + 1]
  const reach =
    oldest === undefined
      ? say`It has no records.`
      : html`The newest ${sayCountOf(records, 'record')} are evaluated, back to ${moment(oldest, here)}.`
  return html`<p>Read from <strong>${edge.name || edge.edge_id}</strong> just now; the hub does not store it. A number without a unit is as the device holds it. ${reach} ${
    more
      ? further
        ? html`<a href="${hrefOf(edge, '', { ...shown, read: further })}">Read further back</a>`
        : say`Older records are shown on the page of the edge itself.`
      : records > 0 && say`Older records are not kept.`
  }</p>`
}

function pointRoute(pages: HubOverrides): Route {
  const { connectors } = pages
  return route({
    method: 'GET',
    path: '/edges/:edge_id/overrides/:device_instance/:object_type/:object_instance',
    auth: 'viewer',
    summary: 'The page of one priority array of an edge',
    params: strict({
      ...EDGE,
      device_instance: INSTANCE,
      object_type: Type.String({ pattern: '^[a-z0-9-]{1,64}$' }),
      object_instance: INSTANCE,
    }),
    query: strict({
      ...SITE,
      device_id: Type.Optional(ID),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: CURSOR_MAX })),
    }),
    problems: ['unknown_edge', 'ambiguous_edge', 'not_found', 'bad_cursor', 'cursor_expired'],
    handle: async call => {
      const { edge_id, object_type, ...ids } = call.params
      const { cursor, device_id, site_id } = call.query
      const device_instance = Number(ids.device_instance)
      const object_instance = Number(ids.object_instance)
      const target: PriorityTarget = {
        ...(device_id !== undefined && { device_id }),
        device_instance,
        object_type,
        object_instance,
      }
      const { edge, wordsOf } = findEdgeAndWords(pages, { edge_id, site_id })
      return renderOrExplain(pages, call, edge, async here => {
        const newest = await readPage(connectors, edge, { target })
        const page = cursor === undefined ? newest : await readPage(connectors, edge, { target, cursor })
        const [latest] = newest.records
        if (!latest)
          throw new Problem(
            'not_found',
            `${edge_id} has no records of ${object_type},${object_instance} of device ${device_instance}`,
          )
        return overridePointBody({
          here,
          listPath: hrefOf(edge),
          path: pointHref(edge, target),
          point: wordsOf(latest),
          latest,
          meanings: newest.meanings,
          stretches: commandPeriods(page.records),
          olderHref: page.next === undefined ? undefined : pointHref(edge, target, { cursor: page.next }),
        })
      })
    },
  })
}

/** Renders the page, or when the request to the edge fails, why. */
function renderOrExplain(
  { layout }: HubOverrides,
  call: AnyCall,
  edge: EdgeRecord,
  make: (here: Here) => Promise<Html>,
): Promise<unknown> {
  const title = say`Overrides of ${edge.name || edge.edge_id}`
  const lost = say`The priority history is stored only on the edge, so it cannot be shown until the edge answers.`
  return answerOrExplain(layout, call, { edge, title, lost, href: hrefOf(edge) }, async () =>
    layout.document(call, { title, current: '/' }, await make(layout.here())),
  )
}
