/** The routes that only the appliance has: its pages, field devices and priority history. */
import type { CentralContext } from '#shared/central/context.ts'
import type { IngestService } from '#shared/central/ingest-service.ts'
import type { PageLayoutOptions, PageLayout } from '#shared/central/pages/layout.ts'
import { connectorsRoutes } from '#shared/central/api/connectors.ts'
import { localIngestRoutes } from '#shared/central/api/local-ingest.ts'
import { pollStatusRoute } from '#shared/central/api/health.ts'
import { BACNET_PATH } from '#shared/central/ui/links.ts'
import type { LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import { mergePollStatus } from '#shared/core/poll/merged.ts'
import type { Route } from '#shared/node/http/route.ts'
import type { BoxEnrolment } from '../kit/enrolment.ts'
import type { BacnetProtocol } from '../drivers/bacnet/protocol.ts'
import type { ModbusProtocol } from '../drivers/modbus/protocol.ts'
import type { PriorityServices } from '../priority/priority-api.ts'
import { deviceRoutes } from '../services/device-routes.ts'
import type { DiscoveryService } from '../drivers/bacnet/discovery/discovery-service.ts'
import { discoveryRoutes } from '../drivers/bacnet/discovery/discovery-routes.ts'
import { SYSTEM_PAGE } from '#shared/central/pages/system/system.route.ts'
import { systemRoutes } from '../system/system.routes.ts'
import type { BoxNetwork } from '../system/network.ts'
import { networkRoutes } from '../system/network.routes.ts'
import type { Updates } from '../system/updates.ts'
import type { FieldCatalogue } from '../services/field-catalogue.ts'
import type { BoardHistory } from '../services/board-history.ts'
import type { EdgeServices } from '../services/edge.ts'
import { storingOf } from '../services/health-checks.ts'
import type { SettingsFile } from '../store/settings-file.ts'
import type { SiteSettings } from '../store/site.ts'
import { devicePages } from './devices.route.ts'
import { discoverRoutes } from '../drivers/bacnet/pages/discover.route.ts'
import { firstFacts, firstStepsPage } from './first-steps.route.ts'
import { FIRST_STEPS_PATH } from './first-steps.view.ts'
import { firstStepsLeft } from '../core/first-steps.ts'
import { siteRoutes } from './site.route.ts'
import { HUB_PATH, hubRoutes } from './hub.route.ts'
import { homeRoutes } from './home.route.ts'
import type { BacnetSettings } from '../drivers/bacnet/pages/bacnet-settings.ts'
import { BACNET_NETWORK_PATH, bacnetSettingsRoutes } from '../drivers/bacnet/pages/settings.route.ts'
import { propertyRoutes } from '../drivers/bacnet/pages/properties.route.ts'
import { modbusRoutes } from '../drivers/modbus/pages/registers.route.ts'
import { LEVELS_PATH, levelsRoutes } from './levels.route.ts'
import { overridesPages } from './overrides.route.ts'
import { CommandStates } from './command-states.ts'
import { overridesSummary } from './overrides-tile.ts'
import { words } from '#shared/node/http/language.ts'

type ApplianceParts = {
  context: CentralContext
  site: SiteSettings
  siteFile: SettingsFile<SiteSettings>
  levels: () => LevelMeaning[]
  catalogue: FieldCatalogue
  bacnet: BacnetProtocol
  bacnetSettings: BacnetSettings
  modbus: ModbusProtocol
  edge: Pick<EdgeServices, 'polling' | 'storage' | 'uplink'>
  ingest: IngestService
  priority: PriorityServices
  discovery: DiscoveryService
  updates: Updates
  network: BoxNetwork
  history: BoardHistory
  enrolment: BoxEnrolment
  localIngestToken: string | undefined
}

/** Pages in the navigation that only an appliance has. */
export const OWN_PAGES: NonNullable<PageLayoutOptions['more']> = words(
  [
    { href: '/overrides', text: 'Overrides' },
    { href: FIRST_STEPS_PATH, text: 'First steps', about: 'From a new box to one that reads a building, step by step' },
    { href: '/devices', text: 'Devices', about: 'Field devices, how they answer, and their points' },
    { href: '/discover', text: 'Discover', about: 'Find BACnet devices on the network', for: 'operator' },
    { href: HUB_PATH, text: 'Hub', about: 'Connects this box to a hub', for: 'admin' },
    SYSTEM_PAGE,
    { href: BACNET_PATH, text: 'BACnet', about: 'Read the properties of an object', for: 'operator' },
    { href: BACNET_NETWORK_PATH, text: 'BACnet network', about: 'Interface, port and broadcast manager (BBMD)', for: 'admin' },
    {
      href: LEVELS_PATH,
      text: 'Priority levels',
      about: 'What P1 to P16 are called at this site, and which of them are overrides',
      for: 'admin',
    },
    { href: '/modbus', text: 'Modbus', about: 'Read registers and find their format', for: 'operator' },
  ],
  'about',
  'text',
)
/** Links of the page of devices to pages that find devices. */
const FIND_LINKS = words(
  [
    { href: '/discover', text: 'Discover BACnet devices' },
    { href: BACNET_PATH, text: 'Read BACnet properties' },
    { href: '/modbus', text: 'Read Modbus registers' },
  ],
  'text',
)

export function applianceRoutes(parts: ApplianceParts, layout: PageLayout): Route[] {
  const { context, site, levels, catalogue, bacnet, modbus, edge, ingest, priority, discovery, updates } = parts
  const { building, edge_id, site_id } = site
  const { polling } = edge
  const pollStatus = () => polling.pollStatus()
  const commandStates = new CommandStates(priority.journal)
  const overrides = overridesSummary({ ...priority, commandStates, levels })
  const own = {
    ...{ context, enrolment: parts.enrolment, hubState: edge.uplink.hubState },
    site: { file: parts.siteFile, running: site, model: context.model, catalogue: catalogue.current },
  }
  const sources = {
    identity: { name: building.name, edge_id, site_id },
    catalogue: catalogue.current,
    pollStatus,
    unstoredSince: () => storingOf(edge).trouble?.since ?? null,
    hubState: edge.uplink.hubState,
    overrides,
    history: parts.history,
    stepsLeft: () => firstStepsLeft(firstFacts(own)),
  }
  const devices = {
    catalogue,
    pollStatus: () => mergePollStatus(pollStatus(), ingest.ingest.registry.pollReports()),
    pointStatus: (device_id: string) => polling.pointStatus(device_id),
    traffic: () => polling.traffic(),
    building_id: building.building_id,
    project: { name: building.name, version: context.version },
    now: context.clock.now,
  }
  return [
    ...homeRoutes(context, layout, sources),
    pollStatusRoute(ingest, pollStatus),
    ...connectorsRoutes(priority.own),
    ...priority.routes,
    ...overridesPages({ ...priority, catalogue: catalogue.current, site, levels, layout, commandStates }),
    ...deviceRoutes(devices),
    ...devicePages({ context, layout, deps: devices, links: FIND_LINKS }),
    firstStepsPage({ ...own, pollStatus, restarts: updates.isAvailable, setsNetwork: parts.network.isAvailable }, layout),
    ...siteRoutes(own.site, layout),
    ...levelsRoutes({ file: parts.siteFile, building_id: building.building_id }, layout),
    ...hubRoutes(parts.enrolment, layout),
    ...systemRoutes({ updates, hubState: edge.uplink.hubState, context, layout }),
    ...networkRoutes(parts.network, layout),
    ...discoveryRoutes(discovery),
    ...discoverRoutes(discovery, layout),
    ...propertyRoutes({ catalogue: catalogue.current, bacnet }, layout),
    ...bacnetSettingsRoutes(parts.bacnetSettings, layout),
    ...modbusRoutes({ catalogue: catalogue.current, modbus }, layout),
    ...localIngestRoutes(context, ingest, parts.localIngestToken),
  ]
}
