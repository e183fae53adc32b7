/** The whole appliance: drivers, history, rules, pages, and the uplink to a hub. */
import { readHardware } from '#shared/node/machine-hardware.ts'
import { message } from '#shared/node/http/language.ts'
import { join } from 'node:path'
import { createIngestService } from '#shared/central/ingest-service.ts'
import { healthOf } from '#shared/central/api/health.ts'
import { metricsService } from '#shared/central/metrics.ts'
import {
  applyRestoreOf,
  clockFor,
  complainOfCentral,
  createCentralOf,
  endProcess,
  serveCentral,
} from '#shared/central/process.ts'
import { heartbeatService } from '#shared/node/heartbeat.ts'
import { openLog } from '#shared/node/log.ts'
import { RecentLog } from '#shared/node/recent-log.ts'
import { runProcess } from '#shared/node/service.ts'
import { settingsOrExit } from '#shared/node/settings.ts'
import { readVersion } from '#shared/node/version.ts'
import { bacnetDiscovery } from './drivers/bacnet/discovery/discovery-wire.ts'
import { readBind } from './drivers/bacnet/transport.ts'
import { bacnetProtocol } from './drivers/bacnet/protocol.ts'
import { modbusProtocol } from './drivers/modbus/protocol.ts'
import { APPLIANCE_ENV } from './env.ts'
import { boardCounts } from './pages/board-counts.ts'
import { applianceRoutes, OWN_PAGES } from './pages/routes.ts'
import { runJournalCommand } from './priority/journal-command.ts'
import { journalSnapshots } from './priority/journal-snapshots.ts'
import { openPriority } from './priority/priority-api.ts'
import { boardHistory } from './services/board-history.ts'
import { openEdge } from './services/edge.ts'
import { noneYet, openEdgeConfig, readEdgeKits } from './services/edge-config.ts'
import { catalogueWatch } from './services/field-catalogue.ts'
import { applianceHealth, isPolling } from './services/health-checks.ts'
import { bacnetSettings } from './drivers/bacnet/pages/bacnet-settings.ts'
import { modelSync } from './services/model-sync.ts'
import { findingsSender, localRules } from './services/local-rules.ts'
import { storagePlaces } from './services/reading-storage.ts'
import { inspectionService } from './system/inspection-service.ts'
import { updateOperations } from './system/update-operations.ts'
import { openEnrolment } from './kit/enrolment.ts'
import { hubTimeService } from './services/hub-time.ts'
import { bacnetWay, modbusPorts } from './core/system/firewall.ts'
import { openNetwork } from './system/network.ts'
import { boxRestore } from './store/box-restore.ts'
import { openBoxWorkspace } from './store/box-workspace.ts'
import { trialService } from './system/trial.ts'
import { openUpdates } from './system/updates.ts'

const [command, ...words] = process.argv.slice(2)
if (command === 'journal') await runJournalCommand(words, process.env)

const usage = 'appliance: reads a building, finds its faults and explains them; `journal` checks and exports the priority history'
const { settings, effective } = settingsOrExit(usage, APPLIANCE_ENV, process.env, process.argv.slice(2), {
  complain: complainOfCentral,
})
const recent = new RecentLog()
const log = openLog('appliance', settings.SERVICE_LOG_LEVEL, recent)

