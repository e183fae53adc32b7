/** A site for the benchmarks of pages, in the process that calls it. */
import { pino } from 'pino'
import { createCentral } from '#shared/central/central.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { withoutInspection } from '#shared/central/inspection.ts'
import { openWorkspace, type Workspace } from '#shared/central/workspace.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { Route } from '#shared/node/http/route.ts'
import { openHttp } from '#shared/node/http/server.ts'
import { BUILDING, EQUIPMENT, POINTS, SETTING } from '../lib-fdd/rules-api-site.ts'

type Fill = (context: CentralContext, layout: PageLayout, stores: Workspace['stores']) => Promise<Route[]>
type BenchSite = { workspace: string; product: 'appliance' | 'hub'; fill?: Fill }

/**
 * Central with its pages over a building of 500 equipment, open on loopback.
 *
 * @param fill puts in what the site has besides, and returns the routes of the product
 * @returns its address
 */
export async function openBenchSite({ workspace, product, fill }: BenchSite): Promise<string> {
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
  const layout = createPageLayout(context, { product, name: 'Bench', first: product === 'hub' ? 'Fleet' : 'Home' })
  const { auth, audit, version } = context
  const all = [...routes, ...pageRoutes(context, layout), ...((await fill?.(context, layout, opened.stores)) ?? [])]
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
