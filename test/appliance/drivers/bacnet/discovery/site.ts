/** A box that discovers simulated devices on loopback: real transport, real catalogue on disk, API and pages. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { problemPages } from '#shared/central/pages/login.route.ts'
import { pageRoutes } from '#shared/central/pages/routes.ts'
import { createPageLayout } from '#shared/central/pages/create-layout.ts'
import { wallClock } from '#shared/node/clock.ts'
import type { PageLanguageOf } from '#shared/node/http/language.ts'
import { openHttp } from '#shared/node/http/server.ts'
import type { Route } from '#shared/node/http/route.ts'
import { bacnetProtocol } from '#appliance/drivers/bacnet/protocol.ts'
import { discoverRoutes } from '#appliance/drivers/bacnet/pages/discover.route.ts'
import { bacnetDiscovery } from '#appliance/drivers/bacnet/discovery/discovery-wire.ts'
import { discoveryRoutes } from '#appliance/drivers/bacnet/discovery/discovery-routes.ts'
import { fieldCatalogue } from '#appliance/services/field-catalogue.ts'
import { PollService } from '#appliance/services/poll-service.ts'
import { openCatalogue } from '#appliance/store/catalogue.ts'
import { type BacnetDevice, openBacnetDevice } from '#scripts/simulator/bacnet/device.ts'
import { objects } from './harness.ts'
import { openBoxCentral } from '../../../../support/sites/box-central.ts'
import { SILENT, site } from '../../../../support/sites/catalogue-site.ts'

export type DiscoverySite = Awaited<ReturnType<typeof openDiscoverySite>>

/**
 * @param enabled as `SERVICE_BACNET_DISCOVERY` says
 * @param pageLanguageOf without it pages are English
 */
export async function openDiscoverySite(enabled = true, pageLanguageOf?: PageLanguageOf) {
  const workspace = mkdtempSync(join(tmpdir(), 'plenum-discovery-'))
  const found: BacnetDevice[] = [
    await openBacnetDevice({ device_instance: 1001, name: 'AHU-1', objects: objects(30) }),
    await openBacnetDevice({ device_instance: 1002, name: 'VAV-7', objects: objects(10), maxApdu: 480 }),
  ]
  const central = await openBoxCentral(workspace)
  const { context, services } = central
  const bind = { address: '127.0.0.1', port: 0 }
  const bacnet = bacnetProtocol({ bind, now: Date.now, log: SILENT })
  const catalogue = fieldCatalogue(await openCatalogue(workspace, site, [bacnet]), SILENT)
  const polling = new PollService({
    catalogue: catalogue.current(),
    protocols: [bacnet],
    sinks: [],
    clock: wallClock,
    log: SILENT,
  })
  catalogue.onChange(next => polling.reload(next))
  const discovery = bacnetDiscovery({ enabled, bind, bacnet, catalogue })
  const more = [{ href: '/discover', text: 'Discover', for: 'operator' as const }]
  const layout = createPageLayout(context, { product: 'appliance', name: 'Riverside box', first: 'Home', more })
  const api: Route[] = discoveryRoutes(discovery)
  const http = await openHttp({
    name: 'discovery',
    host: '127.0.0.1',
    port: 0,
    routes: [...central.routes, ...pageRoutes(context, layout), ...api, ...discoverRoutes(discovery, layout)],
    auth: context.auth,
    audit: context.audit,
    log: SILENT,
    version: context.version,
    trustedProxies: [],
    problemPage: problemPages(layout),
    pageLanguageOf,
  })
  const running = [...services, polling, discovery, http]
  for (const service of running) await service.start()
  return {
    api,
    url: http.url(),
    context,
    catalogue,
    polling,
    discovery,
    /** Those that are there, as the form and the API take them. */
    addresses: found.map(({ host, port }) => `${host}:${port}`),
    /** The catalogue's bytes; empty before there are any. */
    file: () => readOr(join(workspace, 'field-devices.json')),
    async close() {
      for (const service of running.toReversed()) await service.stop()
      await Promise.all(found.map(device => device.close()))
      rmSync(workspace, { recursive: true, force: true })
    },
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
