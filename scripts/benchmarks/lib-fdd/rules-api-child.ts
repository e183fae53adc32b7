/** One side of `scripts/bench rules-api`, in a process of its own: central with its pages, or a bare server of the same bytes. */
import Fastify from 'fastify'
import { existsSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pino } from 'pino'
import { createCentral } from '#shared/central/central.ts'
import { withoutInspection } from '#shared/central/inspection.ts'
import { openWorkspace } from '#shared/central/workspace.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { wallClock } from '#shared/node/clock.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { BUILDING, EQUIPMENT, POINTS, SETTING } from './rules-api-site.ts'

export type Answer = { type: string; text: string }
export type Order = { workspace: string } | { answers: Record<string, Answer> }
/** CPU of this process and of those that it has started since it was asked last, and the longest time for which its loop stood, ms. */
export type Figures = { cpu_ms: number; loop_ms: number }

const delay = monitorEventLoopDelay({ resolution: 1 })
let before = 0
/** In which Linux counts CPU, ms. */
const TICK_MS = 10

process.once('message', (order: Order) => {
  void ('workspace' in order ? openOurs(order.workspace) : openPeer(order.answers)).then(url => {
    delay.enable()
    process.on('message', () => process.send!(figures()))
    process.send!(url)
  })
})
process.once('disconnect', () => process.exit())

function figures(): Figures {
  const { user, system } = process.cpuUsage()
  const total = (user + system) / 1e3 + childrenMs()
  const cpu_ms = total - before
  before = total
  const loop_ms = delay.max / 1e6
  delay.reset()
  return { cpu_ms, loop_ms }
}

/** 0 where the machine does not report it. */
function childrenMs(): number {
  const list = `/proc/self/task/${process.pid}/children`
  const pids = existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').filter(Boolean) : []
  const cpuOf = (pid: string) => {
    const [utime, stime] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
    return (Number(utime) + Number(stime)) * TICK_MS
  }
  return pids.reduce((sum, pid) => sum + cpuOf(pid), 0)
}

async function openOurs(workspace: string): Promise<string> {
  const log = pino({ level: 'error' })
  const own = { memoryMb: 192, clock: wallClock, log }
  const opened = await openWorkspace({ ...own, path: workspace, parquetRoot: undefined })
  const { context, routes, services } = createCentral(opened, {
    ...own,
    service: 'bench',
    version: '0.0.0+000000000000',
    inspection: withoutInspection(),
    site_id: BUILDING.site_id,
    auth: { secret: undefined, passwords: { admin: undefined, agent: undefined, viewer: undefined }, trustedProxies: [] },
    scheduled: false,
    onFindings: () => undefined,
    health: {
      checks: {},
      counters: () => ({ edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }),
    },
  })
  context.model.put({ building: BUILDING, equipment: EQUIPMENT, points: POINTS })
  context.paramSettings.put(SETTING)
  const layout = createPageLayout(context, { product: 'hub', name: 'Bench', first: 'Fleet' })
  const { auth, audit, version } = context
  const all = [...routes, ...pageRoutes(context, layout)]
  const http = await openHttp({
    name: 'bench',
    host: '127.0.0.1',
    port: 0,
    routes: all,
    auth,
    audit,
    log,
    version,
    trustedProxies: [],
  })
  for (const service of [...opened.services, ...services]) await service.start()
  await http.start()
  return http.url()
}

async function openPeer(answers: Record<string, Answer>): Promise<string> {
  const app = Fastify()
  app.get('*', (request, reply) => {
    const { type, text } = answers[request.url]!
    return reply.type(type).send(text)
  })
  return app.listen({ host: '127.0.0.1', port: 0 })
}
