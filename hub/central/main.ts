/** central: HTTP API, pages and rule engine; connects to the broker unless it is switched off. `--once` runs the rules and exits. */
import { localIngestRoutes } from '#shared/central/api/local-ingest.ts'
import { buildingsEvaluatedHere } from '#shared/central/fdd/rule-owner.ts'
import { runEverything } from '#shared/central/fdd/service.ts'
import { clockFor, complainOfCentral } from '#shared/central/process.ts'
import { openLog } from '#shared/node/log.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { openCentralFiles } from '../broker/files.ts'
import { CENTRAL_ENV } from './env.ts'
import { type HubCentral, openHubCentral, serveHub } from './open.ts'
import { complainOfTenants } from '../tenants/env.ts'

const usage =
  'central: API, pages and rule engine   [--once runs the rules over every building that no appliance runs them for and exits: 0, or 1 when one failed]'
const argv = process.argv.slice(2)
const { settings, effective } = settingsOrExit(usage, CENTRAL_ENV, process.env, argv, {
  flags: ['--once'],
  complain: settings => [...complainOfCentral(settings), ...complainOfTenants(settings)],
})
const recent = new RecentLog()
const log = openLog('central', settings.SERVICE_LOG_LEVEL, recent)

await runProcess(log, async () => {
  const once = argv.includes('--once')
  const connects = settings.SERVICE_MQTT_ENABLED && !once
  const hub = await openHubCentral(settings, {
    service: 'central',
    effective,
    recent,
    clock: clockFor(settings),
    log,
    files: connects ? await openCentralFiles(settings.SERVICE_MQTT_CERT_DIR, log) : undefined,
    broker: { host: settings.SERVICE_MQTT_HOST, port: settings.SERVICE_MQTT_PORT },
  })
  if (once) process.exit(await runOnce(hub))
  const { central, ingestService, host } = hub
  const localIngest = localIngestRoutes(central.context, ingestService, settings.SERVICE_LOCAL_INGEST_TOKEN)
  const servers = await serveHub(settings, { central, host, routes: layout => [...hub.routes(layout), ...localIngest] }, log)
  return [...hub.services, ...hub.connections, ...servers]
})

/** @returns the exit code: 1 when a rule or a building failed */
async function runOnce({ central: { context }, services }: HubCentral): Promise<number> {
  const reports = await runEverything(context, 'request')
  const failed = reports.length < buildingsEvaluatedHere(context).length || reports.some(({ rules_failed }) => rules_failed > 0)
  for (const service of services.toReversed()) await service.stop()
  return failed ? 1 : 0
}
