/** The MQTT monitor: a page, and the same for programs as a snapshot and as a stream. */
import { type Static, Type } from '@sinclair/typebox'
import { EVENTS_TYPE } from '#shared/central/api/event-stream.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { Problem } from '#shared/core/problem.ts'
import { TOPIC_KINDS } from '#shared/core/topic/topics.ts'
import { oneOf, orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { MONITOR_ANSWER } from './monitor-schemas.ts'
import { monitorBody } from './monitor.view.ts'
import { messageView, monitorStream, statsView } from './monitor-stream.ts'
import type { MessageFilter, MqttMonitor } from './mqtt-monitor.ts'
import { say } from '#shared/node/http/language.ts'

/** Streams at a time; each costs a timer and what the browser has not read yet. */
const STREAMS_MAX = 20
const LIMIT_MAX = 200
const LIMIT = 50

const Kind = oneOf([...TOPIC_KINDS, 'unknown'])
const Filter = { site_id: Type.Optional(PAGE_ID), edge_id: Type.Optional(PAGE_ID), kind: Type.Optional(orBlank(Kind)) }
type FilterQuery = Static<ReturnType<typeof strict<typeof Filter>>>

export const monitorRoutes = (monitor: MqttMonitor, layout: PageLayout): Route[] => [
  pageRoute(monitor, layout),
  snapshotRoute(monitor),
  streamRoute(monitor),
]

/** Blank fields of the form let all pass. */
function filterOf({ site_id, edge_id, kind }: FilterQuery): MessageFilter {
  return { ...(site_id && { site_id }), ...(edge_id && { edge_id }), ...(kind && { kind }) }
}

const pageRoute = (monitor: MqttMonitor, layout: PageLayout) =>
  route({
    method: 'GET',
    path: '/mqtt',
    auth: 'viewer',
    summary: 'The page of MQTT messages',
    query: strict(Filter),
    handle: call => {
      const filter = filterOf(call.query)
      const { messages } = monitor.messages(0, filter, LIMIT)
      const model = { messages, stats: monitor.stats(), filter, here: layout.here() }
      return layout.document(call, { title: say`MQTT messages`, current: '/mqtt' }, monitorBody(model))
    },
  })

const snapshotRoute = (monitor: MqttMonitor) =>
  route({
    method: 'GET',
    path: '/api/mqtt/monitor',
    auth: 'viewer',
    summary: 'The last MQTT messages of this hub, oldest first; `after` gives those since a message',
    query: strict({
      ...Filter,
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT })),
    }),
    reply: MONITOR_ANSWER,
    handle: ({ query: { after = 0, limit = LIMIT, ...filter } }) => {
      const { messages, dropped } = monitor.messages(after, filterOf(filter), limit)
      return { ok: true, ...statsView(monitor.stats(), dropped), recent: messages.map(messageView) }
    },
  })

function streamRoute(monitor: MqttMonitor): Route {
  let streams = 0
  return route({
    method: 'GET',
    path: '/api/mqtt/monitor/stream',
    auth: 'viewer',
    summary: 'MQTT messages as server-sent events: message, connection and stats',
    answers: ['text/event-stream'],
    query: strict(Filter),
    problems: ['not_ready'],
    handle: ({ query, request, reply }) => {
      if (streams >= STREAMS_MAX) throw new Problem('not_ready', `${STREAMS_MAX} streams are open already; ask for the snapshot`)
      streams++
      const stream = monitorStream(monitor, filterOf(query), lastEventOf(request.headers['last-event-id']))
      stream.once('close', () => streams--)
      return reply.header('content-type', EVENTS_TYPE).header('x-accel-buffering', 'no').send(stream)
    },
  })
}

/** @returns undefined for anything that is not the id of a message */
const lastEventOf = (header: string | string[] | undefined): number | undefined =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
