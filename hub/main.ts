/** The hub: broker, central and pages in one process. */
import type { Central } from '#shared/central/central.ts'
import { clockFor, complainOfCentral, openCentralFor, serveCentral } from '#shared/central/process.ts'
import { ingestDesk } from '#shared/central/ingest-desk.ts'
import { metricsService } from '#shared/central/metrics.ts'
import { pollStatusRoute } from '#shared/central/routes/poll.ts'
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { brokerService } from './broker/broker.ts'
import { readBrokerFiles, readCentralFiles } from './broker/files.ts'
import { openConnectors } from './connectors/open.ts'
import { HUB_ENV } from './env.ts'
import { hubHealth } from './ingest/health.ts'
import { ingestService } from './ingest/ingest.ts'
import { hubOverrides } from './pages/overrides.ts'
import { fleetRoutes } from './pages/routes.ts'

const usage = 'hub: gathers appliances over MQTTS and shows the fleet'
const { settings, effective } = settingsOrExit(usage, HUB_ENV, process.env, process.argv.slice(2), {
  complain: complainOfCentral,
})
const log = openLog('hub', settings.SERVICE_LOG_LEVEL)
const clock = clockFor(settings)
const refuse = (error: Error) => exitWith([error.message])

const certificates = settings.SERVICE_MQTT_CERT_DIR
const brokerFiles = await readBrokerFiles(certificates).catch(refuse)
const centralFiles = await readCentralFiles(certificates).catch(refuse)
const central: Central = await openCentralFor(settings, {
  service: 'hub',
  effective,
  clock,
  log,
  scheduled: true,
  onFindings: () => undefined,
  health: hubHealth(() => ({ edges: context.edges, desk, broker: ingest })),
}).catch(refuse)
const { context, db } = central
const { model, edges } = context
const desk = ingestDesk({ inbox: openInbox(db), model, edges, clock, log })

const { SERVICE_MQTT_BIND: host, SERVICE_MQTT_PORT: port } = settings
const broker = brokerService({ host, port, ...brokerFiles, log })
const own = host === '0.0.0.0' ? '127.0.0.1' : host
const {
  asked,
  routes: connectorRoutes,
  onResponse,
  service: connectors,
} = openConnectors({
  edges,
  files: centralFiles,
  publish: (topic, body) => ingest.publish(topic, body),
})
const ingest = ingestService({ broker: { host: own, port }, ...centralFiles, desk, onResponse, log })
const http = await serveCentral(settings, {
  central,
  shell: { house: 'hub', name: settings.SERVICE_SITE_ID, first: 'Fleet' },
  routes: shell => [
    ...fleetRoutes(context, shell),
    pollStatusRoute(desk),
    ...connectorRoutes,
    ...hubOverrides({ context, shell, connectors: asked }),
  ],
  log,
})
const metrics = metricsService(context, settings.SERVICE_METRICS_BIND, log)
await runUntilSignal([...central.services, desk, ...central.schedule, broker, ingest, connectors, metrics, http], log)
