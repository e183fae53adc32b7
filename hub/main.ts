/** The hub: broker, central and pages in one process. */
import { clockFor, complainOfCentral } from '#shared/central/process.ts'
import { heartbeatService } from '#shared/node/heartbeat.ts'
import { openLog } from '#shared/node/log.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { brokerService } from './broker/broker.ts'
import { openBrokerFiles, openCentralFiles } from './broker/files.ts'
import { auditOfHub, openHubCentral, serveHub } from './central/open.ts'
import { estService } from './enrol/est.ts'
import { HUB_ENV } from './env.ts'
import { complainOfTenants } from './tenants/env.ts'

const usage = 'hub: gathers appliances over MQTTS and shows the fleet'
const { settings, effective } = settingsOrExit(usage, HUB_ENV, process.env, process.argv.slice(2), {
  complain: settings => [...complainOfCentral(settings), ...complainOfTenants(settings)],
})
const recent = new RecentLog()
const log = openLog('hub', settings.SERVICE_LOG_LEVEL, recent)

await runProcess(log, async () => {
  const {
    SERVICE_MQTT_BIND: host,
    SERVICE_MQTT_PORT: port,
    SERVICE_MQTT_CERT_DIR: certificates,
    SERVICE_EST_PORT: estPort,
  } = settings
  const files = await openBrokerFiles(certificates, log)
  const broker = brokerService({ host, port, files, log })
  const hub = await openHubCentral(settings, {
    service: 'hub',
    effective,
    recent,
    clock: clockFor(settings),
    log,
    files: await openCentralFiles(certificates, log),
    broker: { host: host === '0.0.0.0' ? '127.0.0.1' : host, port, refused: broker.refused },
    estPort,
  })
  const heartbeat = heartbeatService(settings.SERVICE_HEARTBEAT_FILE, () => true, log)
  const audit = auditOfHub(hub.central.context.audit, Date.now)
  const est = estPort === undefined ? [] : [estService({ host, port: estPort, tls: files.tls, ...hub.enrol, audit, log })]
  const watched = [files.tls, files.revoked]
  return [...hub.services, ...watched, broker, ...hub.connections, ...est, ...(await serveHub(settings, hub, log)), heartbeat]
})
