/** The hub: broker, central and pages in one process. */
import { clockFor, complainOfCentral, serveCentral } from '#shared/central/process.ts'
import { metricsService } from '#shared/central/metrics.ts'
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { brokerService } from './broker/broker.ts'
import { readBrokerFiles, readCentralFiles } from './broker/files.ts'
import { openHubCentral } from './central/open.ts'
import { HUB_ENV } from './env.ts'

const usage = 'hub: gathers appliances over MQTTS and shows the fleet'
const { settings, effective } = settingsOrExit(usage, HUB_ENV, process.env, process.argv.slice(2), {
  complain: complainOfCentral,
})
const log = openLog('hub', settings.SERVICE_LOG_LEVEL)
const refuse = (error: Error) => exitWith([error.message])

const certificates = settings.SERVICE_MQTT_CERT_DIR
const brokerFiles = await readBrokerFiles(certificates).catch(refuse)
const files = await readCentralFiles(certificates).catch(refuse)
const { SERVICE_MQTT_BIND: host, SERVICE_MQTT_PORT: port } = settings
const own = host === '0.0.0.0' ? '127.0.0.1' : host
const parts = { service: 'hub', effective, clock: clockFor(settings), log, files, broker: { host: own, port } }
const { central, desk, hearing, routes } = await openHubCentral(settings, parts).catch(refuse)
const broker = brokerService({ host, port, ...brokerFiles, log })
const shell = { house: 'hub', name: settings.SERVICE_SITE_ID, first: 'Fleet' } as const
const http = await serveCentral(settings, { central, shell, routes, log })
const metrics = metricsService(central.context, settings.SERVICE_METRICS_BIND, log)
await runUntilSignal([...central.services, desk, ...central.schedule, broker, ...hearing, metrics, http], log)
