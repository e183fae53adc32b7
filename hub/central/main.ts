/** central: HTTP API, pages and rule engine; hears the broker unless it is told not to. `--once` runs the rules and exits. */
import { judgedHere } from '#shared/central/fdd/rule-owner.ts'
import { runEverything } from '#shared/central/fdd/service.ts'
import { clockFor, complainOfCentral, serveCentral } from '#shared/central/process.ts'
import { metricsService } from '#shared/central/metrics.ts'
import { localIngestRoutes } from '#shared/central/api/local-ingest.ts'
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { readCentralFiles } from '../broker/files.ts'
import { CENTRAL_ENV } from './env.ts'
import { openHubCentral } from './open.ts'

const usage =
  'central: API, pages and rule engine   [--once runs the rules over every building that no appliance runs them for and exits: 0, or 1 when one failed]'
const argv = process.argv.slice(2)
const { settings, effective } = settingsOrExit(usage, CENTRAL_ENV, process.env, argv, {
  flags: ['--once'],
  complain: complainOfCentral,
})
const log = openLog('central', settings.SERVICE_LOG_LEVEL)
const refuse = (error: Error) => exitWith([error.message])
const once = argv.includes('--once')
const hears = settings.SERVICE_MQTT_ENABLED && !once

const files = hears ? await readCentralFiles(settings.SERVICE_MQTT_CERT_DIR).catch(refuse) : undefined
const broker = { host: settings.SERVICE_MQTT_HOST, port: settings.SERVICE_MQTT_PORT }
const parts = { service: 'central', effective, clock: clockFor(settings), log, files, broker }
const { central, desk, hearing, routes } = await openHubCentral(settings, parts).catch(refuse)
const { context, services, schedule } = central
if (once) {
  const reports = await runEverything(context, 'request')
  const failed = reports.length < judgedHere(context).length || reports.some(({ rules_failed }) => rules_failed > 0)
  for (const service of services.toReversed()) await service.stop()
  process.exit(failed ? 1 : 0)
}
const http = await serveCentral(settings, {
  central,
  shell: { house: 'hub', name: settings.SERVICE_SITE_ID, first: 'Fleet' },
  routes: shell => [...routes(shell), ...localIngestRoutes(context, desk, settings.SERVICE_LOCAL_INGEST_TOKEN)],
  log,
})
const metrics = metricsService(context, settings.SERVICE_METRICS_BIND, log)
await runUntilSignal([...services, desk, ...schedule, ...hearing, metrics, http], log)
