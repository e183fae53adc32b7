/** The whole appliance: drivers, history, rules, pages, and the way to a hub. */
import { clockFor, complainOfCentral, openCentralFor, serveCentral } from '#shared/central/process.ts'
import { openLog } from '#shared/node/log.ts'
import { runUntilSignal } from '#shared/node/service.ts'
import { exitWith, settingsOrExit } from '#shared/node/settings.ts'
import { bacnetProtocol } from './drivers/bacnet/protocol.ts'
import { modbusProtocol } from './drivers/modbus/protocol.ts'
import { APPLIANCE_ENV } from './env.ts'
import { homeRoutes } from './page/home.ts'
import { catalogueWatch, factOfPoint } from './services/field-catalogue.ts'
import { openField } from './services/field.ts'
import { fieldModel, modelSync } from './services/model-sync.ts'
import { pollService } from './services/poll.ts'
import { pollStatusRoute } from './services/poll-route.ts'
import { openUplink } from './services/uplink.ts'
import { historianSink } from './sinks/historian.ts'

const usage = 'appliance: reads a building, finds its faults, shows why'
const { settings, effective } = settingsOrExit(usage, APPLIANCE_ENV, process.env, process.argv.slice(2), {
  complain: complainOfCentral,
})
const log = openLog('appliance', settings.SERVICE_LOG_LEVEL)
const clock = clockFor(settings)
const refuse = (error: Error) => exitWith([error.message])

const bind = { address: settings.SERVICE_BACNET_BIND, port: settings.SERVICE_BACNET_PORT }
const protocols = [bacnetProtocol({ bind, now: clock.now, log }), modbusProtocol({ now: clock.now })]
const { site, catalogue } = await openField({ workspace: settings.SERVICE_WORKSPACE, protocols, effective, log }).catch(refuse)
const { site_id, edge_id, building } = site

const central = await openCentralFor(settings, {
  service: 'appliance',
  clock,
  log,
  site_id,
  scheduled: true,
  onFindings: findings =>
    void uplink.putFindings(findings).catch(error => log.error({ err: error }, 'findings are not kept for the hub')),
  health: {
    checks: {},
    counters: () => ({ edges: 0, ingest_ok: 0, ingest_duplicate: 0, ingest_rejected: 0, last_ingest_at: null }),
  },
}).catch(refuse)
const { context, historian } = central

const uplink = await openUplink({
  settings,
  site_id,
  edge_id,
  catalogue,
  model: () => {
    const { building_id } = building
    const { building: known, equipment, points } = fieldModel(site, catalogue.current(), context.model.points(building_id))
    return { name: known.name, version: context.version, building: known, equipment, points }
  },
  clock,
  log,
}).catch(refuse)

const statesOf = factOfPoint(catalogue, ({ states }) => states)
const sinks = [historianSink(historian, building.building_id, statesOf), ...uplink.sinks]
const syncing = modelSync({ model: context.model, site, catalogue })
const polling = pollService({ catalogue: catalogue.current(), protocols, sinks, clock, log })
catalogue.onChange(polling.reload)
const { pollStatus } = polling
const identity = { name: building.name, edge_id, site_id }
const sources = { identity, catalogue: catalogue.current, pollStatus, forwardState: uplink.forwardState }
const http = await serveCentral(settings, {
  central,
  shell: { house: 'appliance', name: building.name, first: 'Home' },
  routes: shell => [...homeRoutes(context, shell, sources), pollStatusRoute(pollStatus)],
  log,
})
const watching = catalogueWatch(catalogue, log)
await runUntilSignal([...central.services, syncing, ...uplink.services, polling, watching, http], log)
