/** Log and diagnostics of one edge. Both are requested from the edge when somebody looks, and not stored on the hub. */
import { SiteQuery } from '#shared/central/api/connectors.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { LOG_QUERY, logPart, logRequest } from '#shared/central/pages/system/log.view.ts'
import { edgeHref } from '#shared/central/ui/links.ts'
import { LogLevelRequest } from '#shared/core/connector/inspection-wire.ts'
import { ID } from '#shared/core/model/model.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { type EdgeChoice, findEdge } from '#shared/core/telemetry/find-edge.ts'
import { html } from '#shared/node/http/html.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import type { EdgeConnectors } from '../connectors/connectors.ts'
import { diagnosticsName, readDiagnostics, setEdgeLogLevel } from '../connectors/inspect-edge.ts'
import { answerOrExplain } from './edge-answer.ts'
import { edgeCrumbs, edgeLogHref, edgeLogPath } from './edge-words.ts'
import { say } from '#shared/node/http/language.ts'

type EdgeLogPages = { context: Pick<CentralContext, 'edges'>; layout: PageLayout; connectors: EdgeConnectors }
type AnyCall = Pick<Call<unknown, { site_id?: string }, EdgeChoice>, 'params' | 'query' | 'caller' | 'reply'>

const AT_EDGE = '/edges/:edge_id'
/** As on the box itself, whose log and diagnostics only an admin sees. */
const common = { auth: 'admin', params: strict({ edge_id: ID }), problems: ['unknown_edge', 'ambiguous_edge'] } as const

export function edgeLogPages({ context, layout, connectors }: EdgeLogPages): Route[] {
  const nameOf = (edge: EdgeRecord) => edge.name || edge.edge_id
  const edgeOf = ({ params, query: { site_id } }: AnyCall) => findEdge(context.edges, { ...params, site_id })
  const aboutLog = (edge: EdgeRecord) => ({
    ...{ edge, title: say`Log of ${nameOf(edge)}`, href: edgeLogHref(edge) },
    lost: say`The log is stored only on the edge, so it cannot be shown until the edge answers.`,
  })
  return [
    route({
      ...common,
      method: 'GET',
      path: `${AT_EDGE}/log`,
      summary: 'The page of the log of one edge',
      query: strict({ ...SiteQuery.properties, ...LOG_QUERY }),
      handle: call => {
        const { site_id: _, ...query } = call.query
        const edge = edgeOf(call)
        const page = aboutLog(edge)
        return answerOrExplain(layout, call, page, async () => {
          const answer = await connectors.ask(edge, 'log', logRequest(query))
          const at = { path: edgeLogPath(edge), of: { site_id: edge.site_id } }
          const shown = logPart({ answer, query, ...at, here: layout.here(), csrf: layout.csrfOf(call.caller) })
          const body = html`${edgeCrumbs(edge)}
<h1>${page.title}</h1>
<p class="lead">Read from the edge just now; the hub does not store it. Lines are there since its program started.</p>
${shown}`
          return layout.document(call, { title: page.title, current: '/' }, body)
        })
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: `${AT_EDGE}/log/level`,
      summary: 'The form that sets how much an edge logs until it starts again',
      takes: 'form',
      query: SiteQuery,
      body: LogLevelRequest,
      action: 'edge_log_level',
      handle: call => {
        const edge = edgeOf(call)
        return answerOrExplain(layout, call, { ...aboutLog(edge), lost: say`How much the edge logs is as it was.` }, async () => {
          await setEdgeLogLevel(connectors, edge, call.body, call.audit)
          return call.reply.redirect(edgeLogHref(edge), 303)
        })
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: `${AT_EDGE}/diagnostics`,
      summary: 'The button that has an edge make a file of diagnostics, and downloads it',
      takes: 'form',
      query: SiteQuery,
      body: strict({}),
      action: 'edge_diagnostics',
      handle: call => {
        const edge = edgeOf(call)
        const page = { edge, title: say`Diagnostics of ${nameOf(edge)}`, href: edgeHref(edge) }
        const lost = say`The edge makes the file when it is asked, so there is none until it answers.`
        return answerOrExplain(layout, call, { ...page, lost }, async () => {
          const file = await readDiagnostics(connectors, edge, call.audit)
          return call.reply.type('application/zip').header('content-disposition', diagnosticsName(edge)).send(file)
        })
      },
    }),
  ]
}
