/** The whole appliance: drivers, history, rules, pages, and the way to a hub. */
import { join } from 'node:path'
import type { Central } from '#shared/central/central.ts'
import { ingestDesk } from '#shared/central/ingest-service.ts'
import { clockFor, complainOfCentral, createCentralOf, openWorkspaceOf, serveCentral } from '#shared/central/process.ts'
import { metricsService } from '#shared/central/metrics.ts'
import { earlierTrouble } from '#shared/core/storage-status.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, refuseSecretArguments, settingsOrExit } from '#shared/node/settings.ts'
import { bindOf } from './drivers/bacnet/bind.ts'
import { bacnetProtocol } from './drivers/bacnet/protocol.ts'
import { modbusProtocol } from './drivers/modbus/protocol.ts'
import { APPLIANCE_ENV, UPLINK_VARIABLES } from './env.ts'
import { applianceRoutes, OWN_PAGES } from './pages/routes.ts'
import { openPriorityApi, type PriorityApi } from './priority/priority-api.ts'
import { JOURNAL_USAGE, journalCommand } from './priority/journal-command.ts'
import { openPriorityHistory } from './priority/priority-history.ts'
import { journalSnapshots } from './priority/journal-snapshots.ts'
import { bacnetDiscovery } from './discovery/bacnet.ts'
import { catalogueWatch, factOfPoint } from './services/field-catalogue.ts'
import { openField } from './services/field.ts'
import { journalCheck, pollCheck, wayCheck } from './services/health-checks.ts'
import { fieldModel, modelSync } from './services/model-sync.ts'
import { pollService } from './services/poll.ts'
import { lookUpFindings, openUplink } from './services/uplink.ts'
import { historianSink } from './sinks/historian-sink.ts'

const [command, ...words] = process.argv.slice(2)
if (command === 'journal') {
  refuseSecretArguments(words)
  const { SERVICE_EDGE_STORE_DIR } = UPLINK_VARIABLES
  const asked = words.filter(word => word === '--help')
  const { settings } = settingsOrExit(JOURNAL_USAGE, { SERVICE_EDGE_STORE_DIR }, process.env, asked)
  process.stdout.on('error', () => process.exit(1))
  const to = (stream: NodeJS.WriteStream) => (text: string) => new Promise<void>(resolve => stream.write(text, () => resolve()))
  const dir = join(settings.SERVICE_EDGE_STORE_DIR, 'priority')
  process.exit(await journalCommand(dir, words, to(process.stdout), to(process.stderr)))
}

const usage = 'appliance: reads a building, finds its faults, shows why; `journal` looks after the priority history'
const { settings, effective } = settingsOrExit(usage, APPLIANCE_ENV, process.env, process.argv.slice(2), {
  complain: complainOfCentral,
})
const log = openLog('appliance', settings.SERVICE_LOG_LEVEL)
const clock = clockFor(settings)
const toHub = failureLog(log, 'findings are not kept for the hub', 'findings are kept for the hub again')
const refuse = (error: Error) => exitWith([error.message])

const bind = bindOf(settings)
const bacnet = bacnetProtocol({ bind, now: clock.now, log })
const modbus = modbusProtocol({ now: clock.now })
const protocols = [bacnet, modbus]
const { site, catalogue } = await openField({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log }).catch(refuse)
const { site_id, edge_id, building } = site

const workspace = await openWorkspaceOf(settings, { clock, log }).catch(refuse)
const central: Central = createCentralOf(settings, workspace, {
  service: 'appliance',
  effective,
  clock,
  log,
  site_id,
  scheduled: true,
  priority: journalSnapshots({ journal: () => priority.journal, catalogue: () => catalogue.current(), site }),
  onFindings: (findings, withdrawn) =>
    uplink.putFindings(findings, withdrawn).then(toHub.worked, error => {
      toHub.failed(error)
      throw error
    }),
  health: {
    checks: {
      poll: () => {
        const stored = polling.storing()
        const trouble = earlierTrouble(stored.trouble, uplink.historyTrouble())
        return pollCheck(polling.pollStatus(), { ...stored, ...(trouble && { trouble }) }, clock.now())
      },
      hub: () => wayCheck(uplink.forwardState()),
      priority_history: () => journalCheck(priority.journal.state()),
      edge_ids: () => desk.edgeIds(),
    },
    counters: () => ({ edges: edges.list().length, ...desk.counters() }),
  },
})
const { context } = central
const { model, edges } = context
const desk = ingestDesk({
  inbox: workspace.inbox,
  model,
  edges,
  claims: context.edgeClaims,
  clock,
  log,
})

const statesOf = factOfPoint(catalogue, ({ states }) => states)
const uplink = await openUplink({
  settings,
  history: historianSink({
    historian: workspace.historian,
    misdated: context.misdated,
    building_id: building.building_id,
    statesOf,
    clock,
    needRoom: workspace.ballast.needRoom,
  }),
  self: {
    site_id,
    edge_id,
    runs_rules: true,
    model: () => {
      const { building_id } = building
      const { building: known, equipment, points } = fieldModel(site, catalogue.current(), model.points(building_id))
      return { name: known.name, version: context.version, building: known, equipment, points }
    },
    pollStatus: () => polling.pollStatus(),
  },
  lookUpFindings: ids => lookUpFindings(context.results, ids),
  answer: payload => api.answer(payload),
  catalogue,
  clock,
  log,
}).catch(refuse)

const syncing = modelSync({ model, site, catalogue, clock })
const polling = pollService({ catalogue: catalogue.current(), protocols, sinks: uplink.sinks, clock, log })
catalogue.onChange(polling.reload)
const priority = await openPriorityHistory({ settings, catalogue, bacnet, clock, log })
const { kit } = uplink
const api: PriorityApi = await openPriorityApi({
  settings,
  history: priority,
  site_id,
  edge_id,
  kit,
  version: context.version,
  log,
}).catch(refuse)
const discovery = bacnetDiscovery({ enabled: settings.SERVICE_BACNET_DISCOVERY, bind, bacnet, catalogue })
const parts = { context, site, catalogue, modbus, polling, desk, uplink, priority, api, discovery }
const http = await serveCentral(settings, {
  central,
  shell: { house: 'appliance', name: building.name, first: 'Home', more: OWN_PAGES },
  routes: shell => applianceRoutes({ ...parts, localIngestToken: settings.SERVICE_LOCAL_INGEST_TOKEN }, shell),
  log,
})
const watching = catalogueWatch(catalogue, log)
await runUntilSignal(
  [
    ...workspace.services,
    ...central.services,
    desk,
    syncing,
    ...uplink.services,
    ...central.schedule,
    polling,
    uplink.announcing,
    priority.service,
    ...api.services,
    discovery,
    watching,
    metricsService(context, settings.SERVICE_METRICS_BIND, log),
    http,
  ],
  log,
)