await runProcess(log, async () => {
  await applyRestoreOf(settings, log)
  const [clock, bind, version] = [clockFor(settings), readBind(settings), readVersion()]
  const updates = openUpdates(settings.SERVICE_UPDATE_DIR)
  const network = openNetwork(settings.SERVICE_NETWORK_DIR, updates.isUnderWay)
  const openPorts = () => {
    const system = network.current()
    return system && modbusPorts(system)
  }
  const bacnet = bacnetProtocol({ bind, now: clock.now, log })
  const modbus = modbusProtocol({ now: clock.now, openPorts })
  const protocols = [bacnet, modbus]
  const { site, siteFile, levels, catalogue } = await openEdgeConfig({
    workspace: settings.SERVICE_WORKSPACE,
    protocols,
    effective,
    log,
  })
  const { site_id, edge_id, building } = site
  const kits = await readEdgeKits(settings, site, log).catch(noneYet)

  const workspace = await openBoxWorkspace(settings, { clock, log })
  const { model, edges, edgeClaims: claims } = workspace.stores
  const priority = await openPriority({
    settings,
    catalogue,
    levels,
    bacnet,
    site_id,
    edge_id,
    kit: kits?.current(),
    inspection: inspectionService(() => central.context, Date.now),
    version,
    clock,
    log,
  })

  const ingest = createIngestService({ inbox: workspace.inbox, model, edges, claims, clock, log })
  const syncing = modelSync({ model, site, catalogue, clock })
  const rules = localRules({ workspace, site, catalogue, clock })
  const { journal } = priority
  const operations = {
    ...priority.operations,
    ...(settings.SERVICE_HUB_UPDATES && updates.isAvailable && updateOperations(updates, version)),
  }
  const edge = await openEdge({
    settings,
    site,
    catalogue,
    protocols,
    kits,
    version,
    operations,
    rules,
    system: updates.report,
    clock,
    log,
  })
  const central = createCentralOf(settings, workspace, {
    ...{ service: 'appliance', effective, recent, clock, log, site_id, scheduled: true },
    sources: { 'poll.json': () => edge.polling.pollStatus(), 'uplink.json': () => edge.uplink.hubState() },
    storage: storagePlaces(settings),
    restore: boxRestore(site),
    // The system of the box starts the program again whenever it ends.
    ...(updates.isAvailable && { restart: endProcess }),
    priority: journalSnapshots({ journal: () => journal, catalogue: catalogue.current, building, levels }),
    onFindings: findingsSender(edge.storage.outbox, log),
    live: (building_id, point_id) => (building_id === building.building_id ? edge.polling.newestReading(point_id) : undefined),
    health: applianceHealth({
      ...{ edge, journal, ingest, edges, clock, hardware: await readHardware() },
      healthBefore: updates.isAvailable ? () => updates.healthBefore(version) : undefined,
    }),
  })
  const { context } = central
  const discovery = bacnetDiscovery({ enabled: settings.SERVICE_BACNET_DISCOVERY, bind, bacnet, catalogue })
  const pollStatus = () => edge.polling.pollStatus()
  const counted = { context, pollStatus, hubState: edge.uplink.hubState, journal, levels }
  const history = boardHistory(clock, boardCounts(counted))
  const enrolment = await openEnrolment({
    ...{ hub: kits?.current().edge.broker_host, edge: { site_id, edge_id }, log },
    isAvailable: settings.SERVICE_MQTT_ENABLED || settings.SERVICE_SETTINGS_FILE !== undefined,
    folder: join(settings.SERVICE_EDGE_STORE_DIR, 'kit'),
    places: {
      kit: settings.SERVICE_EDGE_KIT_DIR,
      workspace: settings.SERVICE_WORKSPACE,
      settings: settings.SERVICE_SETTINGS_FILE,
    },
    restart: endProcess,
  })
  const parts = {
    context,
    history,
    site,
    siteFile,
    levels,
    catalogue,
    bacnet,
    bacnetSettings: bacnetSettings({
      ...{ effective, file: settings.SERVICE_SETTINGS_FILE, restart: endProcess },
      way: () => {
        const system = network.current()
        return system && bacnetWay(system)
      },
    }),
    modbus,
    edge,
    ingest,
    priority,
    discovery,
    updates,
    network,
    enrolment,
  }
  const http = await serveCentral(settings, {
    central,
    layout: { product: 'appliance', name: building.name, first: message`Home`, more: OWN_PAGES },
    routes: layout => applianceRoutes({ ...parts, localIngestToken: settings.SERVICE_LOCAL_INGEST_TOKEN }, layout),
    log,
  })
  const first = [...workspace.services, ...central.services, ingest, syncing, ...edge.storageServices, ...central.schedule]
  const watching = [discovery, catalogueWatch(catalogue, log), history, enrolment.service]
  const field = [...edge.pollServices, ...priority.services, ...watching]
  const trial = trialService({ updates, version, checks: async () => (await healthOf(context)).checks, log })
  const heartbeat = heartbeatService(settings.SERVICE_HEARTBEAT_FILE, () => isPolling(edge.polling.pollStatus()), log)
  const hubTime = hubTimeService({ ...edge.uplink, file: settings.SERVICE_CLOCK_FILE, log })
  const serving = [metricsService(context, http.requests, settings.SERVICE_METRICS_BIND, log), http]
  return [...first, ...field, ...serving, heartbeat, hubTime, trial]
})
