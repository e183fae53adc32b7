/** central: HTTP API, pages and rule engine; connects to the broker unless it is switched off. `--once` runs the rules and exits. */
import { hostname } from 'node:os'
import { localIngestRoutes } from '#shared/central/api/local-ingest.ts'
import { buildingsEvaluatedHere } from '#shared/central/fdd/rule-owner.ts'
import { runEverything } from '#shared/central/fdd/service.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { clockFor, complainOfCentral } from '#shared/central/process.ts'
import { openLog } from '#shared/node/log.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { centralIdentity, openCentralFiles, readCentralFiles } from '../broker/files.ts'
import { complainOfCluster } from '../cluster/env.ts'
import { joinCluster } from '../cluster/replica.ts'
import { CENTRAL_ENV } from './env.ts'
import { type HubCentral, openHubCentral, serveHub } from './open.ts'
import { complainOfTenants } from '../tenants/env.ts'

const usage =
  'central: API, pages and rule engine   [--once runs the rules over every building that no appliance runs them for and exits: 0, or 1 when one failed]'
const argv = process.argv.slice(2)
const { settings, effective } = settingsOrExit(usage, CENTRAL_ENV, process.env, argv, {
  flags: ['--once'],
  complain: settings => [...complainOfCentral(settings), ...complainOfTenants(settings), ...complainOfCluster(settings)],
})
const recent = new RecentLog()
const log = openLog('central', settings.SERVICE_LOG_LEVEL, recent)

const ONCE_IN_CLUSTER =
  '--once: not with SERVICE_CLUSTER_URL, for the active hub runs the rules; POST /api/fdd/run starts a run there'

await runProcess(log, async () => {
  const once = argv.includes('--once')
  if (once && settings.SERVICE_CLUSTER_URL !== undefined) throw new Error(ONCE_IN_CLUSTER)
  const connects = settings.SERVICE_MQTT_ENABLED && !once
  const replica = await joinClusterOf(settings)
  const hub = await openHubCentral(settings, {
    service: 'central',
    effective,
    recent,
    clock: clockFor(settings),
    log,
    files: connects ? await openCentralFiles(settings.SERVICE_MQTT_CERT_DIR, log) : undefined,
    broker: { host: settings.SERVICE_MQTT_HOST, port: settings.SERVICE_MQTT_PORT },
    replica,
  })
  if (once) process.exit(await runOnce(hub))
  const { central, ingestService, host, settled } = hub
  const localIngest = localIngestRoutes(central.context, ingestService, settings.SERVICE_LOCAL_INGEST_TOKEN)
  const routes = (layout: PageLayout) => [...hub.routes(layout), ...localIngest]
  const servers = await serveHub(settings, { central, host, settled, routes }, log)
  return [...hub.services, ...hub.connections, ...servers]
})

/** @returns undefined where this process works alone; else it is the active one of its site now, and ends when it is no longer */
async function joinClusterOf({ SERVICE_CLUSTER_URL: url, SERVICE_CLUSTER_DIR: folder, ...more }: typeof settings) {
  if (url === undefined || folder === undefined) return undefined
  const onLost = (reason: string) => {
    log.fatal(`this is no longer the active hub: ${reason}`)
    process.exit(1)
  }
  const onHomeWaits = () => {
    log.info('this is no longer the active hub: the one of the home machine goes on')
    process.kill(process.pid, 'SIGTERM')
  }
  const site_id = more.SERVICE_MQTT_ENABLED ? await siteOf(more.SERVICE_MQTT_CERT_DIR) : undefined
  const holder = `${hostname()} (process ${process.pid})`
  const { SERVICE_CLUSTER_ADDRESS: address, SERVICE_CLUSTER_HOME: isHome } = more
  return joinCluster({ url, folder, site_id, holder, address, isHome, log, onLost, onHomeWaits })
}

/** @returns undefined for a hub of all sites */
async function siteOf(certificates: string): Promise<string | undefined> {
  const { site_id } = centralIdentity((await readCentralFiles(certificates)).cert_pem)
  return site_id === '*' ? undefined : site_id
}

/** @returns the exit code: 1 when a rule or a building failed */
async function runOnce({ central: { context }, services }: HubCentral): Promise<number> {
  const { reports } = await runEverything(context, 'request')
  const failed = reports.length < buildingsEvaluatedHere(context).length || reports.some(({ rules_failed }) => rules_failed > 0)
  for (const service of services.toReversed()) await service.stop()
  return failed ? 1 : 0
}
