/** The whole appliance: drivers, history, rules, pages, and the way to a hub. */
import { join } from 'node:path'
import type { Central } from '#shared/central/central.ts'
import { ingestDesk } from '#shared/central/ingest-desk.ts'
import { clockFor, complainOfCentral, openCentralFor, serveCentral } from '#shared/central/process.ts'
import { metricsService } from '#shared/central/metrics.ts'
import { localIngestRoutes } from '#shared/central/routes/local-ingest.ts'
import { connectorsRoutes } from '#shared/central/routes/connectors.ts'
import { pollStatusRoute } from '#shared/central/routes/poll.ts'
import { mergePollStatus } from '#shared/core/poll/merged.ts'
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { bindOf } from './drivers/bacnet/bind.ts'
import { bacnetProtocol } from './drivers/bacnet/protocol.ts'
import { modbusProtocol } from './drivers/modbus/protocol.ts'
import { APPLIANCE_ENV, UPLINK_VARIABLES } from './env.ts'
import { devicePages } from './page/devices.ts'
import { discoverRoutes } from './page/discover.ts'
import { homeRoutes } from './page/home.ts'
import { modbusRoutes } from './page/modbus.ts'
import { overridesPages } from './page/overrides.ts'
import { overridesBook } from './page/overrides-book.ts'
import { overridesSummary } from './page/overrides-tile.ts'
import { openPriorityApi, type PriorityApi } from './priority/api.ts'
import { JOURNAL_USAGE, journalCommand } from './priority/journal-command.ts'
import { openPriorityHistory } from './priority/scanner.ts'
import { priorityVisits } from './priority/visits.ts'
import { bacnetDiscovery } from './services/discovery-bacnet.ts'
import { discoveryRoutes } from './services/discovery-routes.ts'
import { deviceRoutes } from './services/devices-routes.ts'
import { catalogueWatch, factOfPoint } from './services/field-catalogue.ts'
import { openField } from './services/field.ts'
import { journalCheck, pollCheck, wayCheck } from './services/health-checks.ts'
import { fieldModel, modelSync } from './services/model-sync.ts'
import { pollService } from './services/poll.ts'
import { openUplink } from './services/uplink.ts'
import { historianSink } from './sinks/historian.ts'

/** What the page of devices offers beside the list. */
const FIND_LINKS = [
  { href: '/discover', text: 'Discover BACnet devices' },
  { href: '/modbus', text: 'Try Modbus registers' },
]

const [command, ...words] = process.argv.slice(2)
if (command === 'journal') {
  const { SERVICE_EDGE_STORE_DIR } = UPLINK_VARIABLES
  const asked = words.filter(word => word === '--help')
  const { settings } = settingsOrExit(JOURNAL_USAGE, { SERVICE_EDGE_STORE_DIR }, process.env, asked)
  process.stdout.on('error', () => process.exit(1))
  const out = (text: string) => new Promise<void>(resolve => process.stdout.write(text, () => resolve()))
  process.exit(await journalCommand(join(settings.SERVICE_EDGE_STORE_DIR, 'priority'), words, out))
}

const usage = 'appliance: reads a building, finds its faults, shows why; `journal` looks after the priority history'
const { settings, effective } = settingsOrExit(usage, APPLIANCE_ENV, process.env, process.argv.slice(2), {
  complain: complainOfCentral,
})
const log = openLog('appliance', settings.SERVICE_LOG_LEVEL)
const clock = clockFor(settings)
const refuse = (error: Error) => exitWith([error.message])

const bind = bindOf(settings)
const bacnet = bacnetProtocol({ bind, now: clock.now, log })
const modbus = modbusProtocol({ now: clock.now })
const protocols = [bacnet, modbus]
const { site, catalogue } = await openField({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log }).catch(refuse)
const { site_id, edge_id, building } = site

const central: Central = await openCentralFor(settings, {
  service: 'appliance',
  effective,
  clock,
  log,
  site_id,
  scheduled: true,
  priority: priorityVisits({ journal: () => priority.journal, catalogue: () => catalogue.current(), site }),
  onFindings: findings =>
    void uplink.putFindings(findings).catch(error => log.error({ err: error }, 'findings are not kept for the hub')),
  health: {
    checks: {
      poll: () => pollCheck(polling.pollStatus(), polling.sinkTrouble()),
      // Anybody may ask for health; the reasons, which name hosts, stand on Home.
      hub: () => {
        const { detail: _detail, note: _note, ...check } = wayCheck(uplink.forwardState())
        return check
      },
      priority_history: () => journalCheck(priority.journal.state()),
    },
    counters: () => ({ edges: edges.list().length, ...desk.counters() }),
  },
}).catch(refuse)
const { context, historian, db } = central
const { model, edges } = context
const desk = ingestDesk({ inbox: openInbox(db), model, edges, clock, log })

const statesOf = factOfPoint(catalogue, ({ states }) => states)
const uplink = await openUplink({
  settings,
  history: historianSink(historian, building.building_id, statesOf),
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
  answer: payload => api.answer(payload),
  catalogue,
  clock,
  log,
}).catch(refuse)

const syncing = modelSync({ model, site, catalogue })
const polling = pollService({ catalogue: catalogue.current(), protocols, sinks: uplink.sinks, clock, log })
catalogue.onChange(polling.reload)
const priority = await openPriorityHistory({ settings, catalogue, bacnet, clock, log })
const { kit } = uplink
const api: PriorityApi = await openPriorityApi({
  settings,
  history: priority,
  edge_id,
  kit,
  version: context.version,
  log,
}).catch(refuse)
const discovery = bacnetDiscovery({ enabled: settings.SERVICE_BACNET_DISCOVERY, bind, bacnet, catalogue })
const { pollStatus, pointStatus } = polling
const project = { name: building.name, version: context.version }
const devicePolls = () => mergePollStatus(pollStatus(), desk.flow.book.reported())
const devices = { catalogue, pollStatus: devicePolls, pointStatus, project, now: clock.now }
const identity = { name: building.name, edge_id, site_id }
const book = overridesBook(priority.journal)
const overrides = overridesSummary({ ...priority, book, site })
const sources = { identity, catalogue: catalogue.current, pollStatus, forwardState: uplink.forwardState, overrides }
const http = await serveCentral(settings, {
  central,
  shell: {
    house: 'appliance',
    name: building.name,
    first: 'Home',
    more: [
      { href: '/overrides', text: 'Overrides' },
      { href: '/devices', text: 'Devices' },
      { href: '/discover', text: 'Discover', operators: true },
      { href: '/modbus', text: 'Modbus', operators: true },
    ],
  },
  routes: shell => [
    ...homeRoutes(context, shell, sources),
    pollStatusRoute(desk, pollStatus),
    ...connectorsRoutes(api.own),
    ...api.routes,
    ...overridesPages({ ...priority, catalogue: catalogue.current, site, shell, book }),
    ...deviceRoutes(devices),
    ...devicePages({ context, shell, desk: devices, links: FIND_LINKS }),
    ...discoveryRoutes(discovery),
    ...discoverRoutes(discovery, shell),
    ...modbusRoutes({ catalogue: catalogue.current, modbus }, shell),
    ...localIngestRoutes(context, desk, settings.SERVICE_LOCAL_INGEST_TOKEN),
  ],
  log,
})
const watching = catalogueWatch(catalogue, log)
await runUntilSignal(
  [
    ...central.services,
    desk,
    syncing,
    ...uplink.services,
    ...central.schedule,
    polling,
    priority.service,
    ...api.services,
    discovery,
    watching,
    metricsService(context, settings.SERVICE_METRICS_BIND, log),
    http,
  ],
  log,
)
